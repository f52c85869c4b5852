"""Words and options of the command line. Choices come from the registries and enums, defaults from the types."""

import argparse
import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import NoReturn

from sapp_core.balancer.solvers import SOLVERS
from sapp_core.charts.files import PictureFormat
from sapp_core.domain.pipeline import Pipeline, Remainder
from sapp_core.domain.profile import RecomputeMode
from sapp_core.domain.request import BalanceRequest, Pin
from sapp_core.domain.result import MemoryModel, Objective
from sapp_core.errors import SappError
from sapp_core.exports import EXPORTS
from sapp_core.interchange.orders import ORDER_FORMATS
from sapp_core.pictures import PICTURES
from sapp_core.schedules.registry import SCHEDULES
from sapp_core.sensitivity import LARGEST_SHARE, SMALLEST_SHARE, USUAL_SHARE

FLAGS: dict[str, str] = {
    "num_stages": "--stages",
    "num_micro_batches": "--micro-batches",
    "num_chunks": "--interleave",
    "num_sequence_splits": "--sequence-splits",
    "group_size": "--group-size",
    "remainder": "--remainder",
    "p2p_time": "--p2p-time",
    "overlap_efficiency": "--overlap-efficiency",
    "input_gradient_share": "--input-gradient-share",
    "weight_gradient_memory_share": "--weight-gradient-memory-share",
    "memory_limit_mb": "--memory-limit",
    "constant_mb": "--constant-memory",
    "time_limit": "--time-limit",
    "seed": "--seed",
    "pinned": "--pin",
    "start": "--start",
    "objective": "--objective",
    "devices": "--devices",
    "global_batch": "--global-batch",
    "data_parallel": "--data-parallel",
    "micro_batch_size": "--micro-batch-size",
    "workers": "--workers",
    "scheduler": "--scheduler",
}
"""Field of a type → the option that sets it. Sentences of the core begin with the field; users are shown the option."""

_EXPORT_NAMES = tuple(export.name for export in EXPORTS)
_PICTURE_NAMES = tuple(picture.name for picture in PICTURES)
_SCHEDULE_NAMES = tuple(family.name for family in SCHEDULES)
_LEAST_CHANGE, _MOST_CHANGE = 100 * SMALLEST_SHARE, 100 * LARGEST_SHARE


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Options of one command, with its name in `command`; None = the arguments of this process.

    Raises:
        SappError: an option is unknown, missing or unreadable.
    """
    return _parser().parse_args(argv)


class _Parser(argparse.ArgumentParser):
    """Reports wrong options like any other wrong input: one sentence, no usage lines."""

    def error(self, message: str) -> NoReturn:
        raise SappError(f"{message}; see {self.prog} --help.")


def _parser() -> _Parser:
    parser = _Parser(
        prog="python -m sapp_core",
        description="Balance, simulate and look at pipeline-parallel training schedules.",
        epilog="Exit status: 0 done, 2 wrong input, 3 no plan (infeasible, or none found in time), 130 interrupted.",
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    def command(name: str, summary: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=summary, description=summary, allow_abbrev=False)
        added.add_argument("--json", metavar="FILE", help="write JSON instead of text; - is the standard output")
        added.set_defaults(write_lp=None, csv=None, write=None, exports=[], pictures=[], measured=[])
        return added

    balancing = command("balance", "Place layers and choose recomputation so that a training step is short.")
    _add_scenario(balancing)
    _add_balancing(balancing)
    _add_files(balancing)
    simulating = command(
        "simulate", "Simulate a plan. Its status is feasible, or over_limit when a stage needs more than the limit."
    )
    _add_scenario(simulating)
    _add_plan(simulating)
    _add_files(simulating)
    simulating.add_argument(
        "--measured",
        action="append",
        default=[],
        metavar="FILE",
        help="op times to compare with, CSV or Chrome trace; may be repeated, as for one trace a rank",
    )
    reacting = command(
        "sensitivity", "Show what each number of the profile, alone a little smaller and larger, does to a plan."
    )
    _add_scenario(reacting)
    _add_plan(reacting)
    reacting.add_argument(
        "--change",
        dest="share",
        type=_change,
        default=USUAL_SHARE,
        metavar="PERCENT",
        help=f"how much smaller and larger, {_LEAST_CHANGE:g} to {_MOST_CHANGE:g} (default: {100 * USUAL_SHARE:g})",
    )
    reacting.add_argument("--csv", metavar="FILE", help="write every number as a line of CSV as well")
    opening = command("open", "Simulate the plan of a saved scenario or report again, and write it in other formats.")
    opening.add_argument("file", metavar="SCENARIO", help="scenario (JSON) or report (HTML)")
    _add_files(opening)
    ordering = command("schedule", "Show the order of work of a schedule, without a profile.")
    ordering.add_argument("schedule", metavar="NAME", choices=_SCHEDULE_NAMES, help=", ".join(_SCHEDULE_NAMES))
    _add_pipeline(ordering)
    ordering.add_argument(
        "--format",
        choices=tuple(known.name for known in ORDER_FORMATS),
        default=ORDER_FORMATS[0].name,
        help="in which words (default: %(default)s)",
    )
    sweeping = command(
        "sweep", "Simulate or balance all combinations of some lists, on all cores or on a Dask cluster."
    )
    _add_profile(sweeping)
    _add_grid(sweeping)
    _add_profile(command("check", "Show what was read from a profile, how it was resolved, and warnings."))
    _add_trace(command("trace", "Make a profile from the traces of PyTorch's profiler or MindSpore."))
    return parser


def _add_profile(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("profile", metavar="PROFILE", help="profile file, JSON or YAML")


def _add_pipeline(parser: argparse.ArgumentParser) -> None:
    add, usual = parser.add_argument, Pipeline(num_stages=1, num_micro_batches=1)
    add(FLAGS["num_stages"], dest="num_stages", type=_whole, required=True, metavar="S", help="pipeline ranks")
    add(
        FLAGS["num_micro_batches"],
        dest="num_micro_batches",
        type=_whole,
        required=True,
        metavar="M",
        help="micro-batches of one training step",
    )
    add(
        FLAGS["num_chunks"],
        dest="num_chunks",
        type=_whole,
        metavar="V",
        help="chunks a stage (default: what the schedule fixes, or 1)",
    )
    add(
        FLAGS["num_sequence_splits"],
        dest="num_sequence_splits",
        type=_whole,
        default=usual.num_sequence_splits,
        metavar="K",
        help="slices of a micro-batch along the sequence, for seqpipe schedules (default: %(default)s)",
    )
    _add_knobs(parser)


def _add_knobs(parser: argparse.ArgumentParser) -> None:
    """What shapes a schedule besides its sizes."""
    add, usual = parser.add_argument, Pipeline(num_stages=1, num_micro_batches=1)
    add(
        FLAGS["group_size"],
        type=_whole,
        metavar="G",
        help="micro-batches a group in interleaved schedules (default: S)",
    )
    add(
        FLAGS["remainder"],
        choices=tuple(map(str, Remainder)),
        default=str(Remainder.LAST),
        help="group that differs when M is no multiple of the group size (default: %(default)s)",
    )
    shares = (
        (
            "overlap_efficiency",
            "ETA",
            "overlapped ops: 0 one after the other, 1 the shorter one vanishes",
        ),
        ("input_gradient_share", "BETA", "of a split backward, the part that is its input gradient"),
        ("weight_gradient_memory_share", "SHARE", "of activations that stays until the weight gradient has run"),
    )
    for field, letter, meaning in shares:
        add(
            FLAGS[field],
            dest=field,
            type=_number,
            default=getattr(usual, field),
            metavar=letter,
            help=f"{meaning} (default: %(default)g)",
        )


def _add_scenario(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    _add_profile(parser)
    add("--schedule", choices=_SCHEDULE_NAMES, required=True, help="order of work")
    _add_pipeline(parser)
    add(
        FLAGS["memory_limit_mb"],
        dest="memory_limit_mb",
        type=_numbers,
        metavar="MB",
        help="MiB a stage may use: one number, or S numbers with commas (default: the profile's)",
    )
    _add_costs(parser)


def _add_costs(parser: argparse.ArgumentParser) -> None:
    """What is added to the profile's own costs."""
    add = parser.add_argument
    add(
        FLAGS["p2p_time"], type=_number, default=0.0, metavar="T", help="time of a transfer between stages (default: 0)"
    )
    add(
        FLAGS["constant_mb"],
        dest="constant_mb",
        type=_number,
        metavar="MB",
        help="MiB on every stage whatever it holds (default: the profile's)",
    )


def _add_balancing(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    usual = BalanceRequest(memory_limit_mb=None)
    add(
        "--objective",
        choices=tuple(map(str, Objective)),
        default=str(usual.objective),
        help="what is minimised (default: %(default)s)",
    )
    add(
        "--memory-model",
        choices=tuple(map(str, MemoryModel)),
        default=str(usual.memory_model),
        help="rows counted from the schedule, or SAPP's closed forms (default: %(default)s)",
    )
    add("--solver", choices=tuple(solver.name for solver in SOLVERS), default=usual.solver, help="default: %(default)s")
    add(
        FLAGS["time_limit"],
        type=_number,
        default=usual.time_limit,
        metavar="SECONDS",
        help="for the whole run (default: %(default)g)",
    )
    add(
        FLAGS["seed"],
        type=_whole,
        default=usual.seed,
        metavar="N",
        help="of the solver's random choices (default: %(default)s)",
    )
    add(
        FLAGS["start"],
        metavar="FILE",
        help="plan to begin from, as simulate --plan reads it; when it keeps limits and pins, the answer of the exact "
        "objective is never slower",
    )
    add(
        FLAGS["pinned"],
        dest="pinned",
        type=_pin,
        action="append",
        default=[],
        metavar="CHUNK.STAGE=LAYERS",
        help="body layers that a cell must hold, all kinds and recompute modes together, as 0.3=2; may be repeated",
    )
    add("--write-lp", metavar="FILE", help="write the integer program as an .lp file")


def _add_plan(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--plan",
        metavar="FILE",
        help="plan or result as JSON, MindFormers YAML, Megatron layout or launch flags (default: the even split)",
    )


def _add_files(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--export",
        dest="exports",
        type=_export,
        action="append",
        default=[],
        metavar="FORMAT=FILE",
        help=f"write the plan in a format; may be repeated; formats: {', '.join(_EXPORT_NAMES)}",
    )
    parser.add_argument(
        "--picture",
        dest="pictures",
        type=_picture,
        action="append",
        default=[],
        metavar="CHART=FILE",
        help=f"draw a chart as .png or .svg (needs the package kaleido and a browser); may be repeated; charts: "
        f"{', '.join(_PICTURE_NAMES)}",
    )


def _add_grid(parser: argparse.ArgumentParser) -> None:
    """Lists of a sweep as text: `sweep_command` reads them, all problems at once."""
    add = parser.add_argument
    add("--schedule", required=True, metavar="NAME,…", help=f"orders of work: {', '.join(_SCHEDULE_NAMES)}")
    lists = (
        ("num_stages", "S,…", None, "pipeline ranks: 4,8,16 or 4-16 step 4"),
        ("num_chunks", "V,…", "", "chunks a stage (default: what the schedule fixes, or 1)"),
        ("num_micro_batches", "M,…", "", "micro-batches of one training step and pipeline"),
        ("num_sequence_splits", "K,…", "", "slices of a micro-batch along the sequence (default: 1)"),
        ("memory_limit_mb", "MB,…", "", "MiB a stage may use, or none (default: the profile's)"),
        ("objective", "NAME,…", str(Objective.EXACT), f"of balancing: {', '.join(Objective)} (default: %(default)s)"),
    )
    for field, letters, default, meaning in lists:
        add(FLAGS[field], dest=field, default=default, required=default is None, metavar=letters, help=meaning)
    sizes = (
        ("devices", "D", None, "devices that all points share: S stages run D/S pipelines beside each other"),
        ("global_batch", "B", None, "samples in a step of all pipelines; micro-batches follow from it"),
        ("data_parallel", "N", 1, "pipelines beside each other, without --devices (default: %(default)s)"),
        ("micro_batch_size", "N", None, "samples in a micro-batch (default: the profile's, or 1)"),
    )
    for field, letter, number, meaning in sizes:
        add(FLAGS[field], dest=field, type=_whole, default=number, metavar=letter, help=meaning)
    _add_knobs(parser)
    _add_costs(parser)
    add(
        FLAGS["time_limit"],
        type=_number,
        metavar="SECONDS",
        help="balance each point for at most so long (default: simulate the even split with the least recomputation "
        "that fits)",
    )
    add(FLAGS["seed"], type=_whole, default=0, metavar="N", help="of the solver's random choices (default: 0)")
    add(FLAGS["workers"], type=_whole, metavar="N", help="processes on this machine (default: one for each core)")
    add(
        FLAGS["scheduler"],
        metavar="ADDRESS",
        help="work on a Dask cluster instead, as tcp://host:8786; needs the package distributed",
    )
    add("--csv", metavar="FILE", help="write every point as a line of CSV as well")


def _add_trace(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("files", metavar="TRACE", nargs="+", help="Chrome traces of one run, also packed with gzip, up to 200 MB each")
    add(
        "--kind",
        dest="kinds",
        nargs="+",
        action="append",
        default=[],
        metavar=("PLACE NAME FORWARD", "BACKWARD"),
        help="a layer kind: HEAD, BODY or TAIL, its name, and patterns of its events: * is any text, # the layer's "
        "number, 'A > B' a B during an A, 'A | B' one of both; may be repeated (default: a proposal from the "
        "names of the trace)",
    )
    add(
        "--parts",
        action="append",
        default=[],
        metavar="NAME",
        help="of this kind a match is a part of a layer, not a whole one; may be repeated",
    )
    add(
        "--layers",
        type=_count,
        action="append",
        default=[],
        metavar="NAME=LAYERS",
        help="layers of this kind in the model (default: as many as the trace has); may be repeated",
    )
    add("--runs", type=_positive, metavar="N", help="runs of each layer, steps × micro-batches (default: as seen)")
    add(
        "--skip",
        dest="skipped",
        type=_positive,
        default=0,
        metavar="N",
        help="first runs of each layer to leave out as warm-up (default: none)",
    )
    add(
        "--recomputed",
        choices=tuple(map(str, RecomputeMode)),
        default=str(RecomputeMode.NONE),
        help="recompute mode of the traced run (default: %(default)s)",
    )
    add("--memory-from", metavar="PROFILE", help="profile that gives memory, which traces do not have")
    add("--write", metavar="FILE", help="write the profile, as JSON if the file ends in .json, else as YAML")


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a whole number, found {text!r}") from None


def _positive(text: str) -> int:
    number = _whole(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, found {text!r}")
    return number


def _count(text: str) -> tuple[str, int]:
    name, _, number = text.rpartition("=")
    if not name:
        raise argparse.ArgumentTypeError(f"must be NAME=LAYERS such as DecoderLayer=32, found {text!r}")
    return name, _positive(number)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number, found {text!r}") from None


def _change(text: str) -> float:
    percent = _number(text)
    if not _LEAST_CHANGE <= percent <= _MOST_CHANGE:
        raise argparse.ArgumentTypeError(
            f"must be a percentage from {_LEAST_CHANGE:g} to {_MOST_CHANGE:g}, found {text!r}"
        )
    return percent / 100


def _numbers(text: str) -> float | tuple[float, ...]:
    numbers = tuple(map(_number, text.split(",")))
    return numbers[0] if len(numbers) == 1 else numbers


def _pin(text: str) -> Pin:
    numbers = re.fullmatch(r"(\d+)\.(\d+)=(\d+)", text, re.ASCII)
    if numbers is None:
        raise argparse.ArgumentTypeError(
            f"must be CHUNK.STAGE=LAYERS, whole numbers of at least 0 such as 0.3=2, found {text!r}"
        )
    return Pin(*map(int, numbers.groups()))


def _export(text: str) -> tuple[str, str]:
    return _name_and_file(text, "FORMAT", _EXPORT_NAMES)


def _picture(text: str) -> tuple[str, str]:
    name, file = _name_and_file(text, "CHART", _PICTURE_NAMES)
    if PurePath(file).suffix.lower() not in {f".{known}" for known in PictureFormat}:
        endings = " or ".join(f".{known}" for known in PictureFormat)
        raise argparse.ArgumentTypeError(f"the file must end in {endings}, found {text!r}")
    return name, file


def _name_and_file(text: str, word: str, names: tuple[str, ...]) -> tuple[str, str]:
    name, _, file = text.partition("=")
    if name not in names or not file:
        raise argparse.ArgumentTypeError(
            f"must be {word}=FILE with a {word.lower()} of {', '.join(names)}, found {text!r}"
        )
    return name, file
