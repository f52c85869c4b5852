"""DualPipe and DualPipe-V: forwards of one half of the model overlap backwards of the other half.

DeepSeek-AI, "DeepSeek-V3 Technical Report" (arXiv 2412.19437, section 3.2.1) and the DualPipe repository; the V form
is by Sea AI Lab ("DualPipe could be better without the dual"). Both run the same eight phases: DualPipe on two copies
of the model that meet in the middle stage, DualPipe-V on one copy folded in the last stage.
"""

from collections.abc import Iterator

from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.schedule import Op, OpKind, Slot


def dualpipe_v(pipeline: Pipeline) -> tuple[tuple[Slot, ...], ...]:
    """`[stage][slot]` of the V placement; micro-batches 0 … M−1."""
    stages = pipeline.num_stages
    return tuple(
        tuple(_eight_phases(stages, stage, pipeline.micro_batches_per_chunk, first_chunk=0)) for stage in range(stages)
    )


def dualpipe(pipeline: Pipeline) -> tuple[tuple[Slot, ...], ...]:
    """`[stage][slot]` of the bidirectional placement; micro-batches 0 … M/2−1 in each direction.

    Stage s and stage S−1−s do the same with the directions swapped; the middle stages are where a V would fold.
    """
    stages, half = pipeline.num_stages, pipeline.num_stages // 2
    return tuple(
        tuple(
            _eight_phases(
                half, min(stage, stages - 1 - stage), pipeline.micro_batches_per_chunk, first_chunk=int(stage >= half)
            )
        )
        for stage in range(stages)
    )


def dualpipe_v_problems(pipeline: Pipeline) -> list[str]:
    """Sentences on settings DualPipe-V cannot run; empty when it can."""
    least = 2 * pipeline.num_stages
    if pipeline.num_micro_batches >= least:
        return []
    found = f"found {pipeline.num_micro_batches}; take {least}"
    return [f"num_micro_batches: dualpipe-v needs at least 2·S = {least} to fill the V, {found}."]


def dualpipe_problems(pipeline: Pipeline) -> list[str]:
    """Sentences on settings DualPipe cannot run; empty when it can."""
    stages, count = pipeline.num_stages, pipeline.num_micro_batches
    problems = []
    if stages % 2:
        below = f"{stages - 1} or " if stages > 1 else ""
        problems.append(
            f"num_stages: dualpipe needs an even number of stages, found {stages}; take {below}{stages + 1}."
        )
    least = 2 * (stages + stages % 2)
    if count < least:
        problems.append(f"num_micro_batches: dualpipe needs at least 2·S = {least}, found {count}; take {least}.")
    elif count % 2:
        nearest = f"{count - 1} or {count + 1}" if count > least else f"{count + 1}"
        rule = "dualpipe shares them between two directions and needs an even number"
        problems.append(f"num_micro_batches: {rule}, found {count}; take {nearest}.")
    return problems


def _eight_phases(depth: int, rank: int, count: int, first_chunk: int) -> Iterator[Slot]:  # noqa: C901 (one loop a phase)
    """One stage of a pipeline folded after `depth` stages, `rank` stages from its open end.

    Args:
        depth: stages from the open end to the fold.
        rank: 0 at the open end, depth − 1 at the fold.
        count: micro-batches of each chunk.
        first_chunk: the chunk whose forwards come first on this stage.
    """
    near, far = first_chunk, 1 - first_chunk
    behind = depth - rank - 1
    done: dict[tuple[OpKind, int], int] = {}
    weights: list[Op] = []

    def op(kind: OpKind, chunk: int) -> Op:
        """The next op of a kind on a chunk; B and I count together."""
        key = (OpKind.F if kind is OpKind.F else OpKind.B, chunk)
        micro_batch = done[key] = done.get(key, -1) + 1
        if kind is OpKind.I:
            weights.append(Op(OpKind.W, chunk, micro_batch))
        return Op(kind, chunk, micro_batch)

    def alone(kind: OpKind, chunk: int) -> Slot:
        return Slot((op(kind, chunk),))

    def together(forward: int, backward: int) -> Slot:
        return Slot((op(OpKind.F, forward), op(OpKind.B, backward)))

    def weight() -> Slot:
        return Slot((weights.pop(0),))

    for _ in range(2 * behind):  # 1: fill the way to the fold
        yield alone(OpKind.F, near)
    for _ in range(rank + 1):  # 2: both directions
        yield alone(OpKind.F, near)
        yield alone(OpKind.F, far)
    for _ in range(behind):  # 3: first backwards, split: nothing waits for their weight gradients
        yield alone(OpKind.I, far)
        yield weight()
        yield alone(OpKind.F, far)
    for turn in range(count - 2 * depth + rank + 1):  # 4: the steady overlap
        if turn == 0 and rank == depth - 1:
            # At the fold this backward needs the forward just before it.
            yield alone(OpKind.F, near)
            yield alone(OpKind.B, far)
        else:
            yield together(near, far)
        yield together(far, near)
    for _ in range(behind):  # 5: forwards run out
        yield alone(OpKind.B, far)
        yield together(far, near)
    for turn in range(2 * (rank + 1)):  # 6: backwards only; the second half is split, its weights fill the drain
        yield alone(OpKind.I if turn > rank else OpKind.B, far if turn % 2 == 0 else near)
    for _ in range(behind):  # 7: weight gradients while waiting for the last backwards
        yield weight()
        yield alone(OpKind.I, near)
    while weights:  # 8: the weight gradients that are left
        yield weight()
