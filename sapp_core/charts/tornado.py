"""Which numbers of a profile a plan's step time, or its memory, depends on most: a tornado chart."""

import plotly.graph_objects as go

from sapp_core.charts.numbers import memory_text, percent_text, signed_percent_text, time_text
from sapp_core.charts.scene import scenario_line
from sapp_core.charts.theme import Figure, Theme, axis, framed, plain
from sapp_core.domain.sensitivity import Reaction, Sensitivity
from sapp_core.domain.timeline import Evaluation

MOST_BARS = 12
_SHORTEST = 0.001
"""Share of the plan's value; a shorter bar cannot be seen."""

_ROW_PX = 38
_LABEL_LETTERS = 17


def tornado_figure(found: Sensitivity, evaluation: Evaluation, theme: Theme, *, memory: bool = False) -> Figure:
    """A bar to each side of the plan's value for each number, the most important on top.

    Args:
        found: reactions.
        evaluation: of the plan.
        theme: colours of the paper.
        memory: whether to show the highest peak of memory instead of the step time.
    """
    base = found.peak_mb if memory else found.step_time
    reactions = drawn(found, memory=memory)
    ends = [value / base - 1 for reaction in reactions for value in (reaction.lower, reaction.higher)] or [0.0]
    # Room for the numbers beyond both ends.
    reach = 1.7 * max(map(abs, ends)) or 0.01
    share = percent_text(found.share, 0)
    unit = plain(evaluation.profile.time_unit, 12)
    sides = (
        (f"{share} smaller", [reaction.lower for reaction in reactions], theme.other, ["" for _ in reactions]),
        (
            f"{share} larger"
            + (" (hatched: no longer fits)" if any(reaction.excess for reaction in reactions) else ""),
            [reaction.higher for reaction in reactions],
            theme.accent,
            ["x" if reaction.excess else "" for reaction in reactions],
        ),
    )
    traces = [
        go.Bar(
            orientation="h",
            name=name,
            y=[_label(reaction) for reaction in reactions],
            x=[value / base - 1 for value in values],
            marker={"color": fill, "line": {"width": 0}, "pattern": {"shape": patterns, "fgcolor": theme.alarm}},
            text=[signed_percent_text(value / base - 1) for value in values],
            textposition="outside",
            textfont={"color": theme.text, "size": 11},
            cliponaxis=False,
            hovertext=[
                _hover(reaction, value, unit, memory=memory) for reaction, value in zip(reactions, values, strict=True)
            ],
            hovertemplate="%{hovertext}<extra>" + name + "</extra>",
        )
        for name, values, fill, patterns in sides
    ]  # fmt: skip
    what = "Highest peak" if memory else "Step time"
    return framed(
        traces,
        theme,
        title=f"{what}, one number ±{share}",
        subtitle=scenario_line(evaluation),
        height=154 + _ROW_PX * max(len(reactions), 1),
        layout={
            "barmode": "overlay",
            "bargap": 0.3,
            "dragmode": False,
            "margin": {"l": 132, "r": 16, "t": 66, "b": 88},
            "xaxis": axis(
                theme,
                f"{what} compared with the plan as it is",
                {
                    "range": [-reach, reach],
                    "tickformat": ".1~%",
                    "fixedrange": True,
                    "nticks": 6,
                    "zeroline": True,
                    "zerolinecolor": theme.line,
                },
            ),
            "yaxis": axis(
                theme,
                "",
                {
                    "autorange": "reversed",
                    "showgrid": False,
                    "fixedrange": True,
                    "ticksuffix": " ",
                    "tickfont": {"size": 11},
                },
            ),
        },
    )  # fmt: skip


def drawn(found: Sensitivity, *, memory: bool = False) -> tuple[Reaction, ...]:
    """The reactions that a tornado shows: large enough to be seen, or beyond a limit; at least the largest one.

    Args:
        found: all of them.
        memory: those of the highest peak instead of the step time.
    """
    reactions, base = (found.memory, found.peak_mb) if memory else (found.times, found.step_time)
    large = [reaction for reaction in reactions if reaction.swing >= _SHORTEST * base or reaction.excess]
    return tuple(large[:MOST_BARS]) or reactions[:1]


def sensitivity_rows(found: Sensitivity, time_unit: str) -> list[dict[str, str | float | None]]:
    """A row for each number, those that change nothing last: what tables and CSV files hold.

    Args:
        found: reactions.
        time_unit: of the profile.
    """
    rows = [
        _row(reaction, unit, value, base)
        for reactions, unit, value, base in (
            (found.times, time_unit, "Step time", found.step_time),
            (found.memory, "MiB", "Highest peak", found.peak_mb),
        )
        for reaction in reactions
    ]
    idle: list[dict[str, str | float | None]] = [
        {
            "Layer": number.layer or "all stages",
            "Number": number.words,
            "Value": number.value,
            "Unit": time_unit if number.quantity.is_time else "MiB",
            "Moves": "nothing",
            "If smaller": None,
            "If larger": None,
            "Change if smaller": None,
            "Change if larger": None,
            "Beyond the limit, MiB": None,
        }
        for number in found.idle
    ]
    return rows + idle


def _row(reaction: Reaction, unit: str, moves: str, base: float) -> dict[str, str | float | None]:
    return {
        "Layer": reaction.number.layer or "all stages",
        "Number": reaction.number.words,
        "Value": reaction.number.value,
        "Unit": unit,
        "Moves": moves,
        "If smaller": reaction.lower,
        "If larger": reaction.higher,
        "Change if smaller": reaction.lower / base - 1,
        "Change if larger": reaction.higher / base - 1,
        "Beyond the limit, MiB": reaction.excess.mb if reaction.excess else None,
    }


def _label(reaction: Reaction) -> str:
    number = reaction.number
    where = plain(number.layer, _LABEL_LETTERS) if number.layer else "all stages"
    kind = str(number.quantity).replace("memory", "mem.") + (f" ({number.mode})" if number.words.endswith(")") else "")
    return f"{where}<br>{kind}"


def _hover(reaction: Reaction, value: float, unit: str, *, memory: bool) -> str:
    number = reaction.number
    own = f"{number.value:,.6g} {'MiB' if memory else unit}"
    told = memory_text(value) if memory else time_text(value, unit)
    where = f"{plain(number.layer)}: " if number.layer else ""
    text = f"{where}{number.words}, {own} → <b>{told}</b>"
    if memory and reaction.excess and value == reaction.higher:
        text += f"<br>stage {reaction.excess.stage} would need {memory_text(reaction.excess.mb)} more than its limit"
    return text
