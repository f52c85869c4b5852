"""First come, first served: whose turn it is to use what only a few may use at a time."""

import threading

import streamlit as st

from pages.shared.server_settings import settings


class Turns:
    """A line whose first few have their turn, until they leave it.

    Whoever wants several turns draws several tickets, one after the other: then nobody waits longer than the number
    of others times one turn.

    Args:
        most: tickets that have their turn at the same time.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._lock = threading.Lock()
        self._line: list[object] = []

    def draw(self) -> object:
        """Join the line at its end."""
        ticket = object()
        with self._lock:
            self._line.append(ticket)
        return ticket

    def place(self, ticket: object) -> int:
        """How many turns away: 0 = it has its turn, 1 = the next free one is its own.

        Raises:
            ValueError: it has left the line.
        """
        with self._lock:
            return max(0, self._line.index(ticket) + 1 - self.most)

    def leave(self, ticket: object) -> None:
        """Give up turn or place; again does no harm."""
        with self._lock:
            if ticket in self._line:
                self._line.remove(ticket)


@st.cache_resource(show_spinner=False)
def turns() -> Turns:
    """Turns to solve on this server: runs of pages, comparisons and sweeps stand in one line."""
    return Turns(settings().max_solves)
