"""Numbers that carry their own formula: a value and the text of how it came about are made from the same factors."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod


@dataclass(frozen=True, slots=True)
class Term:
    """One addend of a sum.

    Attributes:
        what: what it counts, in words.
        value: the number.
        formula: its factors with the numbers filled in.
    """

    what: str
    value: float
    formula: str

    def __str__(self) -> str:
        return f"{self.what} {self.formula}"


@dataclass(frozen=True, slots=True)
class Explained:
    """A number of a profile and where it comes from.

    Attributes:
        layer: name of the layer kind.
        quantity: which number of the layer.
        value: the number.
        unit: of the number.
        formula: in words, with all numbers filled in.
    """

    layer: str
    quantity: str
    value: float
    unit: str
    formula: str


def product(what: str, *factors: float, over: float = 1) -> Term:
    """The product of some factors, divided by `over`; factors of 1 are not written."""
    shown = [plain(factor) for factor in factors if factor != 1] or ["1"]
    divided = f" ÷ {plain(over)}" if over != 1 else ""
    return Term(what, prod(factors) / over, " × ".join(shown) + divided)


def total(terms: Sequence[Term]) -> float:
    """The sum of the values."""
    return sum(term.value for term in terms)


def written(terms: Sequence[Term]) -> str:
    """The sum in words; 0 when there is nothing to add."""
    return " + ".join(map(str, terms)) or "0"


def plain(number: float) -> str:
    """A number as people write it: thousands apart, no more digits than it has."""
    return f"{number:,.0f}" if float(number).is_integer() else f"{number:,.6g}"
