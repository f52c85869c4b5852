"""The command line: `python -m sapp_core balance | simulate | sensitivity | open | schedule | sweep | check | trace`.

Exit status: 0 done, 2 wrong input or output that cannot be written, 3 no plan, 130 interrupted. What a user should
know besides the answer is one line each on the standard error stream.
"""

import argparse
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from io import TextIOWrapper
from math import isfinite
from pathlib import Path

from sapp_core.advice import advice
from sapp_core.balancer.balance import balance, lp_text
from sapp_core.charts.files import PictureFormat, pictures
from sapp_core.command_files import answer, check_targets, read_file, tell, write_file
from sapp_core.command_options import FLAGS, parse
from sapp_core.domain.measured import MeasuredComparison
from sapp_core.domain.pipeline import Pipeline, Remainder
from sapp_core.domain.plan import Plan, even_split
from sapp_core.domain.profile import ModelProfile
from sapp_core.domain.request import BalanceRequest
from sapp_core.domain.result import BalanceResult, MemoryModel, Objective, Progress
from sapp_core.domain.scenario import Scenario
from sapp_core.domain.schedule import Schedule
from sapp_core.domain.sweep import PointResult
from sapp_core.domain.timeline import Evaluation
from sapp_core.errors import PlanError, SappError
from sapp_core.exports import export_named
from sapp_core.interchange import text
from sapp_core.interchange.measured import MAX_BYTES as MAX_MEASURED_BYTES
from sapp_core.interchange.measured import read_measured
from sapp_core.interchange.orders import ORDER_FORMATS, order_format
from sapp_core.interchange.plan_text import plan_from_text
from sapp_core.interchange.result import (
    balance_object,
    measured_object,
    profile_object,
    simulation_object,
)
from sapp_core.interchange.scenario import MAX_REPORT_BYTES, scenario_from_json
from sapp_core.interchange.sensitivity import sensitivity_object, sensitivity_text
from sapp_core.interchange.sweep import sweep_csv, sweep_object, sweep_text
from sapp_core.interchange.tables import sensitivity_csv
from sapp_core.pictures import Detail, picture_named
from sapp_core.profiles.load import LoadedProfile, load_profile
from sapp_core.profiles.save import profile_text
from sapp_core.reopen import as_simulated, check_settings
from sapp_core.schedules.in_flight import peak_in_flight
from sapp_core.schedules.registry import family, make_schedule, placed
from sapp_core.sensitivity import sensitivity
from sapp_core.simulator.measured import compare
from sapp_core.study import Study, evaluate, reference_for
from sapp_core.sweep_command import grid_of, plan_words, results_of
from sapp_core.trace_command import matches_text, profile_of_trace

DONE, WRONG_INPUT, NO_PLAN, INTERRUPTED = 0, 2, 3, 130

CLEAR_LINE = "\r\033[K"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: arguments without the program's name; None = those of this process.

    Returns:
        The exit status.
    """
    try:
        options = parse(argv)
        files = (file for _, file in (*options.exports, *options.pictures))
        check_targets(options.json, options.write_lp, options.csv, options.write, *files)
        return COMMANDS[options.command](options)
    except SappError as error:
        tell("error", map(_in_words_of_options, error.problems))
        return WRONG_INPUT
    except KeyboardInterrupt:
        tell("interrupted", ["nothing was finished."])
        return INTERRUPTED


def _balance(options: argparse.Namespace) -> int:
    profile, schedule, request = _scenario(options)
    pipeline = schedule.pipeline
    request = replace(
        request,
        objective=Objective(options.objective),
        memory_model=MemoryModel(options.memory_model),
        solver=options.solver,
        time_limit=options.time_limit,
        seed=options.seed,
        pinned=tuple(options.pinned),
        start=_plan(options.start, profile, pipeline) if options.start else None,
    )
    if options.write_lp:
        write_file(options.write_lp, lp_text(profile, schedule, request))
    watched = sys.stderr.isatty()
    try:
        result = balance(profile, schedule, request, _show_progress if watched else None)
    finally:
        if watched:
            sys.stderr.write(CLEAR_LINE)
    return _tell_balanced(options, Scenario(profile, schedule.name, schedule.pipeline, request), schedule, result)


def _tell_balanced(options: argparse.Namespace, scenario: Scenario, schedule: Schedule, result: BalanceResult) -> int:
    """Answer with what a run found, now or before it was saved."""
    profile = scenario.profile
    found = evaluate(profile, schedule, result.plan) if result.plan else None
    even = _even(profile, schedule)
    limits = scenario.request.limits(schedule.pipeline.num_stages)
    answer(
        options.json,
        lambda: balance_object(result, schedule, found, even),
        lambda: text.balance_text(result, profile, schedule, found, even, limits),
    )
    tell("note", result.notes)
    if result.infeasibility:
        tell(str(result.status), result.infeasibility.sentences)
    if found is None:
        return NO_PLAN
    _write_files(options, scenario, schedule, found, result)
    return DONE


def _open(options: argparse.Namespace) -> int:
    saved = scenario_from_json(read_file(options.file, MAX_REPORT_BYTES), options.file)
    tell("warning", saved.warnings)
    scenario, result = saved.scenario, saved.result
    check_settings(scenario)
    schedule = make_schedule(scenario.schedule_name, scenario.pipeline)
    if result is None:
        plan = saved.plan or even_split(scenario.profile, scenario.pipeline)
        return _tell_simulated(options, scenario, schedule, plan)
    if result.plan:
        found = evaluate(scenario.profile, schedule, result.plan)
        result = as_simulated(result, found, scenario, options.file)
    return _tell_balanced(options, scenario, schedule, result)


def _simulate(options: argparse.Namespace) -> int:
    profile, schedule, request = _scenario(options)
    plan = _plan(options.plan, profile, schedule.pipeline) if options.plan else even_split(profile, schedule.pipeline)
    return _tell_simulated(options, Scenario(profile, schedule.name, schedule.pipeline, request), schedule, plan)


def _tell_simulated(options: argparse.Namespace, scenario: Scenario, schedule: Schedule, plan: Plan) -> int:
    """Answer with a plan that nobody searched for."""
    profile, limits = scenario.profile, scenario.request.limits(schedule.pipeline.num_stages)
    begun = time.perf_counter()
    found = evaluate(profile, schedule, plan)
    seconds = time.perf_counter() - begun
    measured = _measured(options.measured, found) if options.measured else None
    even = _even(profile, schedule)
    answer(
        options.json,
        lambda: (
            simulation_object(found, even, limits, seconds)
            | ({"measured": measured_object(measured)} if measured else {})
        ),
        lambda: (
            text.simulation_text(found, even, limits)
            + (f"\n{text.measured_text(measured, profile.time_unit)}" if measured else "")
        ),
    )
    tell("note", measured.notes if measured else ())
    _write_files(options, scenario, schedule, found)
    return DONE


def _sensitivity(options: argparse.Namespace) -> int:
    profile, schedule, request = _scenario(options)
    plan = _plan(options.plan, profile, schedule.pipeline) if options.plan else even_split(profile, schedule.pipeline)
    scenario = Scenario(profile, schedule.name, schedule.pipeline, request)
    found, unit = sensitivity(scenario, evaluate(profile, schedule, plan), options.share), profile.time_unit
    said = [(piece.head, piece.sentence) for piece in advice(found)]
    answer(options.json, lambda: sensitivity_object(found, unit, said), lambda: sensitivity_text(found, unit, said))
    if options.csv:
        write_file(options.csv, sensitivity_csv(found, unit))
    return DONE


def _measured(files: Sequence[str], found: Evaluation) -> MeasuredComparison:
    contents = [(file, read_file(file, MAX_MEASURED_BYTES)) for file in files]
    read = read_measured(contents, found.schedule, found.profile.time_unit)
    return compare(found, read.samples, read.notes)


def _schedule(options: argparse.Namespace) -> int:
    schedule = make_schedule(options.schedule, _pipeline(options))
    peaks = peak_in_flight(schedule)
    wanted = order_format(options.format)
    answer(
        options.json,
        lambda: wanted.as_json(schedule, peaks),
        lambda: text.schedule_text(schedule, wanted.words(schedule), peaks if wanted is ORDER_FORMATS[0] else None),
    )
    return DONE


def _sweep(options: argparse.Namespace) -> int:
    profile = _profile(options)
    grid = grid_of(options, profile)
    coming = results_of(grid, profile, options)
    results: list[PointResult] = []
    watched = sys.stderr.isatty()
    # What is done is worth having, however a sweep ends.
    try:
        tell("sweep", [plan_words(grid, profile, options)])
        for result in coming:
            results.append(result)
            if watched:
                sys.stderr.write(f"{CLEAR_LINE}{len(results):,} of {grid.num_points:,} points done")
                sys.stderr.flush()
    except KeyboardInterrupt:
        _answer_sweep(options, results, profile, watched=watched)
        tell("interrupted", [f"{len(results):,} of {grid.num_points:,} points were done."])
        return INTERRUPTED
    except SappError:
        if results:
            _answer_sweep(options, results, profile, watched=watched)
        raise
    _answer_sweep(options, results, profile, watched=watched)
    return DONE


def _answer_sweep(
    options: argparse.Namespace, results: Sequence[PointResult], profile: ModelProfile, *, watched: bool
) -> None:
    if watched:
        sys.stderr.write(CLEAR_LINE)
    answer(
        options.json, lambda: sweep_object(results, profile), lambda: sweep_text(results, profile, _in_words_of_options)
    )
    if options.csv:
        write_file(options.csv, sweep_csv(results))


def _check(options: argparse.Namespace) -> int:
    loaded = _load(options.profile)
    answer(
        options.json,
        lambda: profile_object(loaded.profile, loaded.warnings),
        lambda: text.profile_text(loaded.profile, loaded.warnings),
    )
    return DONE


def _trace(options: argparse.Namespace) -> int:
    loaded, measured = profile_of_trace(options)
    tell("note", measured.trace.notes)
    profile = loaded.profile
    answer(
        options.json,
        lambda: profile_object(profile, loaded.warnings),
        lambda: matches_text(measured) + text.profile_text(profile, loaded.warnings),
    )
    if options.write:
        write_file(options.write, profile_text(profile, as_json=options.write.lower().endswith(".json")))
    return DONE


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "balance": _balance,
    "simulate": _simulate,
    "sensitivity": _sensitivity,
    "open": _open,
    "schedule": _schedule,
    "sweep": _sweep,
    "check": _check,
    "trace": _trace,
}


def _scenario(options: argparse.Namespace) -> tuple[ModelProfile, Schedule, BalanceRequest]:
    """What `balance` and `simulate` share: the profile, the order of work, and a request with the memory limit."""
    profile = _profile(options)
    limit = profile.memory_limit_mb if options.memory_limit_mb is None else options.memory_limit_mb
    pipeline = replace(_pipeline(options), p2p_time=options.p2p_time)
    return profile, make_schedule(options.schedule, pipeline), BalanceRequest(memory_limit_mb=limit)


def _profile(options: argparse.Namespace) -> ModelProfile:
    """The profile with the constant memory that was asked for; its warnings are told."""
    loaded = _load(options.profile)
    tell("warning", loaded.warnings)
    if options.constant_mb is None:
        return loaded.profile
    if not (isfinite(options.constant_mb) and options.constant_mb >= 0):
        raise SappError(f"constant_mb: must be a number of at least 0, found {options.constant_mb!r}.")
    return replace(loaded.profile, constant_mb=options.constant_mb)


def _pipeline(options: argparse.Namespace) -> Pipeline:
    chunks = options.num_chunks
    sizes = Pipeline(
        num_stages=options.num_stages,
        num_micro_batches=options.num_micro_batches,
        num_chunks=family(options.schedule).fixed_chunks or 1 if chunks is None else chunks,
        num_sequence_splits=options.num_sequence_splits,
        group_size=options.group_size,
        remainder=Remainder(options.remainder),
        overlap_efficiency=options.overlap_efficiency,
        input_gradient_share=options.input_gradient_share,
        weight_gradient_memory_share=options.weight_gradient_memory_share,
    )
    return placed(options.schedule, sizes)


def _even(profile: ModelProfile, schedule: Schedule) -> Evaluation | None:
    """The even split, simulated; None where it is no plan of this profile."""
    try:
        return evaluate(profile, schedule, even_split(profile, schedule.pipeline))
    except PlanError:
        return None


def _plan(file: str, profile: ModelProfile, pipeline: Pipeline) -> Plan:
    """The plan of a file of any kind; what the file leaves open is said."""
    read = plan_from_text(read_file(file), file, profile, pipeline)
    tell("note", read.remarks)
    return read.plan


def _load(file: str) -> LoadedProfile:
    return load_profile(read_file(file), file)


def _write_files(
    options: argparse.Namespace,
    scenario: Scenario,
    schedule: Schedule,
    evaluation: Evaluation,
    result: BalanceResult | None = None,
) -> None:
    """What `--export` and `--picture` ask for."""
    if not (options.exports or options.pictures):
        return
    reference = reference_for(scenario.profile, schedule, scenario.request.limits(schedule.pipeline.num_stages))
    study = Study(scenario, evaluation, reference, result)
    for name, file in options.exports:
        write_file(file, export_named(name).write(study))
    drawn = [
        (picture_named(name).draw(study, Detail()), PictureFormat(Path(file).suffix[1:].lower()))
        for name, file in options.pictures
    ]
    for (_, file), content in zip(options.pictures, pictures(drawn), strict=True):
        write_file(file, content)


def _in_words_of_options(problem: str) -> str:
    field, colon, rule = problem.partition(":")
    return f"{FLAGS.get(field, field)}{colon}{rule}"


def _show_progress(progress: Progress) -> None:
    best, bound = ("-" if value is None else text.number(value) for value in (progress.best, progress.bound))
    sys.stderr.write(f"{CLEAR_LINE}{progress.seconds:.0f} s, best {best}, bound {bound}")
    sys.stderr.flush()


if __name__ == "__main__":
    # Ended politely from outside, as by Ctrl-C: no solver may go on alone.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if isinstance(sys.stdout, TextIOWrapper):
        # A terminal that knows only ASCII gets the numbers all the same.
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.exit(main())
