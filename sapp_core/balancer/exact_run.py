"""Balancing for the step time itself: follow the exact search until it ends or the time is up."""

import numpy as np
from numpy.typing import NDArray

from sapp_core.balancer.exact import State, exact_search
from sapp_core.balancer.infeasible import out_of_memory
from sapp_core.balancer.run import Run
from sapp_core.domain.result import BalanceResult, Status


def run_exact(run: Run) -> BalanceResult:
    """Search, tell, and rate the last state."""
    space = run.space
    told: NDArray[np.float64] | None = None
    start = None if run.request.start is None else space.vector(run.request.start)
    states = exact_search(space, run.unit, run.request.seed, start)
    state = State(Status.NO_SOLUTION_IN_TIME, None, np.inf, 0.0)
    try:
        for state in states:
            if state.status is Status.INFEASIBLE:
                return run.without_plan(state.status, infeasibility=out_of_memory(run.question, run.solve))
            run.lower_bound = state.bound
            run.tell(None if state.vector is None else state.step_time, state.bound)
            if state.vector is not None and state.vector is not told:
                told = state.vector
                run.better(space.plan(told), state.step_time, state.bound)
            if run.left <= 0:
                break
    finally:
        states.close()
    if state.vector is None:
        return run.without_plan(Status.NO_SOLUTION_IN_TIME, objective_bound=state.bound)
    found = run.rated(state.status, space.plan(state.vector), state.step_time, state.bound)
    return found if start is None else _quicker(run, found, start)


def _quicker(run: Run, found: BalanceResult, start: NDArray[np.float64]) -> BalanceResult:
    """The answer, or the start where that is quicker in the order of work that suits each (zero bubble)."""
    if not run.space.allows(start):
        return found
    step_time = float(run.space.step_times(start[np.newaxis])[0])
    kept = run.rated(Status.FEASIBLE, run.space.plan(start), step_time, found.objective_bound)
    return kept if (kept.step_time or 0.0) < (found.step_time or 0.0) else found
