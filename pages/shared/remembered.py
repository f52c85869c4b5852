"""Values remembered by what they were made from, as many as fit into so many bytes."""

import gc
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from types import FunctionType, ModuleType
from typing import ParamSpec, TypeVar

import streamlit as st

from pages.shared.server_settings import settings

_Args = ParamSpec("_Args")
_Value = TypeVar("_Value")

_NOT_OURS = (type, ModuleType, FunctionType)
"""Everybody refers to these; they are there anyway."""

_LOOKED_AT = 4096
"""Of more parts that are equally deep in a value so many are weighed for all: a long timeline has half a million."""


class Remembered:
    """The values used last, together not heavier than a budget.

    Args:
        budget: bytes.
    """

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._done = threading.Condition()
        self._values: OrderedDict[object, tuple[object, int]] = OrderedDict()
        self._in_work: set[object] = set()
        self._bytes = 0

    @property
    def bytes(self) -> int:
        """Weight of all that is remembered."""
        return self._bytes

    def get(self, key: object, make: Callable[[], _Value]) -> _Value:
        """The remembered value, or else a new one; who asks while another session makes it waits for that one.

        Args:
            key: equal for equal values.
            make: the value; what it raises is not remembered.
        """
        with self._done:
            self._done.wait_for(lambda: key not in self._in_work)
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key][0]  # type: ignore[return-value]
            self._in_work.add(key)
        try:
            value = make()
            self._keep(key, value, weight(value))
        finally:
            with self._done:
                self._in_work.discard(key)
                self._done.notify_all()
        return value

    def _keep(self, key: object, value: object, size: int) -> None:
        # What alone is heavier than the budget goes at once.
        with self._done:
            self._values[key] = value, size
            self._bytes += size
            while self._bytes > self._budget:
                _, (_, gone) = self._values.popitem(last=False)
                self._bytes -= gone


def weight(value: object) -> int:
    """Bytes of a value and of all it refers to; what several values share counts for each of them.

    Where much lies equally deep it is an estimate: every k-th part is weighed, k times.
    """
    seen: set[int] = set()
    layer, size, each = [value], 0, 1
    while layer:
        skip = -(-len(layer) // _LOOKED_AT)
        each *= skip
        fresh = []
        for part in layer[::skip]:
            if id(part) not in seen and not isinstance(part, _NOT_OURS):
                seen.add(id(part))
                fresh.append(part)
                size += each * sys.getsizeof(part)
        layer = gc.get_referents(*fresh)
    return size


@st.cache_resource(show_spinner=False)
def server_memory() -> Remembered:
    """What this server remembers."""
    return Remembered(settings().cache_mb * 2**20)


def remembered(content: Callable[[object], object]) -> Callable[[Callable[_Args, _Value]], Callable[_Args, _Value]]:
    """A function whose values are remembered by the content of its arguments.

    Args:
        content: a hashable for an argument, equal for arguments of equal content and small.
    """

    def decorate(make: Callable[_Args, _Value]) -> Callable[_Args, _Value]:
        @wraps(make)
        def call(*args: _Args.args, **named: _Args.kwargs) -> _Value:
            key = (make.__qualname__, *map(content, args), *((name, content(named[name])) for name in sorted(named)))
            return server_memory().get(key, lambda: make(*args, **named))

        return call

    return decorate
