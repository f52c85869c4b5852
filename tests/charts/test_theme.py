import pytest

from sapp_core.charts.theme import DARK, LIGHT, activation_shade, contrast, framed, plain, shade
from sapp_core.domain.schedule import OpKind

READABLE = 4.5
"""WCAG 2.2, level AA, ordinary text."""


def test_contrast_of_known_pairs():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)


@pytest.mark.parametrize("num_chunks", [1, 2, 3, 4, 8, 16])
@pytest.mark.parametrize("kind", list(OpKind))
def test_labels_can_be_read_on_every_shade(kind, num_chunks):
    for chunk in range(num_chunks):
        colours = shade(kind, chunk, num_chunks)
        assert contrast(colours.label, colours.fill) >= READABLE, (chunk, colours)


@pytest.mark.parametrize("num_chunks", [1, 2, 3, 4])
def test_numbers_can_be_read_on_activations(num_chunks):
    for chunk in range(num_chunks):
        colours = activation_shade(chunk, num_chunks)
        assert contrast(colours.label, colours.fill) >= READABLE, (chunk, colours)


@pytest.mark.parametrize("num_chunks", [1, 2, 3, 4, 8, 16])
def test_every_forward_is_lighter_than_every_backward_so_a_grey_print_tells_them_apart(num_chunks):
    darkest_forward = min(contrast(shade(OpKind.F, c, num_chunks).fill, "#000000") for c in range(num_chunks))
    lightest_backward = max(contrast(shade(OpKind.B, c, num_chunks).fill, "#000000") for c in range(num_chunks))
    assert darkest_forward > 1.5 * lightest_backward


@pytest.mark.parametrize("num_chunks", [2, 3, 8])
def test_chunks_differ_and_get_darker(num_chunks):
    for shades in ([shade(kind, c, num_chunks).fill for c in range(num_chunks)] for kind in OpKind):
        lightness = [contrast(fill, "#000000") for fill in shades]
        assert lightness == sorted(lightness, reverse=True)
        assert len(set(shades)) == num_chunks
    assert len({activation_shade(c, num_chunks).fill for c in range(num_chunks)}) == num_chunks


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_texts_of_a_theme_can_be_read(theme):
    for text in (theme.text, theme.muted, theme.alarm, theme.line):
        assert contrast(text, theme.background) >= READABLE
    assert contrast(theme.text, theme.lane) >= READABLE


def test_a_subtitle_too_long_for_a_phone_takes_two_lines_and_their_room():
    def drawn(subtitle):
        return framed([], LIGHT, title="Title", subtitle=subtitle, height=300, layout={"margin": {"t": 66, "b": 88}})

    short = drawn("sim192 · 1f1b · 8 stages")
    long = drawn("sim192 · vpp · 16 stages × 3 chunks · 16 micro-batches · step 187,200 ms")
    assert "vpp · 16 stages × 3 chunks<br>16 micro-batches · step 187,200 ms<" in long.layout.title.text
    assert short.layout.title.text.count("<br>") == 1
    assert long.layout.height - short.layout.height == long.layout.margin.t - short.layout.margin.t > 12


def test_text_from_files_is_no_markup():
    assert plain("<b>x</b>&%{y}") == "&lt;b&gt;x&lt;/b&gt;&amp;%&#123;y}"
    assert plain("a" * 100, 10) == "aaaaaaaaa…"
    assert plain("short") == "short"
