"""Where a step's time is lost, by successive simulation, so that the parts add up exactly."""

from dataclasses import replace

import numpy as np

from sapp_core.domain.costs import ChunkCosts, Grid
from sapp_core.domain.timeline import BubbleParts
from sapp_core.simulator.engine import PreparedSchedule, durations_of, step_times


def bubble_parts(prepared: PreparedSchedule, costs: ChunkCosts, step_time: float) -> BubbleParts:
    """Shares of the model's own work of one stage.

    The work is that of all forwards and backwards without recomputation, divided by the stages. The same order is
    simulated with this work spread evenly over the cells, then with the plan's own times, then with recomputation;
    what each of these adds is its part, and transfers have what is left up to the step time.

    Args:
        prepared: the order.
        costs: of every cell.
        step_time: of the same order and costs, with everything in.
    """
    pipeline = prepared.schedule.pipeline
    per_micro_batch = sum(map(sum, costs.forward)) + sum(map(sum, costs.backward))
    work = pipeline.micro_batches_per_chunk * per_micro_batch / pipeline.num_stages
    if work <= 0:
        return BubbleParts(0.0, 0.0, 0.0, 0.0)

    own = replace(costs, recompute=_filled(costs.recompute, 0.0))
    even = replace(own, forward=_mean(costs.forward), backward=_mean(costs.backward))
    # Cases are often equal (nothing recomputes, all cells alike): each is simulated once.
    cases = dict.fromkeys((even, own, costs))
    durations = np.stack([durations_of(case, pipeline) for case in cases])
    found = dict(zip(cases, step_times(prepared, durations, p2p_time=0.0).tolist(), strict=True))
    time_even, time_own, time_recompute = (found[case] for case in (even, own, costs))
    return BubbleParts(
        ideal=time_even / work - 1,
        imbalance=(time_own - time_even) / work,
        recompute=(time_recompute - time_own) / work,
        transfer=(step_time - time_recompute) / work,
    )


def _filled(grid: Grid, value: float) -> Grid:
    return tuple((value,) * len(row) for row in grid)


def _mean(grid: Grid) -> Grid:
    return _filled(grid, sum(map(sum, grid)) / sum(map(len, grid)))
