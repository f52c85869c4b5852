"""One point of a sweep and what was found there."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from operator import attrgetter

from sapp_core.domain.plan import Plan
from sapp_core.domain.profile import RecomputeMode
from sapp_core.domain.result import BalanceResult, Objective


class PointStatus(StrEnum):
    """How a point ended.

    `OPTIMAL`, `FEASIBLE`, `INFEASIBLE` and `NO_SOLUTION_IN_TIME` are those of a balancing run; a simulated even split
    is feasible or infeasible. `REFUSED`: profile and schedule cannot run these sizes. `FAILED`: whoever worked on it
    did not come back with an answer.
    """

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    NO_SOLUTION_IN_TIME = "no_solution_in_time"
    REFUSED = "refused"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """One combination of a grid's values. Points of one grid differ from each other.

    Attributes:
        schedule_name: of the family.
        num_stages: S.
        num_chunks: V.
        num_micro_batches: M; None where the global batch cannot be cut into whole micro-batches.
        num_sequence_splits: K.
        memory_limit_mb: MiB a stage may use; None = no limit.
        objective: what balancing minimises; None = the even split is simulated.
        data_parallel: pipelines that share the global batch; None where the stages do not divide the devices.
        micro_batch_size: samples in one micro-batch.
        problems: sentences on why this combination cannot run; empty when it can.
    """

    schedule_name: str
    num_stages: int
    num_chunks: int
    num_micro_batches: int | None
    num_sequence_splits: int
    memory_limit_mb: float | None
    objective: Objective | None
    data_parallel: int | None
    micro_batch_size: int
    problems: tuple[str, ...] = ()

    @property
    def global_batch(self) -> int | None:
        """Samples in one training step of all pipelines; None where the combination cannot run."""
        if self.num_micro_batches is None or self.data_parallel is None:
            return None
        return self.num_micro_batches * self.micro_batch_size * self.data_parallel


@dataclass(frozen=True, slots=True)
class PointResult:
    """What was found at a point.

    Without a plan that fits, the numbers are for orientation: those of the even split with the recomputation that
    needs least memory. A point that was refused or failed has none.

    Attributes:
        point: where.
        status: how it ended.
        step_time: simulated, in the profile's time unit.
        peak_memory_mb: `[stage]`, MiB; empty where nothing was simulated.
        bubble: stage time beyond the model's own work, as a share of it.
        plan: that the numbers belong to.
        recompute: of every layer of an even split; None for a balanced plan.
        sentences: why it cannot run or does not fit, and what the user should read with it.
        balance: the answer of the balancing run, if there was one.
        seconds: the work took.
    """

    point: SweepPoint
    status: PointStatus
    step_time: float | None = None
    peak_memory_mb: tuple[float, ...] = ()
    bubble: float | None = None
    plan: Plan | None = None
    recompute: RecomputeMode | None = None
    sentences: tuple[str, ...] = ()
    balance: BalanceResult | None = field(default=None, compare=False)
    seconds: float = field(default=0.0, compare=False)

    @property
    def fits(self) -> bool:
        """Whether there is a plan that keeps the limit."""
        return self.status in {PointStatus.OPTIMAL, PointStatus.FEASIBLE}

    @property
    def highest_peak_mb(self) -> float | None:
        """Peak memory of the fullest stage, MiB."""
        return max(self.peak_memory_mb, default=None)

    @property
    def time_per_sample(self) -> float | None:
        """Step time over the samples of the global batch, in the profile's time unit."""
        samples = self.point.global_batch
        return None if self.step_time is None or not samples else self.step_time / samples

    @property
    def gap(self) -> float | None:
        """How far the step time can be from the best possible one; None where nothing was proven."""
        return None if self.balance is None else self.balance.gap


def best_first(results: Sequence[PointResult]) -> tuple[PointResult, ...]:
    """Points that fit by their time per sample, then those that do not, then those that cannot run."""
    rank = {
        PointStatus.INFEASIBLE: 1,
        PointStatus.NO_SOLUTION_IN_TIME: 1,
        PointStatus.REFUSED: 2,
        PointStatus.FAILED: 3,
    }

    def key(result: PointResult) -> tuple[object, ...]:
        point = result.point
        return (
            rank.get(result.status, 0),
            result.time_per_sample or 0.0,
            result.highest_peak_mb or 0.0,
            # Equal numbers must not leave the order to who answered first.
            point.schedule_name,
            point.num_stages,
            point.num_chunks,
            point.num_micro_batches or 0,
            point.num_sequence_splits,
            point.memory_limit_mb or 0.0,
            str(point.objective),
        )

    return tuple(sorted(results, key=key))


def pareto_front(
    results: Sequence[PointResult], time: Callable[[PointResult], float | None] = attrgetter("time_per_sample")
) -> tuple[PointResult, ...]:
    """Points that fit and that no other one beats in both time and peak memory; least memory first."""
    rated = [(result.highest_peak_mb or 0.0, time(result) or 0.0, result) for result in results if result.fits]
    front: list[PointResult] = []
    fastest = float("inf")
    for _, seconds, result in sorted(rated, key=lambda entry: entry[:2]):
        if seconds < fastest:
            front.append(result)
            fastest = seconds
    return tuple(front)
