"""A schedule's order of work in the words of those who run it: by name, as text and as JSON."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sapp_core.domain.schedule import Schedule
from sapp_core.interchange import paddle
from sapp_core.interchange.paddle import OPTIMIZER, PaddleMode
from sapp_core.interchange.result import Json, schedule_object

Words = tuple[tuple[str, ...], ...]
"""`[stage][job]`."""


@dataclass(frozen=True, slots=True)
class OrderFormat:
    """One way to write an order down; each function raises `FormatError` where the format has no words for it.

    Attributes:
        name: of the format on the command line.
        title: for readers.
        words: every job of every stage as one word: `F0.3`, `forward0.3` (chunk 0, micro-batch 3).
        as_json: the object for a file, given the schedule and its most in flight, `[stage][chunk]`.
    """

    name: str
    title: str
    words: Callable[[Schedule], Words]
    as_json: Callable[[Schedule, Sequence[Sequence[float]]], Json]


def _paddle(mode: PaddleMode, title: str) -> OrderFormat:
    return OrderFormat(
        name=str(mode),
        title=title,
        words=lambda schedule: tuple(
            tuple(kind if kind == OPTIMIZER else f"{kind}.{micro_batch}" for kind, micro_batch in stage)
            for stage in paddle.job_lists(schedule, mode)
        ),
        as_json=lambda schedule, _: paddle.job_object(schedule, mode),
    )


ORDER_FORMATS: tuple[OrderFormat, ...] = (
    OrderFormat("ops", "Ops of the paper (F, B, I, W)", Schedule.tokens, schedule_object),
    _paddle(PaddleMode.PLAIN, "Paddle jobs"),
    _paddle(PaddleMode.TRANSFERS, "Paddle jobs with transfers"),
    _paddle(PaddleMode.SPLIT, "Paddle jobs with split backwards"),
)


def order_format(name: str) -> OrderFormat:
    """The format of a name, which is known."""
    return next(known for known in ORDER_FORMATS if known.name == name)


def job_columns(words: Words) -> dict[str, list[str]]:
    """A column for each stage, a row for each job; shorter lists end with empty rows."""
    longest = max(map(len, words))
    return {f"Stage {stage}": [*jobs, *[""] * (longest - len(jobs))] for stage, jobs in enumerate(words)}
