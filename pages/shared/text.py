"""Text from files and errors as plain text: Streamlit reads most texts as Markdown."""

import re
from collections.abc import Sequence

_MARKDOWN = re.compile(r"([!-/:-@\[-`{-~])")
_MOST_SENTENCES = 100
_LONGEST_NAME = 100
_LONGEST_STEM = 80

_JOINER = "\u2060"
"""Takes no room and joins what is beside it."""
# What Streamlit looks for after Markdown was read, where backslashes help no more: addresses (links), its own logo, and
# words that stand for arrows and dashes.
_ALWAYS_READ = re.compile(
    r"(?P<address>(?<=https:)(?=//)|(?<=http:)(?=//)|(?<=www)(?=\.)|(?<=[\w.+-]@)(?=[\w-])|(?<=:)(?=streamlit:))"
    r"|(?<!\S)(?P<first>[<>~-])(?P<rest>->|[->=])(?!\S)",
    re.IGNORECASE,
)
_DEVICES = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(?=\.|$)", re.IGNORECASE)
"""Names that are no file names on Windows, whatever their ending."""


def literal(text: str) -> str:
    """Text that Markdown shows letter by letter: no markup, links, pictures, formulas, colours or emoji.

    What cannot be printed (control characters, those that turn the direction of writing) shows as U+FFFD.
    """
    line = "".join(c if c.isprintable() else "\ufffd" for c in " ".join(text.split()))
    return _MARKDOWN.sub(r"\\\1", _ALWAYS_READ.sub(_taken_apart, line))


def bullets(sentences: Sequence[str]) -> str:
    """Sentences as a Markdown list, literally; one alone is no list, and a long list is cut and says so."""
    if len(sentences) == 1:
        return literal(sentences[0])
    lines = [f"- {literal(sentence)}" for sentence in sentences[:_MOST_SENTENCES]]
    if len(sentences) > _MOST_SENTENCES:
        lines.append(f"- … and {len(sentences) - _MOST_SENTENCES} more")
    return "\n".join(lines)


def one_line(text: str) -> str:
    """What of a text can be printed, on one line."""
    return " ".join("".join(c for c in text if c.isprintable() or c.isspace()).split())


def shown_name(name: str) -> str:
    """The name of an uploaded file for sentences: without folders, on one line, its ending kept where it is long."""
    return _cut(one_line(re.split(r"[/\\]", name)[-1]), _LONGEST_NAME) or "the file"


def file_stem(name: str) -> str:
    """A name as the beginning of a file's name that every system takes: no folder, no device, not hidden."""
    stem = re.sub(r"[^\w.-]+", "_", _cut(name, _LONGEST_STEM)).lstrip(".-")
    return _DEVICES.sub(r"\1_", stem, count=1) if _DEVICES.match(stem) else stem or "profile"


def _cut(text: str, longest: int) -> str:
    """Without its middle where it is long."""
    half = longest // 2
    return text if len(text) <= longest else f"{text[:half]}…{text[-half:]}"


def _taken_apart(found: re.Match[str]) -> str:
    return f"{found['first']}{_JOINER}{found['rest']}" if found["first"] else _JOINER
