"""A measured trace → an ordinary profile: times of the trace, memory of another profile.

A trace has no memory and shows one recompute mode, the one of its run. The backward time under mode `r` is

    measured backward + extra(r) − extra(mode of the run),     extra(r) = e_r · forward

where `e_r` is what the profile that gives the memory says, (backward_r − backward_none) / forward, and else twice the
default coefficient of profile files. A backward that was not measured is 2 · forward + extra(r). Times become ms.
"""

from collections.abc import Iterator

from sapp_core.domain.profile import MAX_LAYERS, MODES, LayerKind, LayerProfile, ModelProfile, RecomputeMode
from sapp_core.errors import ProfileError
from sapp_core.profiles.load import LoadedProfile
from sapp_core.profiles.save import profile_rows, with_rows
from sapp_core.profiles.schema import MODE_KEYS
from sapp_core.profiles.trace_kinds import KindTimes
from sapp_core.profiles.trace_measure import Measurement

TIME_UNIT = "ms"
MICROSECONDS = 1000.0
"""In one unit of the profile's time."""


def trace_profile(
    measured: Measurement, name: str, memory: ModelProfile | None, run_under: RecomputeMode = RecomputeMode.NONE
) -> LoadedProfile:
    """The profile of a measured trace; what is odd about its files is not repeated among the warnings.

    Args:
        measured: times of all kinds.
        name: of the profile.
        memory: gives memory, training sizes and memory limit; a kind takes that of the kind of its name, or else of
            the one at its place within head, body or tail. None = no memory.
        run_under: what the traced run recomputed.

    Raises:
        ProfileError: the patterns make no profile, or one that breaks a rule of profile files; one sentence a reason.
    """
    problems = list(measured.problems)
    total = sum(kind.num_layers for kind in measured.kinds)
    if total > MAX_LAYERS:
        problems.append(f"layers: must be at most {MAX_LAYERS:,} in all, found {total:,}.")
    if problems:
        raise ProfileError(*problems)
    warnings = [*measured.warnings]
    layers = []
    for kind, remembered in zip(measured.kinds, _partners(measured, memory), strict=True):
        warnings += _unmeasured(kind, remembered, memory, run_under)
        layers.append(_layer(kind, remembered, run_under))
    if not any(layer.forward_time for layer in layers):
        raise ProfileError("the matching events must take time, found only times of 0; choose other names.")
    profile = ModelProfile(
        name=name,
        layers=tuple(layers),
        constant_mb=memory.constant_mb if memory else 0.0,
        time_unit=TIME_UNIT,
        training=memory.training if memory else None,
        memory_limit_mb=memory.memory_limit_mb if memory else None,
    )
    checked = with_rows(profile, profile_rows(profile))
    return LoadedProfile(checked.profile, (*warnings, *checked.warnings))


def _partners(measured: Measurement, memory: ModelProfile | None) -> Iterator[LayerProfile | None]:
    """The kind of the other profile that gives its memory, for each kind."""
    known = memory.layers if memory else ()
    seen: dict[LayerKind, int] = {}
    for kind in measured.kinds:
        place = kind.patterns.kind
        position = seen.get(place, 0)
        seen[place] = position + 1
        of_place = [layer for layer in known if layer.kind is place]
        named = next((layer for layer in of_place if layer.name == kind.patterns.name), None)
        yield named or (of_place[position] if position < len(of_place) else None)


def _layer(kind: KindTimes, remembered: LayerProfile | None, run_under: RecomputeMode) -> LayerProfile:
    place = kind.patterns.kind
    forward = kind.forward.time / MICROSECONDS if kind.forward else 0.0
    shares = _extra_shares(remembered)
    measured = kind.backward.time / MICROSECONDS if kind.backward else None
    if place is not LayerKind.BODY:
        backward = (2 * forward if measured is None else measured,) * len(MODES)
    elif measured is None:
        backward = tuple((2 + share) * forward for share in shares)
    else:
        plain = measured - shares[MODES.index(run_under)] * forward
        backward = tuple(max(plain + share * forward, 0.0) for share in shares)
    nothing = (0.0, *(None for _ in MODES[1:]))
    return LayerProfile(
        name=kind.patterns.name,
        kind=place,
        num_layers=kind.num_layers,
        forward_time=forward,
        backward_time=backward,
        parameter_mb=remembered.parameter_mb if remembered else 0.0,
        activation_mb=remembered.activation_mb if remembered else nothing,
    )


def _extra_shares(remembered: LayerProfile | None) -> tuple[float, ...]:
    """`[r]`: extra backward time of each mode, of the forward time."""
    if remembered is None or not remembered.forward_time:
        return tuple(2 * keys.default for keys in MODE_KEYS)
    plain = remembered.backward_time[0]
    return tuple(max(time - plain, 0.0) / remembered.forward_time for time in remembered.backward_time)


def _unmeasured(
    kind: KindTimes, remembered: LayerProfile | None, memory: ModelProfile | None, run_under: RecomputeMode
) -> Iterator[str]:
    """What the profile says about a kind that the trace does not."""
    name = kind.patterns.name
    if kind.forward is None:
        yield f"{name}: its forward was not measured and counts 0; type it into the table."
    if kind.backward is None and kind.forward is not None:
        yield f"{name}: its backward was not measured; it is taken as twice the forward."
    if "recompute" in kind.patterns.backward and run_under is RecomputeMode.NONE:
        yield f"{name}: the pattern of its backward takes recomputation in; say what the run recomputed."
    if kind.patterns.kind is LayerKind.BODY and kind.backward is not None:
        source = f"{remembered.name} of {memory.name}" if remembered and memory else "the defaults of profile files"
        yield f"{name}: what recomputation adds to its backward was not measured; it follows {source}."
    if memory is not None and remembered is None:
        yield f"{name}: {memory.name} has no such kind, so its memory is 0."
