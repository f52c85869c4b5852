"""The timed events of a profiler's trace, in columns. Times are microseconds, as the Trace Event Format has them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Name:
    """What events are called.

    Attributes:
        text: name.
        category: `cat` of the events; empty = none.
    """

    text: str
    category: str


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """Timed events, sorted by track, then start, then the longer one first.

    Attributes:
        names: different names.
        tracks: threads or streams of the trace, `process · thread` as far as it says them.
        process: `[track]`, number of the process it belongs to.
        name: `[event]`, position in `names`.
        track: `[event]`, position in `tracks`.
        start: `[event]`, µs.
        duration: `[event]`, µs.
        notes: what a reader should know, a sentence each.
    """

    names: tuple[Name, ...]
    tracks: tuple[str, ...]
    process: NDArray[np.int32]
    name: NDArray[np.int32]
    track: NDArray[np.int32]
    start: NDArray[np.float64]
    duration: NDArray[np.float64]
    notes: tuple[str, ...]

    @property
    def num_events(self) -> int:
        """Timed events."""
        return len(self.name)
