"""What a balancing run answers."""

from dataclasses import dataclass
from enum import StrEnum

from sapp_core.domain.plan import Plan


class Objective(StrEnum):
    """What is minimised: the simulated step time itself, or a level of the classic SAPP surrogate."""

    EXACT = "exact"
    SAPP_0 = "sapp-0"
    SAPP_1 = "sapp-1"
    SAPP_2 = "sapp-2"


class MemoryModel(StrEnum):
    """How memory enters the program: rows counted from the schedule itself, or SAPP's closed forms."""

    EXACT = "exact"
    SAPP = "sapp"


class Status(StrEnum):
    """How a run ended. `OPTIMAL` means proven for the chosen objective."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    NO_SOLUTION_IN_TIME = "no_solution_in_time"


@dataclass(frozen=True, slots=True)
class Progress:
    """State of a run at one moment.

    Attributes:
        seconds: since the run began.
        best: best value found so far, None before the first.
        bound: proven lower bound of that value so far, None before the first.
    """

    seconds: float
    best: float | None
    bound: float | None


@dataclass(frozen=True, slots=True)
class Infeasibility:
    """Why no plan exists.

    Attributes:
        stage: the stage that is worst off, None when the reason is not memory.
        smallest_limit_mb: the smallest limit, the same on every stage, that some plan would meet; None when
            no limit would help.
        sentences: for the user: what cannot be met, and what could change.
    """

    stage: int | None
    smallest_limit_mb: float | None
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BalanceResult:
    """Answer of the balancer.

    Attributes:
        status: how the run ended.
        plan: the best plan found; None without one.
        step_time: of the plan, simulated; None without a plan.
        lower_bound: no plan within the limit can have a smaller step time in the order of work that was searched;
            None when nothing was proven. A note says when the plan runs in an order made for it (zero bubble).
        gap: (t − lower_bound) / t, t being the plan's step time in the order that was searched; None without both.
        objective: what was minimised.
        objective_value: of the plan, in the objective's own terms; None without a plan.
        objective_bound: proven lower bound of the objective; None when the solver gave none.
        solver: its name.
        seconds: the run took.
        infeasibility: why, when infeasible.
        notes: sentences the user should read with the plan.
        trace: progress of the run.
    """

    status: Status
    plan: Plan | None
    step_time: float | None
    lower_bound: float | None
    gap: float | None
    objective: Objective
    objective_value: float | None
    objective_bound: float | None
    solver: str
    seconds: float
    infeasibility: Infeasibility | None = None
    notes: tuple[str, ...] = ()
    trace: tuple[Progress, ...] = ()

    @property
    def above_best(self) -> float | None:
        """How far the step time is above the best possible one at most, as a share of that; None when unproven.

        As the gap it is about the order of work that was searched.
        """
        # A bound that is nothing beside the step proves nothing, and a file may say any gap.
        if self.gap is None or not self.lower_bound or self.gap >= 1:
            return None
        return self.gap / (1 - self.gap)
