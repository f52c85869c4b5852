"""What a balancing run is asked for."""

from dataclasses import dataclass
from math import isfinite

from sapp_core.domain.plan import Plan
from sapp_core.domain.result import MemoryModel, Objective
from sapp_core.errors import PipelineError

LARGEST_SEED = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Pin:
    """A cell that must hold a given number of layers.

    Body layers count, those of all kinds and under all recompute modes together; head and tail layers do not. Which
    kinds and modes they are is left to the balancer. In a bidirectional pipeline, a pin holds for both copies of its
    virtual stage.

    Attributes:
        chunk: of the cell.
        stage: of the cell.
        layers: body layers the cell holds, no more and no less.
    """

    chunk: int
    stage: int
    layers: int


@dataclass(frozen=True, slots=True)
class BalanceRequest:
    """Limits and choices of one balancing run.

    Attributes:
        memory_limit_mb: MiB a stage may use, one number for all or one a stage; None = memory is not limited.
        objective: what the integer program minimises.
        memory_model: how memory enters the program.
        solver: `highs` or `cbc`.
        time_limit: seconds for the whole run.
        seed: of the solver's random choices.
        threads: the solver may use.
        pinned: cells that must hold a given number of layers. Step time and lower bound are then those of the plans
            that keep them.
        start: where the exact search begins; the answer is never slower than it when it may be answered itself. The
            surrogate objectives do not use it.
    """

    memory_limit_mb: float | tuple[float, ...] | None
    objective: Objective = Objective.EXACT
    memory_model: MemoryModel = MemoryModel.EXACT
    solver: str = "highs"
    time_limit: float = 90.0
    seed: int = 0
    threads: int = 2
    pinned: tuple[Pin, ...] = ()
    start: Plan | None = None

    def __post_init__(self) -> None:
        limits = self.memory_limit_mb if isinstance(self.memory_limit_mb, tuple) else (self.memory_limit_mb,)
        problems = [
            f"memory_limit_mb: must be a number above 0, found {limit!r}."
            for limit in limits
            if limit is not None and not (isfinite(limit) and limit > 0)
        ]
        if not (isfinite(self.time_limit) and self.time_limit > 0):
            problems.append(f"time_limit: must be a number of seconds above 0, found {self.time_limit!r}.")
        if not 0 <= self.seed <= LARGEST_SEED:
            problems.append(f"seed: must lie between 0 and {LARGEST_SEED}, found {self.seed!r}.")
        if self.threads < 1:
            problems.append(f"threads: must be at least 1, found {self.threads!r}.")
        problems += _pin_problems(self.pinned)
        if problems:
            raise PipelineError(*problems)

    def limits(self, num_stages: int) -> tuple[float, ...] | None:
        """`[stage]`, MiB; None when memory is not limited.

        Raises:
            PipelineError: one limit a stage was given, but not for this number of stages.
        """
        limit = self.memory_limit_mb
        if not isinstance(limit, tuple):
            return None if limit is None else (limit,) * num_stages
        if len(limit) != num_stages:
            raise PipelineError(
                f"memory_limit_mb: needs one number, or one for each of the {num_stages} stages, found {len(limit)}."
            )
        return limit


def _pin_problems(pinned: tuple[Pin, ...]) -> list[str]:
    """Of pins by themselves, wherever layers go."""
    problems = []
    known: dict[tuple[int, int], int] = {}
    for pin in pinned:
        problems += [
            f"pinned: {what} must be a whole number of at least 0, found {value!r}."
            for what, value in (
                ("a chunk", pin.chunk),
                ("a stage", pin.stage),
                (f"layers of chunk {pin.chunk}, stage {pin.stage}", pin.layers),
            )
            if not isinstance(value, int) or isinstance(value, bool) or value < 0
        ]
        before = known.setdefault((pin.chunk, pin.stage), pin.layers)
        if before != pin.layers:
            problems.append(
                f"pinned: a cell can have one number of layers only, found {before} and {pin.layers} for chunk "
                f"{pin.chunk}, stage {pin.stage}."
            )
    return problems
