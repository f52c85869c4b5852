"""Random but legal profiles, pipelines, plans and schedules for property tests."""

from collections.abc import Sequence

from hypothesis import assume
from hypothesis import strategies as st

from sapp_core.domain.pipeline import Pipeline, Remainder
from sapp_core.domain.plan import Plan, placed
from sapp_core.domain.profile import MODES, LayerKind, LayerProfile, ModelProfile, RecomputeMode, TrainingShape
from sapp_core.domain.schedule import Schedule
from sapp_core.domain.sequence_split import split_along_sequence
from sapp_core.schedules.registry import SCHEDULES, ScheduleFamily, make_schedule

TIMES = st.integers(1, 400).map(lambda n: n / 4)
"""Quarters: sums of them are exact in floating point."""
MEGABYTES = st.integers(0, 4000).map(float)


@st.composite
def profiles(draw, max_kinds: int = 2, max_layers: int = 12) -> ModelProfile:
    """Profiles with 1 to `max_kinds` body kinds, head and tail sometimes, any non-empty set of modes."""
    modes = draw(st.sets(st.sampled_from(MODES), min_size=1))
    layers = []
    for number in range(draw(st.integers(1, max_kinds))):
        forward = draw(TIMES)
        layers.append(
            LayerProfile(
                name=f"Body{number}",
                kind=LayerKind.BODY,
                num_layers=draw(st.integers(1, max_layers)),
                forward_time=forward,
                backward_time=tuple(2 * forward + draw(TIMES) * (r > 0) for r in range(len(MODES))),
                parameter_mb=draw(MEGABYTES),
                activation_mb=tuple(draw(MEGABYTES) if mode in modes else None for mode in MODES),
            )
        )
    for kind in (LayerKind.HEAD, LayerKind.TAIL):
        if draw(st.booleans()):
            forward = draw(TIMES)
            layers.append(
                LayerProfile(
                    name=kind.value.title(),
                    kind=kind,
                    num_layers=1,
                    forward_time=forward,
                    backward_time=(2 * forward,) * len(MODES),
                    parameter_mb=draw(MEGABYTES),
                    activation_mb=(draw(st.one_of(st.none(), MEGABYTES)),) + (None,) * (len(MODES) - 1),
                )
            )
    training = TrainingShape(1, 2, 64, 8, 16, 32, 100, 1)
    return ModelProfile("random", tuple(layers), constant_mb=draw(MEGABYTES), training=training)


@st.composite
def schedules(
    draw,
    max_stages: int = 6,
    max_chunks: int = 3,
    max_micro_batches: int = 14,
    families: Sequence[ScheduleFamily] = SCHEDULES,
) -> Schedule:
    """A legal schedule of any registered family, or of one of those asked for."""
    family = draw(st.sampled_from(families))
    stages = draw(st.integers(1, max_stages))
    # DualPipe needs 2·S micro-batches, SeqPipe with chunks a multiple of S: leave room for both.
    count = st.integers(1, max_micro_batches) | st.integers(1, 3).map(lambda rounds: rounds * stages)
    pipeline = st.builds(
        Pipeline,
        num_stages=st.just(stages),
        num_micro_batches=count,
        num_chunks=st.integers(1, max_chunks) if family.fixed_chunks is None else st.just(family.fixed_chunks),
        num_sequence_splits=st.integers(1, 4) if family.uses_splits else st.just(1),
        placement=st.just(family.placement),
        remainder=st.sampled_from(Remainder),
        overlap_efficiency=st.sampled_from([0.0, 0.5, 1.0]),
        input_gradient_share=st.sampled_from([0.25, 0.5]),
        weight_gradient_memory_share=st.sampled_from([0.0, 0.5, 1.0]),
        p2p_time=st.integers(0, 40).map(lambda n: n / 4),
    ).filter(lambda pipeline: not family.problems(pipeline))
    return make_schedule(family.name, draw(pipeline))


@st.composite
def plans(draw, profile: ModelProfile, pipeline: Pipeline) -> Plan:
    """Any legal plan: kinds in model order along the virtual stages, random cuts, random modes."""
    total = profile.num_body_layers
    count = pipeline.num_virtual_stages
    cuts = [0, *sorted(draw(st.lists(st.integers(0, total), min_size=count - 1, max_size=count - 1))), total]
    kinds = [kind for kind, layer in enumerate(profile.body) for _ in range(layer.num_layers)]
    entries = [[] for _ in profile.body]
    for v in range(count):
        for kind in kinds[cuts[v] : cuts[v + 1]]:
            mode = draw(st.sampled_from(profile.modes))
            entries[kind] += [(mode, chunk, stage, 1) for chunk, stage in pipeline.cells(v)]
    return Plan(tuple(placed(layer.name, pipeline, cells) for layer, cells in zip(profile.body, entries, strict=True)))


@st.composite
def studies(draw) -> tuple[ModelProfile, Schedule, Plan]:
    """A profile, a schedule, and a plan that fits both; where micro-batches are split, without full recomputation."""
    profile, schedule = draw(profiles()), draw(schedules())
    splits = schedule.pipeline.num_sequence_splits
    if splits > 1:
        assume(profile.modes != (RecomputeMode.FULL,))
    return profile, schedule, draw(plans(split_along_sequence(profile, splits), schedule.pipeline))
