"""Results as plain objects for `--json`: dictionaries, lists, numbers and text, the same keys every time."""

import json
from collections.abc import Sequence

from sapp_core.domain.measured import MeasuredComparison
from sapp_core.domain.profile import MODES, LayerProfile, ModelProfile
from sapp_core.domain.result import BalanceResult, Status
from sapp_core.domain.schedule import Schedule
from sapp_core.domain.timeline import BubbleParts, Evaluation, StageMemory
from sapp_core.errors import FormatError

Json = dict[str, object]

OVER_LIMIT = "over_limit"
"""Status of a simulated plan that needs more memory than the limit."""


def balance_object(
    result: BalanceResult, schedule: Schedule, evaluation: Evaluation | None, even: Evaluation | None
) -> Json:
    """Answer of the balancer.

    Args:
        result: the answer.
        schedule: it was balanced for.
        evaluation: of the result's plan; None without one.
        even: the even split, simulated; None when it cannot be.
    """
    return {
        "status": str(result.status),
        "step_time": result.step_time,
        "lower_bound": result.lower_bound,
        "gap": result.gap,
        "seconds": result.seconds,
        "solver": result.solver,
        "objective_value": result.objective_value,
        **_scenario(schedule, evaluation, even),
    }


def simulation_object(
    evaluation: Evaluation, even: Evaluation | None, limits: tuple[float, ...] | None, seconds: float
) -> Json:
    """A simulated plan, with the keys of `balance_object`: what only a balancer knows is None.

    Args:
        evaluation: of the plan.
        even: the even split, simulated; None when it cannot be.
        limits: memory limit of each stage, MiB; None = no limit.
        seconds: the simulation took.
    """
    return {
        "status": OVER_LIMIT if evaluation.stages_over(limits) else str(Status.FEASIBLE),
        "step_time": evaluation.step_time,
        "lower_bound": None,
        "gap": None,
        "seconds": seconds,
        "solver": None,
        "objective_value": None,
        **_scenario(evaluation.schedule, evaluation, even),
    }


def schedule_object(schedule: Schedule, peak_in_flight: Sequence[Sequence[float]]) -> Json:
    """Order of work: slots as tokens such as `F0.3`, `F0.3+B1.2` or `F0.3.1`.

    Args:
        schedule: the order.
        peak_in_flight: `[stage][chunk]`, the largest number of micro-batches in flight.
    """
    pipeline = schedule.pipeline
    return {
        "schedule": schedule.name,
        "orders": [list(stage) for stage in schedule.tokens()],
        "stage_of": [
            [pipeline.virtual_stage(chunk, stage) for chunk in range(pipeline.num_chunks)]
            for stage in range(pipeline.num_stages)
        ],
        "peak_inflight": [[_whole(count) for count in stage] for stage in peak_in_flight],
    }


def profile_object(profile: ModelProfile, warnings: Sequence[str]) -> Json:
    """A profile as it was resolved, and what the reader warned about."""
    return {
        "name": profile.name,
        "time_unit": profile.time_unit,
        "constant_mb": profile.constant_mb,
        "memory_limit_mb": profile.memory_limit_mb,
        "modes": [str(mode) for mode in profile.modes],
        "layers": [_layer_object(layer) for layer in profile.layers],
        "warnings": list(warnings),
    }


def measured_object(comparison: MeasuredComparison) -> Json:
    """Measured against simulated times, in the profile's time unit; what could not be measured is None."""
    return {
        "num_steps": comparison.num_steps,
        "step_time": {"measured": comparison.step_time, "simulated": comparison.simulated_step_time},
        "idle": {
            "measured": None if comparison.idle is None else list(comparison.idle),
            "simulated": list(comparison.simulated_idle),
        },
        "ops": [
            {
                "stage": row.stage,
                "kind": str(row.kind),
                "runs": row.count,
                "measured": row.measured,
                "simulated": row.simulated,
                "difference": row.difference,
                "share": row.share,
            }
            for row in comparison.kinds
        ],
        "notes": list(comparison.notes),
    }


def to_json(value: Json) -> str:
    """Strict JSON text, one line for each key of the outermost object.

    Raises:
        FormatError: a number is infinite or not a number, which JSON cannot say.
    """
    try:
        lines = [f"  {json.dumps(key)}: {json.dumps(entry, allow_nan=False)}" for key, entry in value.items()]
    except ValueError as error:
        raise FormatError("result: a number is too large for JSON; times and memory must stay finite.") from error
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _scenario(schedule: Schedule, evaluation: Evaluation | None, even: Evaluation | None) -> Json:
    return {
        "schedule": schedule.name,
        "pipeline": schedule.pipeline.as_dict(),
        "plan": evaluation.plan.as_dict() if evaluation else None,
        "peak_memory_mb": list(evaluation.peak_memory_mb) if evaluation else None,
        "memory": [_memory_object(peak) for peak in evaluation.peaks] if evaluation else None,
        "bubble": _bubble_object(evaluation.bubble) if evaluation else None,
        "even_split": ({"step_time": even.step_time, "peak_memory_mb": list(even.peak_memory_mb)} if even else None),
    }


def _whole(count: float) -> float:
    """3 instead of 3.0: only sequence splits make fractions."""
    return int(count) if count.is_integer() else count


def _memory_object(peak: StageMemory) -> Json:
    return {
        "parameter_mb": peak.parameter_mb,
        "constant_mb": peak.constant_mb,
        "activation_mb": sum(peak.activation_mb),
    }


def _bubble_object(bubble: BubbleParts) -> Json:
    return {
        "ideal": bubble.ideal,
        "imbalance": bubble.imbalance,
        "recompute": bubble.recompute,
        "transfer": bubble.transfer,
        "total": bubble.total,
    }


def _layer_object(layer: LayerProfile) -> Json:
    return {
        "name": layer.name,
        "kind": str(layer.kind),
        "num_layers": layer.num_layers,
        "forward_time": layer.forward_time,
        "backward_time": {str(mode): time for mode, time in zip(MODES, layer.backward_time, strict=True)},
        "parameter_mb": layer.parameter_mb,
        "activation_mb": {str(mode): memory for mode, memory in zip(MODES, layer.activation_mb, strict=True)},
    }
