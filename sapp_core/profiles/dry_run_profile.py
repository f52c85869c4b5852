"""A dry-run file → `ModelProfile`, with what the user should know about how far it can be trusted."""

from dataclasses import dataclass

from sapp_core.documents.report import Report
from sapp_core.documents.section import Section, read_sections
from sapp_core.domain.profile import MODES, LayerKind, LayerProfile, ModelProfile
from sapp_core.errors import ProfileError
from sapp_core.profiles.dry_run import Decomposition, Unsolvable, decompose
from sapp_core.profiles.dry_run_file import PEAKS, TIMES, DryRunFile, is_dry_run, read_dry_run
from sapp_core.profiles.dry_run_guide import Proposal, propose
from sapp_core.profiles.schema import LAYERS, MODE_KEYS, SETTINGS

LARGE_RESIDUAL = 0.02
HEAD, BODY, TAIL = "Head", "Body", "Tail"


def read_dry_run_profile(top: Section, name: str) -> ModelProfile:
    """The profile of a dry-run file; warnings go to the section's report.

    Args:
        top: the parsed file.
        name: of the profile.

    Raises:
        SappError: with all that is wrong with the file; or why its peaks determine no profile, and a dry run that
            would.
    """
    report = top.report
    file = read_dry_run(top)
    if not top.has(TIMES):
        report.refuse(TIMES, "is missing; must give the forward times of head, body and tail.")
    report.raise_problems()
    if file is None or file.times is None:
        report.stop("", "does not hold a dry run.")
    solved = decompose(file.dry_run)
    if isinstance(solved, Unsolvable):
        report.stop(PEAKS, f"{solved.reason} {_way_out(proposal_for(file))}")
    for sentence in warnings_on(solved):
        report.warn(PEAKS, sentence)
    return profile_of(file, solved, name)


@dataclass(frozen=True, slots=True)
class SolvedDryRun:
    """A dry-run file and what its peaks say, whether or not that is enough for a profile.

    Attributes:
        file: as read.
        answer: memory of the parts, or why it cannot be told.
    """

    file: DryRunFile
    answer: Decomposition | Unsolvable


def solve_dry_run(data: bytes, source: str) -> SolvedDryRun:
    """Read a dry-run file, with or without times, and solve it.

    Raises:
        ProfileError: with all that is wrong with the file, one sentence each: path, rule, what was found.
    """
    report = Report(source, ProfileError)
    top = read_sections(data, report)
    if not is_dry_run(top):
        report.stop("", f"is not a dry-run file; must hold {SETTINGS}, {PEAKS} and no {LAYERS}.")
    file = read_dry_run(top)
    report.raise_problems()
    if file is None:
        report.stop("", "does not hold a dry run.")
    return SolvedDryRun(file, decompose(file.dry_run))


def proposal_for(file: DryRunFile) -> Proposal | None:
    """A next dry run of the same model, for the modes of this one."""
    return propose(file.dry_run.num_stages, file.num_layers, file.dry_run.modes)


def warnings_on(solved: Decomposition) -> tuple[str, ...]:
    """What makes an answer doubtful, one sentence each."""
    said = []
    if solved.constant_mb is None:
        said.append("one stage too few was measured to tell the constant, so it counts as 0 MB.")
    said += [
        f"{what} come out as {value:,.0f} MB; a profile holds nothing below 0, so 0 MB is used and memory is "
        f"overestimated by up to so much."
        for what, value in _parts(solved)
        if value < 0
    ]
    said += [
        f"round {residual.measured.round}, stage {residual.measured.stage}: the answer gives "
        f"{residual.predicted_mb:,.0f} MB, measured are {residual.measured.peak_mb:,.0f} MB "
        f"({100 * residual.share:.1f} % apart)."
        for residual in solved.residuals
        if residual.share > LARGE_RESIDUAL
    ]
    return tuple(said)


def profile_of(file: DryRunFile, solved: Decomposition, name: str) -> ModelProfile:
    """An ordinary profile; backward times by the coefficients of profile files that give none."""
    times = file.times
    head, body, tail = (times.head, times.body, times.tail) if times else (0.0, 0.0, 0.0)
    return ModelProfile(
        name=name,
        layers=(
            _end(HEAD, LayerKind.HEAD, head, solved.head_mb),
            LayerProfile(
                BODY,
                LayerKind.BODY,
                file.num_layers,
                body,
                tuple((1 + keys.default) * 2 * body for keys in MODE_KEYS),
                max(solved.parameter_mb, 0.0),
                tuple(None if value is None else max(value, 0.0) for value in solved.activation_mb),
            ),
            _end(TAIL, LayerKind.TAIL, tail, solved.tail_mb),
        ),
        constant_mb=max(solved.constant_mb or 0.0, 0.0),
        memory_limit_mb=file.memory_limit_mb,
    )


def _end(name: str, kind: LayerKind, time: float, memory: float) -> LayerProfile:
    activation = (0.0, *(None for _ in MODES[1:]))
    return LayerProfile(name, kind, 1, time, (2 * time,) * len(MODES), max(memory, 0.0), activation)


def _parts(solved: Decomposition) -> list[tuple[str, float]]:
    activations = [
        (f"the activations under {mode}", value)
        for mode, value in zip(MODES, solved.activation_mb, strict=True)
        if value is not None
    ]
    return [
        ("the constant parts", solved.constant_mb or 0.0),
        ("the parameters of a layer", solved.parameter_mb),
        *activations,
        ("the parameters of the head", solved.head_mb),
        ("the parameters of the tail", solved.tail_mb),
    ]


def _way_out(proposal: Proposal | None) -> str:
    if proposal is None:
        return "The model has too few layers for any dry run to tell."
    rounds = f"{len(proposal.rounds)} rounds" if len(proposal.rounds) > 1 else "one round"
    few = ", ".join(map(str, proposal.offsets[0][:16])) + (", …" if proposal.num_stages > 16 else "")
    return f"A dry run that would do: {rounds} on {proposal.num_stages:,} stages, the first with the offsets {few}."
