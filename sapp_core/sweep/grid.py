"""What a sweep goes through: every combination of some lists, those that cannot run with the sentence that says why."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import isfinite, prod

from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.profile import ModelProfile
from sapp_core.domain.request import BalanceRequest
from sapp_core.domain.result import Objective
from sapp_core.domain.scenario import Scenario
from sapp_core.domain.sweep import SweepPoint
from sapp_core.errors import PipelineError
from sapp_core.schedules.registry import SCHEDULES, family, placed, schedule_problems

MOST_POINTS = 20_000
"""Of one grid: more cannot be looked at, and each is held in memory."""

NO_KNOBS = Pipeline(num_stages=1, num_micro_batches=1)
"""Everything at its default."""

_THREADS = 1
"""Of each balancing run: the cores work on points."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Lists of values, and what is the same everywhere.

    *Constant devices*: with `devices` = D, a point with S stages runs D ÷ S pipelines beside each other (data-parallel
    degree), so that times per sample compare what the same devices do. A device is one pipeline rank: where it
    stands for several (tensor-parallel) ranks, D counts it once. The profile's costs are taken as they are: they
    do not change with the data-parallel degree, and its gradient exchange is not part of the step time.

    *Constant global batch*: with `global_batch` = B samples, micro-batches follow: M = B ÷ data-parallel degree ÷
    micro-batch size.

    Attributes:
        schedules: names of families.
        stages: S.
        chunks: V; None = what the schedule fixes, or 1.
        micro_batches: M of each pipeline; empty when `global_batch` says it.
        sequence_splits: K.
        memory_limits_mb: MiB a stage may use; None = no limit.
        objectives: of balancing; unused when points are simulated.
        devices: D; None = not constant.
        global_batch: samples in a step of all pipelines; None = not constant.
        data_parallel: pipelines beside each other, where `devices` does not say it.
        micro_batch_size: samples in a micro-batch, those the profile's costs are for.
        knobs: transfer time, group size, remainder, overlap and shares, for schedules that use them; sizes unused.
        seconds: for balancing a point; None = the even split with the least recomputation that fits is simulated.
        seed: of the solver's random choices.
    """

    schedules: tuple[str, ...]
    stages: tuple[int, ...]
    micro_batches: tuple[int, ...] = ()
    chunks: tuple[int | None, ...] = (None,)
    sequence_splits: tuple[int, ...] = (1,)
    memory_limits_mb: tuple[float | None, ...] = (None,)
    objectives: tuple[Objective, ...] = (Objective.EXACT,)
    devices: int | None = None
    global_batch: int | None = None
    data_parallel: int = 1
    micro_batch_size: int = 1
    knobs: Pipeline = NO_KNOBS
    seconds: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        problems = [*_list_problems(self), *_size_problems(self), *_name_problems(self.schedules)]
        if not problems and self.num_points > MOST_POINTS:
            problems.append(f"sweep: up to {MOST_POINTS:,} points can be swept, these lists make {self.num_points:,}.")
        if problems:
            raise PipelineError(*problems)
        # The limits of a request are checked where they are known.
        for limit in self.memory_limits_mb:
            self._request(limit, self.objectives[0])

    @property
    def num_points(self) -> int:
        """Combinations, those that cannot run included."""
        listed = (self.schedules, self.stages, self.chunks, self._micro_batches, self.sequence_splits)
        return prod(map(len, (*listed, self.memory_limits_mb, self._objectives)))

    def points(self) -> tuple[SweepPoint, ...]:
        """Every combination, in the order of the lists, the last one changing fastest; none is left out."""
        return tuple(
            self._point(*values)
            for values in product(
                self.schedules,
                self.stages,
                self.chunks,
                self._micro_batches,
                self.sequence_splits,
                self.memory_limits_mb,
                self._objectives,
            )
        )

    def scenario(self, profile: ModelProfile, point: SweepPoint) -> Scenario:
        """What a point asks, for a point without problems.

        Raises:
            PipelineError: the point cannot run.
        """
        if point.num_micro_batches is None:
            raise PipelineError(*point.problems)
        pipeline = self._pipeline(
            point.schedule_name,
            point.num_stages,
            point.num_chunks,
            point.num_micro_batches,
            point.num_sequence_splits,
        )
        request = self._request(point.memory_limit_mb, point.objective or Objective.EXACT)
        return Scenario(profile, point.schedule_name, pipeline, request)

    @property
    def _micro_batches(self) -> tuple[int | None, ...]:
        return self.micro_batches or (None,)

    @property
    def _objectives(self) -> tuple[Objective | None, ...]:
        return (None,) if self.seconds is None else self.objectives

    def _point(
        self,
        name: str,
        stages: int,
        chunks: int | None,
        micro_batches: int | None,
        splits: int,
        limit: float | None,
        objective: Objective | None,
    ) -> SweepPoint:
        chunks = family(name).fixed_chunks or 1 if chunks is None else chunks
        problems = []
        data_parallel: int | None = self.data_parallel
        if self.devices is not None:
            data_parallel, rest = divmod(self.devices, stages)
            if rest or not data_parallel:
                near = " or ".join(map(str, _nearest_divisors(self.devices, stages)))
                problems.append(f"num_stages: {stages} do not divide the {self.devices} devices; {near} would.")
                data_parallel = None
        if self.global_batch is not None and data_parallel is not None:
            share = data_parallel * self.micro_batch_size
            micro_batches, rest = divmod(self.global_batch, share)
            if rest or not micro_batches:
                below, above = self.global_batch // share * share, (self.global_batch // share + 1) * share
                near = f"{below} or {above}" if below else str(above)
                problems.append(
                    f"global_batch: {self.global_batch} samples are not a whole number of micro-batches of "
                    f"{self.micro_batch_size} for {data_parallel} pipelines; {near} would be."
                )
                micro_batches = None
        if not problems and micro_batches is not None:
            pipeline = self._pipeline(name, stages, chunks, micro_batches, splits)
            problems += schedule_problems(name, pipeline)
        return SweepPoint(
            schedule_name=name,
            num_stages=stages,
            num_chunks=chunks,
            num_micro_batches=micro_batches,
            num_sequence_splits=splits,
            memory_limit_mb=limit,
            objective=objective,
            data_parallel=data_parallel,
            micro_batch_size=self.micro_batch_size,
            problems=tuple(problems),
        )

    def _pipeline(self, name: str, stages: int, chunks: int, micro_batches: int, splits: int) -> Pipeline:
        sizes = replace(
            self.knobs,
            num_stages=stages,
            num_chunks=chunks,
            num_micro_batches=micro_batches,
            num_sequence_splits=splits,
            group_size=self.knobs.group_size if family(name).uses_groups else None,
        )
        return placed(name, sizes)

    def _request(self, limit: float | None, objective: Objective) -> BalanceRequest:
        asked = BalanceRequest(limit, objective, seed=self.seed, threads=_THREADS)
        return asked if self.seconds is None else replace(asked, time_limit=self.seconds)


def _list_problems(grid: Grid) -> list[str]:
    lists: dict[str, Sequence[object]] = {
        "num_stages": grid.stages,
        "num_chunks": tuple(value for value in grid.chunks if value is not None) or (1,) if grid.chunks else (),
        "num_sequence_splits": grid.sequence_splits,
    }
    if grid.global_batch is None:
        lists["num_micro_batches"] = grid.micro_batches
    problems = [f"{name}: needs at least one value." for name, values in lists.items() if not values]
    problems += [
        f"{name}: must be whole numbers of at least 1, found {value!r}."
        for name, values in lists.items()
        for value in values
        if not _is_count(value)
    ]
    if grid.global_batch is not None and grid.micro_batches:
        problems.append("num_micro_batches: follow from the global batch; leave out one of the two.")
    others = {"memory_limit_mb": grid.memory_limits_mb, "objective": grid.objectives, "schedule": grid.schedules}
    problems += [f"{name}: needs at least one value." for name, values in others.items() if not values]
    problems += [
        f"{name}: each value is swept once, found one twice."
        for name, values in (*lists.items(), *others.items())
        if len(set(values)) != len(values)
    ]
    return problems


def _size_problems(grid: Grid) -> list[str]:
    sizes = {
        "devices": grid.devices,
        "global_batch": grid.global_batch,
        "data_parallel": grid.data_parallel,
        "micro_batch_size": grid.micro_batch_size,
    }
    problems = [
        f"{name}: must be a whole number of at least 1, found {value!r}."
        for name, value in sizes.items()
        if value is not None and not _is_count(value)
    ]
    if grid.devices is not None and grid.data_parallel != 1:
        problems.append("data_parallel: follows from devices and stages; leave out one of the two.")
    if grid.seconds is not None and not (isfinite(grid.seconds) and grid.seconds > 0):
        problems.append(f"time_limit: must be a number of seconds above 0, found {grid.seconds!r}.")
    return problems


def _name_problems(names: tuple[str, ...]) -> list[str]:
    known = {known.name for known in SCHEDULES}
    return [
        f"schedule: {name!r} is not known; choose from {', '.join(each.name for each in SCHEDULES)}."
        for name in names
        if name not in known
    ]


def _nearest_divisors(number: int, wanted: int) -> tuple[int, ...]:
    """The next smaller and the next larger divisor."""
    below = next(value for value in range(min(wanted, number), 0, -1) if number % value == 0)
    above = next((value for value in range(wanted + 1, number + 1) if number % value == 0), None)
    return (below,) if above is None else (below, above)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1
