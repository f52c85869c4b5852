"""The connection behind a session, an open tab, and when its work in the background has been left."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx


def connection() -> str:
    """Name of the connection this script runs for; empty outside a server."""
    context = get_script_run_ctx(suppress_warning=True)
    return context.session_id if context else ""


def is_connected(name: str) -> bool:
    """Whether a connection is still open."""
    return bool(name) and runtime.exists() and runtime.get_instance().is_active_session(name)


@dataclass(frozen=True, slots=True)
class Patience:
    """How long work in the background goes on although its page does not ask for it.

    What is ended can't be missed after a reload: that begins a new session, which knows nothing of the one before.

    Attributes:
        closed: seconds while the connection is closed: the tab was closed or reloaded.
        opened: seconds while it is open: a browser lets a hidden tab ask once a minute, and another page may be looked
            at.
        is_open: whether a connection is open, by its name.
    """

    closed: float = 10.0
    opened: float = 150.0
    is_open: Callable[[str], bool] = is_connected

    def is_over(self, name: str, asked: float) -> bool:
        """Whether the visitor has left.

        Args:
            name: of the connection that asked last.
            asked: when, on the clock of `time.monotonic`.
        """
        return time.monotonic() - asked > (self.opened if self.is_open(name) else self.closed)
