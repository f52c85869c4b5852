"""What Streamlit makes of a page's source."""

import ast
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[2] / "pages"


@pytest.mark.parametrize("path", sorted(PAGES.glob("*.py")), ids=lambda path: path.stem)
def test_a_script_has_no_words_that_streamlit_would_show(path):
    """Streamlit writes bare values of a script onto the page, also strings that are meant to describe a constant."""
    module = ast.parse(path.read_text(encoding="utf-8"))
    bare = [
        node.lineno for node in module.body[1:] if isinstance(node, ast.Expr) and not isinstance(node.value, ast.Call)
    ]
    assert bare == []
