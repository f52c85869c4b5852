"""What whoever runs the server may set, by environment variables."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from sapp_core.errors import SappError
from sapp_core.sweep.estimate import usable_cores

MAX_SOLVES, CACHE_MB = "SAPP_MAX_SOLVES", "SAPP_CACHE_MB"
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
    """

    max_solves: int
    cache_mb: int


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
    return ServerSettings(solves, megabytes)


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
