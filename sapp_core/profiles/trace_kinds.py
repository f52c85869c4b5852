"""The layer kinds that a user names by patterns, and their times in a trace."""

from dataclasses import dataclass

from sapp_core.domain.profile import LayerKind
from sapp_core.profiles.trace_times import LayerTimes, Match

FORWARD, BACKWARD = "forward", "backward"


@dataclass(frozen=True, slots=True)
class KindPatterns:
    """A layer kind and how its events are called.

    Attributes:
        name: of the kind.
        kind: head, body or tail.
        forward: pattern of its forward, see `trace_patterns`; empty = not in the trace.
        backward: of its backward; empty = not in the trace.
        match: what one event is.
        num_layers: of the model; None = as many as the trace has.
    """

    name: str
    kind: LayerKind
    forward: str
    backward: str = ""
    match: Match = Match.LAYER
    num_layers: int | None = None

    @property
    def directions(self) -> tuple[tuple[str, str], ...]:
        """Direction and pattern."""
        return (FORWARD, self.forward), (BACKWARD, self.backward)


@dataclass(frozen=True, slots=True, eq=False)
class KindTimes:
    """What the trace says about a kind.

    Attributes:
        patterns: of the kind.
        forward: None = nothing.
        backward: None = nothing.
    """

    patterns: KindPatterns
    forward: LayerTimes | None
    backward: LayerTimes | None

    @property
    def num_layers(self) -> int:
        """Of the model: as given, or as many as the trace has."""
        return self.patterns.num_layers or (len(self.forward.layers) if self.forward else 1)

    @property
    def directions(self) -> tuple[tuple[str, str, LayerTimes | None], ...]:
        """Direction, pattern, times."""
        return (
            (FORWARD, self.patterns.forward, self.forward),
            (BACKWARD, self.patterns.backward, self.backward),
        )
