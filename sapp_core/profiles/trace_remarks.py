"""What makes times from a trace doubtful, a sentence each."""

from collections.abc import Iterator

import numpy as np

from sapp_core.domain.profile import LayerKind
from sapp_core.profiles.trace import Trace
from sapp_core.profiles.trace_kinds import KindPatterns, KindTimes
from sapp_core.profiles.trace_times import LayerTimes, Match

LARGE_SPREAD = 0.2
FEW_RUNS = 5


def remarks(kind: KindPatterns, times: LayerTimes, trace: Trace) -> Iterator[str]:
    """What makes a time doubtful."""
    if times.on_host:
        yield (
            "these are times of the host, which issues the work of the device before it runs; take names that the "
            "device has as well, such as labels of record_function (category gpu_user_annotation)."
        )
    if times.spread > LARGE_SPREAD:
        yield f"the middle half of the times spreads over {100 * times.spread:.0f} % of the median."
    if min(times.runs) < FEW_RUNS:
        yield f"runs of a layer that the median rests on: {min(times.runs):g}; {FEW_RUNS} and more tell outliers apart."
    if times.first_share is not None and abs(times.first_share - 1) > LARGE_SPREAD:
        yield (
            f"first runs take {100 * times.first_share:.0f} % of the median; leave them out as warm-up if they are few."
        )
    apart = _far_apart(times)
    if apart:
        yield apart
    if kind.match is Match.PART:
        yield from _remarks_on_parts(times)
    else:
        texts = {trace.names[i].text for i in np.unique(trace.name[times.rows])}
        if len(texts) > len(times.layers):
            yield (
                f"events of {len(texts):,} names count each as a whole layer; if they are parts of one, choose that a "
                f"match is a part."
            )


def _remarks_on_parts(times: LayerTimes) -> Iterator[str]:
    if times.uneven_names:
        yield (
            f"of {times.num_names:,} names, {times.uneven_names:,} do not occur equally often in each run, and add "
            f"their mean; check the runs of a layer."
        )
    if times.num_tracks > 1:
        yield (
            f"the parts are on {times.num_tracks:,} threads or streams; their times are added up, though they may "
            f"overlap."
        )


def _far_apart(times: LayerTimes) -> str:
    """A sentence when a layer takes far longer or shorter than the others."""
    if len(times.layers) < 2 or not times.time:
        return ""
    shares = [median / times.time - 1 for median in times.medians]
    i = max(range(len(shares)), key=lambda i: abs(shares[i]))
    if abs(shares[i]) <= LARGE_SPREAD:
        return ""
    return f"layer {times.layers[i]} takes {100 * (1 + shares[i]):.0f} % of the median layer; it may be another kind."


def remarks_on_layers(kind: KindTimes) -> Iterator[str]:
    """How the layers of the trace go with those of the model."""
    times, given = kind.forward, kind.patterns.num_layers
    if times and times.layers[0] < 0 and given is None and kind.patterns.kind is LayerKind.BODY:
        yield f"{kind.patterns.name}: the pattern does not number the layers, so they count as 1; type their number."
    elif times and given is not None and times.layers[0] >= 0 and len(times.layers) != given:
        yield (
            f"{kind.patterns.name}: layers of this kind: {len(times.layers):,} in the trace, {given:,} in the model; "
            f"each counts as one of the trace."
        )
    elif times and given is None and times.layers[0] >= 0 and kind.patterns.kind is LayerKind.BODY:
        yield (
            f"{kind.patterns.name}: the layers of the trace, {len(times.layers):,}, count as all of the model; a trace "
            f"of one stage has only some, so type the number where it is larger."
        )
