"""What the browser draws by itself is what `gantt_figure` draws, number by number."""

import base64
import json

import numpy as np
import pytest

from sapp_core.charts.block_traces import DRAWING_PX
from sapp_core.charts.blocks import blocks_of
from sapp_core.charts.gantt import MAX_BLOCKS, gantt_figure
from sapp_core.charts.theme import DARK, LIGHT
from sapp_core.charts.timeline_parts import packed_blocks, timeline_look
from sapp_core.domain.pipeline import Pipeline
from tests.browser.server import PROJECT
from tests.charts import scenes

TRACES = (PROJECT / "pages" / "shared" / "chart_component" / "traces.js").read_text(encoding="utf-8")

DRAW = """
async ([source, packed, look, range, width]) => {
  const module = await import(URL.createObjectURL(new Blob([source], {type: "text/javascript"})));
  const bytes = Uint8Array.from(atob(packed), character => character.charCodeAt(0));
  return JSON.stringify(module.tracesIn(module.unpack(bytes), JSON.parse(look), range, width));
}
"""


@pytest.fixture(scope="module")
def blank(browser):
    page = browser.new_page()
    yield page
    page.close()


def drawn(page, evaluation, window, theme=LIGHT):
    blocks = blocks_of(evaluation)
    packed = base64.b64encode(packed_blocks(blocks, "any")).decode()
    look = timeline_look(evaluation, blocks, theme)
    return json.loads(page.evaluate(DRAW, [TRACES, packed, look, window, DRAWING_PX]))


def values(trace, path):
    """An attribute as an array; numbers that plotly packs are unpacked, absent ones are NaN."""
    found = trace
    for name in path.split("."):
        found = found[name]
    if isinstance(found, dict):
        shape = [int(size) for size in found.get("shape", "-1").split(",")]
        return np.frombuffer(base64.b64decode(found["bdata"]), found["dtype"]).reshape(shape)
    if any(isinstance(value, str) for value in np.ravel(np.array(found, dtype=object))):
        return np.array(found)
    return np.array(found, dtype=float)


def same(ours, theirs, path, tolerance):
    one, other = values(ours, path), values(theirs, path)
    assert one.shape == other.shape, path
    if one.dtype.kind == "U":
        assert (one == other).all(), path
    else:
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=tolerance, err_msg=path)


ARRAYS = {
    "bar": ("base", "x", "y", "width", "customdata", "hovertext"),
    "scatter": ("x", "y"),
    "heatmap": ("x0", "dx", "z"),
}
LABEL_ARRAYS = ("x", "y", "text", "textfont.size", "textfont.color")


def without(trace, paths):
    return {name: value for name, value in trace.items() if name not in {path.split(".")[0] for path in paths}}


@pytest.mark.parametrize(
    ("scene", "part", "theme"),
    [
        (lambda: scenes.evaluation(stages=8, micro_batches=32), (0.0, 1.0), LIGHT),
        (lambda: scenes.evaluation("zbv", stages=4, micro_batches=12, chunks=2), (0.11, 0.72), DARK),
        (lambda: scenes.evaluation("dualpipe-v", stages=4, micro_batches=10, chunks=2), (0.0, 1.0), LIGHT),
        (lambda: scenes.in_unit_times("seqpipe", Pipeline(4, 8, 1, 3)), (0.2, 0.6), LIGHT),
        (lambda: scenes.evaluation("vpp", stages=16, micro_batches=64, chunks=3, layers=192), (0.1, 0.45), LIGHT),
    ],
)
def test_blocks_and_labels_are_those_of_the_python_figure(blank, scene, part, theme):
    evaluation = scene()
    window = [share * evaluation.step_time for share in part]
    theirs = json.loads(gantt_figure(evaluation, theme, tuple(window)).to_json())["data"]
    ours = drawn(blank, evaluation, window, theme)
    assert [(trace["type"], trace.get("name")) for trace in ours] == [
        (trace["type"], trace.get("name")) for trace in theirs
    ]
    assert any(trace["type"] == "bar" for trace in ours)
    for one, other in zip(ours, theirs, strict=True):
        paths = LABEL_ARRAYS if one.get("mode") == "text" else ARRAYS[one["type"]]
        assert without(one, paths) == without(other, paths)
        for path in paths:
            same(one, other, path, 1e-5 * evaluation.step_time)


def test_bins_are_those_of_the_python_figure(blank):
    evaluation = scenes.evaluation("vpp", stages=16, micro_batches=64, chunks=3, layers=192)
    assert evaluation.schedule.num_ops > MAX_BLOCKS
    window = (0.0, evaluation.step_time)
    theirs = json.loads(gantt_figure(evaluation, LIGHT, window).to_json())["data"]
    ours = drawn(blank, evaluation, window)
    assert [trace.get("name") for trace in ours] == [trace.get("name") for trace in theirs]
    for one, other in zip(ours, theirs, strict=True):
        paths = ARRAYS[one["type"]]
        assert without(one, paths) == without(other, paths)
        if one["type"] != "heatmap":
            for path in paths:
                same(one, other, path, 1e-5 * evaluation.step_time)
            continue
        z, expected = values(one, "z"), values(other, "z")
        both = ~np.isnan(z) & ~np.isnan(expected)
        np.testing.assert_allclose(z[both], expected[both], rtol=1e-5)
        # Where two works fill the same part of a bin, rounding decides which one colours it.
        assert (np.isnan(z) != np.isnan(expected)).mean() < 0.001
        assert both.any()
