"""Everything a user can put right is a `SappError`: one sentence a problem, all problems of an input at once."""


class SappError(ValueError):
    """Wrong input or an impossible request.

    Args:
        problems: one sentence each; a sentence names the field, the rule and the nearest legal values.
    """

    def __init__(self, *problems: str) -> None:
        super().__init__(*problems)

    @property
    def problems(self) -> tuple[str, ...]:
        """The sentences, in the order of the input."""
        return tuple(str(problem) for problem in self.args)

    def __str__(self) -> str:
        return "\n".join(self.problems)


class ProfileError(SappError):
    """A profile file, or what stands in it, cannot be used."""


class PipelineError(SappError):
    """Pipeline settings are out of range or do not fit the schedule."""


class ScheduleError(SappError):
    """A schedule's order cannot run: an op is missing, doubled, or waits for itself."""


class PlanError(SappError):
    """A plan does not place the profile's layers on the pipeline's cells."""


class FormatError(SappError):
    """A file of another framework cannot be read, or a plan cannot be said in its words."""


class SolverError(SappError):
    """A solver is not installed or ended without an answer we can trust."""
