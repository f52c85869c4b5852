from dataclasses import replace

from sapp_core.charts.profile import profile_memory, profile_times
from sapp_core.charts.theme import LIGHT
from tests.profiles.documents import legal, load

PROFILE = load(legal()).profile


def test_times_are_a_bar_for_each_offered_mode():
    figure = profile_times(PROFILE, LIGHT)
    assert [trace.name for trace in figure.data] == ["Forward", "Backward, none", "Backward, select", "Backward, full"]
    assert list(figure.data[0].x) == [13, 100, 113]
    assert list(figure.data[3].x) == [None, 300, None], "head and tail are never recomputed"
    assert figure.layout.xaxis.title.text == "Time, us"
    assert list(figure.layout.yaxis.ticktext) == ["Embed", "Block", "Loss"]


def test_memory_is_parameters_and_what_each_mode_keeps():
    figure = profile_memory(PROFILE, LIGHT)
    names = ["Parameters", "Activations, none", "Activations, select", "Activations, full"]
    assert [trace.name for trace in figure.data] == names
    assert list(figure.data[0].x) == [900, 170, 500]
    assert list(figure.data[1].x) == [0, 99, 0]
    assert figure.layout.xaxis.title.text == "Memory, MiB"


def test_names_are_no_markup_and_very_many_kinds_are_cut():
    layer = PROFILE.body[0]
    many = replace(PROFILE, name="<b>", layers=tuple(replace(layer, name=f"<i>{i}") for i in range(60)))
    figure = profile_times(many, LIGHT)
    assert len(figure.data[0].y) == 40
    assert "the first 40 of 60 kinds" in figure.layout.title.text
    assert "<b>" not in figure.layout.title.text
    assert figure.layout.yaxis.ticktext[0] == "&lt;i&gt;0"
