"""The connection behind a session: an open tab."""

from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx


def connection() -> str:
    """Name of the connection this script runs for; empty outside a server."""
    context = get_script_run_ctx(suppress_warning=True)
    return context.session_id if context else ""


def is_connected(name: str) -> bool:
    """Whether a connection is still open."""
    return bool(name) and runtime.exists() and runtime.get_instance().is_active_session(name)
