"""What a balancing worker is sent and what it sends back, besides `Progress`."""

from dataclasses import dataclass

from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.profile import ModelProfile
from sapp_core.domain.request import BalanceRequest
from sapp_core.domain.result import BalanceResult
from sapp_core.errors import SappError


@dataclass(frozen=True, slots=True)
class Job:
    """One balancing run. The schedule is named, not sent: making it is quicker than moving it.

    Attributes:
        profile: what to place.
        schedule_name: as registered.
        pipeline: where.
        request: limits and choices.
    """

    profile: ModelProfile
    schedule_name: str
    pipeline: Pipeline
    request: BalanceRequest


@dataclass(frozen=True, slots=True)
class Improved:
    """A better plan, while the run goes on."""

    result: BalanceResult


@dataclass(frozen=True, slots=True)
class Ended:
    """The last message."""

    answer: BalanceResult | SappError
