"""One of the scenarios that are compared."""

from dataclasses import dataclass

from sapp_core.domain.plan import Plan
from sapp_core.domain.profile import MODES
from sapp_core.domain.result import BalanceResult
from sapp_core.domain.scenario import Scenario
from sapp_core.domain.timeline import Evaluation


@dataclass(frozen=True, slots=True)
class Candidate:
    """A scenario and a plan for it, simulated.

    Attributes:
        name: for the reader.
        scenario: all inputs.
        evaluation: of the plan.
        result: of the run that found the plan; None for a plan that was not balanced.
    """

    name: str
    scenario: Scenario
    evaluation: Evaluation
    result: BalanceResult | None = None

    @property
    def plan(self) -> Plan:
        """Where its layers are."""
        return self.evaluation.plan

    @property
    def limits(self) -> tuple[float, ...] | None:
        """`[stage]`, MiB; None when memory is not limited."""
        return self.scenario.request.limits(self.scenario.pipeline.num_stages)

    @property
    def stages_over(self) -> tuple[int, ...]:
        """Stages that need more than they may."""
        return self.evaluation.stages_over(self.limits)

    @property
    def own_work(self) -> float:
        """The model's own work of one stage in a step, in the profile's time unit."""
        return self.evaluation.step_time / (1 + self.evaluation.bubble.total)

    @property
    def layers_by_mode(self) -> tuple[int, ...]:
        """`[r]`, body layers under each of `MODES`; those of a bidirectional pipeline once."""
        pipeline = self.scenario.pipeline
        cells = [pipeline.cells(v)[0] for v in range(pipeline.num_virtual_stages)]
        return tuple(
            sum(layer.counts[r][chunk][stage] for layer in self.plan.layers for chunk, stage in cells)
            for r in range(len(MODES))
        )
