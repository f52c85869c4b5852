import pytest

from pages.shared.text import bullets, file_stem, literal, one_line, shown_name


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain words 12", "plain words 12"),
        ("*a* _b_ `c`", r"\*a\* \_b\_ \`c\`"),
        ("![p](x/y.png)", r"\!\[p\]\(x\/y\.png\)"),
        ("http://x.y www.x.y a@x.y", "http\\:\u2060\\/\\/x\\.y www\u2060\\.x\\.y a\\@\u2060x\\.y"),
        (":streamlit: a -> b", "\\:\u2060streamlit\\: a \\-\u2060\\> b"),
        ("--pin a--b", r"\-\-pin a\-\-b"),
        ("a\u202egpj.exe\x00", "a\ufffdgpj\\.exe\ufffd"),
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


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("profile.yaml", "profile.yaml"),
        ("../../etc/passwd", "passwd"),
        ("C:\\windows\\con.json", "con.json"),
        ("a\u202egpj.exe\n<b>", "agpj.exe <b>"),
        ("", "the file"),
        ("x/", "the file"),
        ("x" * 1_000_000 + ".json", "x" * 50 + "…" + "x" * 45 + ".json"),
    ],
)
def test_names_of_files_are_short_and_on_one_line(name, shown):
    assert shown_name(name) == shown


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("Llama 3 · 8B", "Llama_3_8B"),
        ("größe", "größe"),
        ("../../etc/passwd", "_.._etc_passwd"),
        ("-rf", "rf"),
        (".bashrc", "bashrc"),
        ("con", "con_"),
        ("nul.tar", "nul_.tar"),
        ("console", "console"),
        ("...", "profile"),
        ("a" * 300, "a" * 40 + "_" + "a" * 40),
    ],
)
def test_names_of_downloads_suit_every_system(name, stem):
    assert file_stem(name) == stem


def test_one_line_has_nothing_that_cannot_be_printed():
    assert one_line(" a\x00\u202e b\n c\u2028") == "a b c"
