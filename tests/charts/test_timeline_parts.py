import json

import numpy as np
import pytest

from sapp_core.charts.blocks import Blocks, blocks_of
from sapp_core.charts.theme import DARK, LIGHT
from sapp_core.charts.timeline_parts import packed_blocks, plotly_script, timeline_look
from tests.charts import scenes

TYPES = {"Uint8": "<u1", "Uint16": "<u2", "Uint32": "<u4", "Float64": "<f8"}


def unpacked(packed):
    length = int.from_bytes(packed[:4], "little")
    header = json.loads(packed[8 : 8 + length])
    offset, columns = -(-(8 + length) // 8) * 8, {}
    for name, kind in header["columns"]:
        columns[name] = np.frombuffer(packed, TYPES[kind], header["count"], offset)
        offset += -(-columns[name].nbytes // 8) * 8
    assert offset == len(packed)
    return header["name"], Blocks(**columns)


@pytest.mark.parametrize("scene", [scenes.evaluation, scenes.overlapped])
def test_packed_blocks_are_all_there(scene):
    blocks = blocks_of(scene())
    name, found = unpacked(packed_blocks(blocks, "key of a plan"))
    assert name == "key of a plan"
    for column in Blocks.__slots__:
        assert (getattr(found, column) == getattr(blocks, column)).all(), column


def test_a_block_takes_less_than_thirty_bytes():
    blocks = blocks_of(scenes.evaluation("vpp", stages=16, micro_batches=64, chunks=3, layers=192))
    assert len(packed_blocks(blocks, "any")) < 30 * len(blocks)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_a_look_is_in_the_colours_of_its_theme_and_reaches_until(theme):
    evaluation = scenes.evaluation()
    look = json.loads(timeline_look(evaluation, blocks_of(evaluation), theme, until=1e6))
    assert look["layout"]["paper_bgcolor"] == theme.background
    assert look["layout"]["xaxis"]["range"] == [0.0, look["end"]] == [0.0, 1e6]
    assert [activity["bar"]["name"] for activity in look["activities"]] == ["Forward", "Backward"]


def test_the_script_is_plotly():
    script = plotly_script()
    assert f"plotly.js v{script.version}" in script.text[:100]
