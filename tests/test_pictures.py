"""Every chart by name: the settings line and the units are in the picture itself."""

import pytest

from sapp_core.pictures import PICTURES, Detail
from tests.charts import scenes
from tests.report.test_html import study

STUDY = study(scenes.profile(), limit=5000.0)


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)
def test_a_picture_has_title_settings_and_units(picture):
    layout = picture.draw(STUDY, Detail()).layout
    title, settings = layout.title.text.split("<br>", 1)
    assert title
    assert "model · vpp" in settings
    axes = f"{layout.xaxis.title.text} {layout.yaxis.title.text}"
    units = {
        "search": "Seconds",
        "plan": "Layers",
        "sensitivity": "Step time compared",
        "bubbles": "Time beyond the model's own work",
    }
    assert any(unit in axes for unit in (units.get(picture.name), "(ms)", "(MiB)", "(GiB)") if unit)


def test_large_steps_can_be_drawn_coarser():
    memory = next(picture for picture in PICTURES if picture.name == "memory-over-time")
    fine, coarse = (memory.draw(STUDY, Detail(most_steps=steps)).to_json() for steps in (600, 5))
    assert len(coarse) < len(fine)
