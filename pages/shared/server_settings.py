"""What whoever runs the server may set, by environment variables."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from sapp_core.errors import SappError
from sapp_core.sweep.estimate import usable_cores

MAX_SOLVES, CACHE_MB, SCHEDULERS = "SAPP_MAX_SOLVES", "SAPP_CACHE_MB", "SAPP_SCHEDULERS"
_OWN_MACHINE = re.compile(r"(?:tcp|tls)://(?:localhost|127\.0\.0\.1|\[::1\]):[0-9]{1,5}")
_MOST_SOLVES = 256
_LEAST_MB, _DEFAULT_MB, _MOST_MB = 32, 256, 65_536


class SettingError(SappError):
    """A setting of the server is out of range."""


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Limits that all visitors of a server share.

    Attributes:
        max_solves: balancing runs that work at the same time; further ones queue.
        cache_mb: MiB that remembered schedules, simulations and charts may take.
        schedulers: Dask schedulers on other machines that visitors may use.
    """

    max_solves: int
    cache_mb: int
    schedulers: tuple[str, ...] = ()

    def scheduler_problems(self, address: str | None) -> tuple[str, ...]:
        """Why a visitor may not use a Dask scheduler; empty when they may, or for None.

        What a scheduler sends is run here. So somebody's own, or one that a link names, is not connected to.
        """
        if address is None or address in self.schedulers or _OWN_MACHINE.fullmatch(address):
            return ()
        allowed = ", ".join(("tcp://127.0.0.1:8786 or another port of this machine", *self.schedulers))
        found = f"scheduler: this server connects only to {allowed}; found {address[:80]!r}."
        return (f"{found} Whoever runs the server can add addresses in {SCHEDULERS}.",)


def server_settings(environment: Mapping[str, str]) -> ServerSettings:
    """Read them.

    Args:
        environment: variables by name.

    Raises:
        SettingError: a value is no whole number or out of range.
    """
    problems: list[str] = []
    # A run searches on one core and proves on another. On a small machine two share the cores, so that one long run
    # does not make everybody wait.
    solves = _whole_number(environment, MAX_SOLVES, 1, max(2, usable_cores() // 2), _MOST_SOLVES, problems)
    megabytes = _whole_number(environment, CACHE_MB, _LEAST_MB, _DEFAULT_MB, _MOST_MB, problems)
    if problems:
        raise SettingError(*problems)
    return ServerSettings(solves, megabytes, tuple(environment.get(SCHEDULERS, "").replace(",", " ").split()))


@st.cache_resource(show_spinner=False)
def settings() -> ServerSettings:
    """The settings of this server, read once.

    Raises:
        SettingError: see `server_settings`.
    """
    return server_settings(os.environ)


def _whole_number(
    environment: Mapping[str, str], name: str, least: int, default: int, most: int, problems: list[str]
) -> int:
    text = environment.get(name, "").strip()
    if not text:
        return default
    if text.isascii() and text.isdecimal() and len(text) <= len(str(most)) and least <= int(text) <= most:
        return int(text)
    problems.append(
        f"{name}: must be a whole number from {least} to {most}, found {text[:40]!r}; without it the server uses "
        f"{default}."
    )
    return default
