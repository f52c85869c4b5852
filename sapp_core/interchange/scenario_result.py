"""The answer of a balancing run inside a scenario file."""

from sapp_core.documents.report import found, quoted
from sapp_core.documents.section import Section
from sapp_core.domain.plan import Plan
from sapp_core.domain.result import BalanceResult, Infeasibility, Objective, Progress, Status
from sapp_core.interchange.result import Json
from sapp_core.interchange.scenario_profile import MAX_VALUE, given, mappings

_MAX_SENTENCE = 4_000
_MAX_SENTENCES = 200
_PLAN_KEYS = ("step_time", "lower_bound", "gap", "objective_value", "objective_bound")
_KEYS = ("status", "objective", *_PLAN_KEYS, "solver", "seconds", "infeasibility", "notes", "trace")
_REASON_KEYS = ("stage", "smallest_limit_mb", "sentences")
_TRACE_KEYS = ("seconds", "best", "bound")


def result_as_object(result: BalanceResult) -> Json:
    """A result as `read_result` reads it; its plan stands beside it in the file."""
    reason = result.infeasibility
    return given(
        {
            "status": str(result.status),
            "objective": str(result.objective),
            **{key: getattr(result, key) for key in _PLAN_KEYS},
            "solver": result.solver,
            "seconds": result.seconds,
            "infeasibility": reason
            and given(
                {
                    "stage": reason.stage,
                    "smallest_limit_mb": reason.smallest_limit_mb,
                    "sentences": list(reason.sentences),
                }
            ),
            "notes": list(result.notes) or None,
            "trace": [given({key: getattr(step, key) for key in _TRACE_KEYS}) for step in result.trace] or None,
        }
    )


def read_result(section: Section, plan: Plan | None) -> BalanceResult | None:
    """The result of a section; None when the report of the section says why there is none.

    Args:
        section: the result.
        plan: of the file; a result that found none leaves it alone.
    """
    before = len(section.report.problems)
    status = section.choice("status", tuple(Status), required=True)
    objective = section.choice("objective", tuple(Objective), required=True)
    solver = section.text("solver", required=True)
    seconds = section.number("seconds", most=MAX_VALUE, required=True)
    step, bound, gap, value, value_bound = (section.number(key, most=MAX_VALUE) for key in _PLAN_KEYS)
    reason = section.section("infeasibility")
    infeasibility = _reason(reason) if reason else None
    notes = _sentences(section, "notes")
    trace = tuple(map(_progress, mappings(section, "trace", required=False)))
    section.warn_unknown(_KEYS)
    if status is None or objective is None or solver is None or seconds is None:
        return None
    if len(section.report.problems) > before:
        return None
    known = Status(status)
    found_one = known in (Status.OPTIMAL, Status.FEASIBLE)
    if found_one and (plan is None or step is None):
        section.report.refuse(section.at("status"), f"is {known}, so the file must hold a plan and its step_time.")
        return None
    return BalanceResult(
        status=known,
        plan=plan if found_one else None,
        step_time=step,
        lower_bound=bound,
        gap=gap,
        objective=Objective(objective),
        objective_value=value,
        objective_bound=value_bound,
        solver=solver,
        seconds=seconds,
        infeasibility=infeasibility,
        notes=notes,
        trace=trace,
    )


def _reason(section: Section) -> Infeasibility:
    section.warn_unknown(_REASON_KEYS)
    return Infeasibility(
        stage=section.whole("stage", least=0, most=MAX_VALUE),
        smallest_limit_mb=section.number("smallest_limit_mb", most=MAX_VALUE),
        sentences=_sentences(section, "sentences"),
    )


def _progress(section: Section) -> Progress:
    section.warn_unknown(_TRACE_KEYS)
    return Progress(
        seconds=section.number("seconds", most=MAX_VALUE, required=True) or 0.0,
        best=section.number("best", most=MAX_VALUE),
        bound=section.number("bound", most=MAX_VALUE),
    )


def _sentences(section: Section, key: str) -> tuple[str, ...]:
    entries = section.entries(key) or []
    if len(entries) > _MAX_SENTENCES:
        section.report.refuse(section.at(key), f"must hold at most {_MAX_SENTENCES} sentences, found {len(entries):,}.")
        return ()
    sentences = []
    for index, entry in enumerate(entries):
        if isinstance(entry, str) and len(entry) <= _MAX_SENTENCE:
            sentences.append(entry)
        else:
            said = quoted(entry) if isinstance(entry, str) else found(entry)
            section.report.refuse(
                f"{section.at(key)}[{index}]", f"must be text of up to {_MAX_SENTENCE:,} characters, found {said}."
            )
    return tuple(sentences)
