"""Text from files and errors as plain text: Streamlit reads most texts as Markdown."""

import re
from collections.abc import Sequence

_MARKDOWN = re.compile(r"([!-/:-@\[-`{-~])")
_MOST_SENTENCES = 100


def literal(text: str) -> str:
    """Text that Markdown shows letter by letter: no markup, links, pictures, formulas, colours or emoji."""
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))


def bullets(sentences: Sequence[str]) -> str:
    """Sentences as a Markdown list, literally; one alone is no list, and a long list is cut and says so."""
    if len(sentences) == 1:
        return literal(sentences[0])
    lines = [f"- {literal(sentence)}" for sentence in sentences[:_MOST_SENTENCES]]
    if len(sentences) > _MOST_SENTENCES:
        lines.append(f"- … and {len(sentences) - _MOST_SENTENCES} more")
    return "\n".join(lines)


def file_stem(name: str) -> str:
    """A name from a file as the beginning of a file's name."""
    return "".join(c if c.isalnum() or c in "._-" else "_" for c in name)
