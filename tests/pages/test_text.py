import pytest

from pages.shared.text import bullets, literal


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain words 12", "plain words 12"),
        ("*a* _b_ `c`", r"\*a\* \_b\_ \`c\`"),
        ("![p](http://x/y.png)", r"\!\[p\]\(http\:\/\/x\/y\.png\)"),
        ("<script>", r"\<script\>"),
        ("$x^2$ :red[a]", r"\$x\^2\$ \:red\[a\]"),
        ("line\n# heading\n\n- item", r"line \# heading \- item"),
        ("back\\slash", "back\\\\slash"),
        ("größer µs", "größer µs"),
    ],
)
def test_markdown_is_shown_letter_by_letter(text, shown):
    assert literal(text) == shown


def test_one_sentence_is_no_list_and_many_are_cut():
    assert bullets(["a"]) == "a"
    assert bullets(["a", "b"]) == "- a\n- b"
    many = bullets([str(i) for i in range(150)]).splitlines()
    assert len(many) == 101
    assert many[-1] == "- … and 50 more"
