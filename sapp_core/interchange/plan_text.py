"""A plan out of any text that says one; what kind of text it is, is seen from its content."""

import re
from dataclasses import dataclass

from sapp_core.documents.parse import MAX_BYTES
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import Plan
from sapp_core.domain.profile import ModelProfile
from sapp_core.errors import FormatError
from sapp_core.interchange.megatron import LONGEST, plan_from_layout
from sapp_core.interchange.megatron_flags import plan_from_flags, says_recomputation
from sapp_core.interchange.plan_file import read_plan

_FLAGS = re.compile(r"(^|\s)--[a-z]")
_DOCUMENT = re.compile(r"[:{\[]")
_LAYOUT = re.compile(r"E\S*|[EtmL|()*,\d\s]*|[^\n|]*\|[^\n]*")
_QUOTED = re.compile(r"""(["'])(.*)\1""", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """A plan that was read.

    Attributes:
        plan: fits the profile and pipeline it was read for.
        kind: of the text, for the reader: `Megatron layout`.
        remarks: sentences on what the text leaves open.
    """

    plan: Plan
    kind: str
    remarks: tuple[str, ...] = ()


def plan_from_text(data: bytes, source: str, profile: ModelProfile, pipeline: Pipeline) -> ReadPlan:
    """The plan of a Megatron layout or launch command, of MindFormers settings, of a plan or result as JSON.

    Args:
        data: the text, UTF-8.
        source: name of the file, for the sentences.
        profile: what the plan places.
        pipeline: where.

    Raises:
        FormatError: the text is none of these, or for other sizes; the sentence names the character or list position.
        PlanError: the plan does not fit profile and pipeline.
    """
    text = _text(data)
    if _FLAGS.search(_without_comments(text)):
        _check_length(text, source)
        remarks = () if says_recomputation(_without_comments(text)) else _silent("These flags do", profile)
        return ReadPlan(plan_from_flags(text, profile, pipeline), "Megatron flags", remarks)
    if text and not _DOCUMENT.search(text):
        _check_length(text, source)
        quoted = _QUOTED.fullmatch(text)
        layout = quoted[2].strip() if quoted else text
        if not _LAYOUT.fullmatch(layout):
            raise FormatError(
                f"{source}: is no plan; it must be a plan or result as JSON, MindFormers settings (YAML), or a layout "
                "or launch command of Megatron."
            )
        remarks = _silent("A layout does", profile)
        return ReadPlan(plan_from_layout(layout, profile, pipeline), "Megatron layout", remarks)
    kind = "plan file" if text.startswith("{") else "MindFormers settings"
    return ReadPlan(read_plan(data, source, profile, pipeline), kind)


def _text(data: bytes) -> str:
    """The text; empty where there is none, which the reader of documents explains."""
    try:
        return data.decode("utf-8-sig").strip() if len(data) <= MAX_BYTES else ""
    except UnicodeDecodeError:
        return ""


def _check_length(text: str, source: str) -> None:
    """Layouts and commands are read letter by letter; what is longer than any of them is not begun."""
    if len(text) > LONGEST:
        raise FormatError(
            f"{source}: a layout or launch command may have up to {LONGEST:,} characters, found {len(text):,}."
        )


def _silent(subject: str, profile: ModelProfile) -> tuple[str, ...]:
    if len(profile.modes) < 2:
        return ()
    return (f"{subject} not say what is recomputed; every layer has the mode {profile.modes[0]}.",)


def _without_comments(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
