"""All schedules, by name: what the page, the command line and the tests read. A new one is a file and a row here."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from sapp_core.domain.pipeline import Pipeline, Placement
from sapp_core.domain.schedule import Schedule, Slot
from sapp_core.errors import PipelineError
from sapp_core.schedules.dualpipe import dualpipe, dualpipe_problems, dualpipe_v, dualpipe_v_problems
from sapp_core.schedules.gpipe import gpipe
from sapp_core.schedules.interleaved_zb import interleaved_zb
from sapp_core.schedules.one_f_one_b import one_f_one_b
from sapp_core.schedules.seqpipe import seqpipe, seqpipe_vpp, seqpipe_vpp_problems
from sapp_core.schedules.validate import validate
from sapp_core.schedules.vpp import group_problems, vpp, vpp_less_memory, vpp_problems
from sapp_core.schedules.zero_bubble import v_half, v_min, zb_1p, zb_2p, zbv


def _no_problems(_: Pipeline) -> list[str]:
    return []


@dataclass(frozen=True, slots=True)
class ScheduleFamily:
    """One kind of schedule.

    Attributes:
        name: what files, command line and URL call it.
        title: what people call it.
        summary: three sentences: when to use it, its bubble, its memory.
        source: where order and figures come from.
        order: the generator, pipeline → `[stage][slot]`.
        problems: sentences on settings this family cannot run; empty when it can.
        placement: how it lays virtual stages onto cells.
        fixed_chunks: chunks each stage holds; None = any number.
        uses_groups: whether group size and remainder mean something.
        uses_splits: whether micro-batches may be cut along the sequence.
        splits_backward: whether some backwards run as input and weight gradient.
        overlaps: whether some forwards and backwards start together.
    """

    name: str
    title: str
    summary: str
    source: str
    order: Callable[[Pipeline], tuple[tuple[Slot, ...], ...]]
    problems: Callable[[Pipeline], list[str]] = _no_problems
    placement: Placement = Placement.LOOP
    fixed_chunks: int | None = 1
    uses_groups: bool = False
    uses_splits: bool = False
    splits_backward: bool = False
    overlaps: bool = False


SCHEDULES: tuple[ScheduleFamily, ...] = (
    ScheduleFamily(
        name="gpipe",
        title="GPipe",
        summary=(
            "The simplest order, for few micro-batches or as a yardstick. Its bubble is (S−1)/M of the work. Every "
            "micro-batch of the step stays in memory until all forwards are done."
        ),
        source="Huang et al., arXiv 1811.06965",
        order=gpipe,
    ),
    ScheduleFamily(
        name="1f1b",
        title="1F1B",
        summary=(
            "The safe choice when one run of layers a stage is enough. Its bubble is that of GPipe, (S−1)/M of the "
            "work. Stage s keeps at most min(S−s, M) micro-batches in memory, so the first stage is the fullest."
        ),
        source="Narayanan et al., arXiv 2006.09503",
        order=one_f_one_b,
    ),
    ScheduleFamily(
        name="vpp",
        title="VPP (interleaved 1F1B)",
        summary=(
            "For shorter steps where transfers are cheap: V chunks a stage divide the bubble of 1F1B by V. It sends V "
            "times as much between stages. Stage s keeps up to V·S + S − 2s − 1 chunks in memory, each 1/V of a "
            "stage."
        ),
        source="Narayanan et al., arXiv 2104.04473",
        order=vpp,
        problems=vpp_problems,
        fixed_chunks=None,
        uses_groups=True,
    ),
    ScheduleFamily(
        name="vpp-less-memory",
        title="VPP, less memory",
        summary=(
            "Interleaved 1F1B for when VPP does not fit: half the warm-up steps between neighbouring stages. The "
            "bubble lies between those of VPP and 1F1B. Stage s keeps at most V·S − s chunks in memory, each 1/V of a "
            "stage."
        ),
        source="SAPP pipeline balancer (HyperParallel, MindFormers)",
        order=vpp_less_memory,
        problems=group_problems,
        fixed_chunks=None,
        uses_groups=True,
    ),
    ScheduleFamily(
        name="dualpipe-v",
        title="DualPipe-V",
        summary=(
            "For models whose communication hides behind computation: the pipeline is folded into a V, and forwards "
            "of one arm overlap backwards of the other. Its bubble is (S−1)·(F&B + B − 3W), all per chunk, F&B being "
            "an overlapped pair. Every stage keeps 2S + 1 half-stage chunks in memory, and stage 0 holds both head "
            "and tail."
        ),
        source="DeepSeek-AI, DualPipe repository; Sea AI Lab, “cut-in-half”",
        order=dualpipe_v,
        problems=dualpipe_v_problems,
        placement=Placement.V,
        fixed_chunks=2,
        splits_backward=True,
        overlaps=True,
    ),
    ScheduleFamily(
        name="dualpipe",
        title="DualPipe",
        summary=(
            "Two copies of the model run through the stages in opposite directions, and their work overlaps. Its "
            "bubble is (S/2−1)·(F&B + B − 3W), F&B being an overlapped pair. It holds the parameters twice and S + 1 "
            "micro-batches on every stage."
        ),
        source="DeepSeek-V3 Technical Report, arXiv 2412.19437",
        order=dualpipe,
        problems=dualpipe_problems,
        placement=Placement.BIDIRECTIONAL,
        fixed_chunks=2,
        splits_backward=True,
        overlaps=True,
    ),
    ScheduleFamily(
        name="seqpipe",
        title="SeqPipe (Seq1F1B)",
        summary=(
            "For long sequences: each micro-batch is cut into K splits that run through 1F1B as units of their own. "
            "The bubble shrinks towards (S−1)/(M·K) of the work. Stage s keeps min(S−s−1+K, M·K) splits, each about "
            "1/K of a micro-batch, and the keys and values of the sequence; full recomputation is not available."
        ),
        source="Sun et al., arXiv 2406.03488",
        order=seqpipe,
        uses_splits=True,
    ),
    ScheduleFamily(
        name="seqpipe-vpp",
        title="SeqPipe with VPP",
        summary=(
            "Sequence splits and interleaved chunks together, for long sequences on many stages. The bubble shrinks "
            "towards (S−1)/(V·M·K) of the work. Splits of up to about V·S + S + K chunks stay in memory on the first "
            "stage; with as many micro-batches as stages all of them do."
        ),
        source="Sun et al., arXiv 2406.03488",
        order=seqpipe_vpp,
        problems=seqpipe_vpp_problems,
        fixed_chunks=None,
        uses_splits=True,
    ),
    ScheduleFamily(
        name="zb-1p",
        title="ZB-1p (zero bubble)",
        summary=(
            "For a smaller bubble in the memory of 1F1B: backwards are split, and weight gradients run where a stage "
            "would wait. With F, I and W of equal length the bubble falls to (S−1)/(3M) of the work. Every stage, not "
            "only the first, needs room for S micro-batches until their weight gradients are done."
        ),
        source="Qi et al., arXiv 2401.10241",
        order=zb_1p,
        splits_backward=True,
    ),
    ScheduleFamily(
        name="zb-2p",
        title="ZB-2p (zero bubble)",
        summary=(
            "As ZB-1p with twice the room, so that slow transfers and uneven ops hardly delay it. Only filling and "
            "draining the pipeline is left as bubble, which overlapping steps would hide in turn. Every stage needs "
            "room for 2S micro-batches until their weight gradients are done."
        ),
        source="Qi et al., arXiv 2401.10241",
        order=zb_2p,
        splits_backward=True,
    ),
    ScheduleFamily(
        name="zbv",
        title="ZB-V (zero bubble)",
        summary=(
            "Zero bubble on a pipeline folded into a V, which needs no more memory than 1F1B. With F, I and W of equal "
            "length its bubble is half of ZB-1p's, (S−1)/(6M) of the work. Every stage keeps 2S half-stage chunks, "
            "that is S micro-batches, and stage 0 holds both head and tail."
        ),
        source="Qi et al., arXiv 2401.10241; PyTorch ScheduleZBVZeroBubble",
        order=zbv,
        placement=Placement.V,
        fixed_chunks=2,
        splits_backward=True,
    ),
    ScheduleFamily(
        name="v-half",
        title="V-Half",
        summary=(
            "A folded pipeline for half the activation memory of 1F1B at about its speed. The bubble is small when F, "
            "I and W take equally long, and grows when they do not. Every stage keeps about S half-stage chunks, that "
            "is S/2 micro-batches."
        ),
        source="Qi et al., arXiv 2405.15362",
        order=v_half,
        placement=Placement.V,
        fixed_chunks=2,
        splits_backward=True,
    ),
    ScheduleFamily(
        name="v-min",
        title="V-Min",
        summary=(
            "A folded pipeline for when memory is scarcest: about a third of the activation memory of 1F1B. Its bubble "
            "is that of 1F1B or somewhat less, and it suffers most from transfers and uneven ops. Every stage keeps "
            "about 2S/3 half-stage chunks, that is S/3 micro-batches."
        ),
        source="Qi et al., arXiv 2405.15362",
        order=v_min,
        placement=Placement.V,
        fixed_chunks=2,
        splits_backward=True,
    ),
    ScheduleFamily(
        name="interleaved-zb",
        title="Interleaved zero bubble",
        summary=(
            "Interleaved 1F1B whose split backwards let weight gradients fill waiting time, as PyTorch offers it. Its "
            "bubble is smaller than that of VPP with the same chunks. Stage s keeps up to V·S − s chunks and s more "
            "that wait for their weight gradients, each 1/V of a stage."
        ),
        source="PyTorch ScheduleInterleavedZeroBubble, after Qi et al., arXiv 2401.10241",
        order=interleaved_zb,
        problems=group_problems,
        fixed_chunks=None,
        uses_groups=True,
        splits_backward=True,
    ),
)


MOST_OPS = 2_000_000
"""Largest schedule made: some ten seconds of work and 2 GB of memory."""


def family(name: str) -> ScheduleFamily:
    """The family of a name.

    Raises:
        PipelineError: there is none; the sentence lists the known names.
    """
    for known in SCHEDULES:
        if known.name == name:
            return known
    raise PipelineError(f"schedule: {name!r} is not known; choose from {', '.join(f.name for f in SCHEDULES)}.")


def placed(name: str, pipeline: Pipeline) -> Pipeline:
    """The pipeline with the placement of a family; unchanged where its chunks forbid that: `make_schedule` says why.

    Raises:
        PipelineError: unknown name.
    """
    chosen = family(name)
    if chosen.fixed_chunks not in {None, pipeline.num_chunks}:
        return pipeline
    return replace(pipeline, placement=chosen.placement)


def num_ops(name: str, pipeline: Pipeline) -> int:
    """Ops of one training step, of all stages together.

    Raises:
        PipelineError: unknown name.
    """
    cells = pipeline.num_stages * pipeline.num_chunks * pipeline.num_sequence_splits
    return (3 if family(name).splits_backward else 2) * cells * pipeline.micro_batches_per_chunk


def make_schedule(name: str, pipeline: Pipeline) -> Schedule:
    """The validated schedule of a family for a pipeline.

    Raises:
        PipelineError: unknown name, or settings it cannot run; sentences name the rule and the nearest legal values.
    """
    if problems := schedule_problems(name, pipeline):
        raise PipelineError(*problems)
    schedule = Schedule(name, pipeline, family(name).order(pipeline))
    validate(schedule)
    return schedule


def schedule_problems(name: str, pipeline: Pipeline) -> tuple[str, ...]:
    """Why a family cannot run a pipeline, with the nearest legal values; empty when `make_schedule` makes it.

    Raises:
        PipelineError: unknown name.
    """
    chosen = family(name)
    problems = []
    if chosen.fixed_chunks not in {None, pipeline.num_chunks}:
        free = ", ".join(f.name for f in SCHEDULES if f.fixed_chunks is None)
        problems.append(
            f"num_chunks: {name} holds {chosen.fixed_chunks} a stage, found {pipeline.num_chunks}; set it to "
            f"{chosen.fixed_chunks} or choose {free}."
        )
    elif pipeline.placement is not chosen.placement:
        problems.append(f"placement: {name} needs {chosen.placement}, found {pipeline.placement}.")
    if pipeline.num_sequence_splits > 1 and not chosen.uses_splits:
        splitting = ", ".join(f.name for f in SCHEDULES if f.uses_splits)
        problems.append(
            f"num_sequence_splits: {name} does not split the sequence, found {pipeline.num_sequence_splits}; "
            f"set it to 1 or choose {splitting}."
        )
    if pipeline.group_size is not None and not chosen.uses_groups:
        grouped = ", ".join(f.name for f in SCHEDULES if f.uses_groups)
        problems.append(f"group_size: {name} has no groups of micro-batches; leave it out or choose {grouped}.")
    ops = 2 * pipeline.num_stages * pipeline.num_chunks * pipeline.num_micro_batches * pipeline.num_sequence_splits
    if ops > MOST_OPS:
        most = max(1, pipeline.num_micro_batches * MOST_OPS // ops)
        problems.append(
            f"num_micro_batches: these sizes make {ops:,} ops, more than {MOST_OPS:,}; take {most} or fewer stages."
        )
    return tuple(problems or chosen.problems(pipeline))
