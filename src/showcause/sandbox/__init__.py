"""Confinement of untrusted code, and what of it is really enforced."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol

import msgspec

from showcause.process import Command
from showcause.records import SandboxReport

__all__ = ["Confinement", "Network", "Sandbox"]


class Network(StrEnum):
    NONE = "none"  # sockets of the internet families are denied too
    LOOPBACK = "loopback"  # a private namespace with its own loopback, up
    HOST = "host"


class Confinement(msgspec.Struct, frozen=True, kw_only=True):
    """What one run may see and do. All paths are absolute.

    target    where the tree appears: the checkout's own path
    layers    what it is made of, the uppermost first, the checkout itself last; read only. Where the
              sandbox makes no overlay there is exactly one layer: a finished copy, bound or used in place
    readable  mounted back read-only after home and /tmp were masked: interpreter prefixes, git directory
    writable  mounted writable: the folder for the event file
    """

    target: str
    layers: tuple[str, ...]
    readable: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()
    network: Network = Network.LOOPBACK
    memory_bytes: int = 4 << 30
    processes: int = 512
    upper_bytes: int = 1 << 30
    upper_dir: str = ""  # builds: a folder on disk for the upper layer, instead of memory
    limit_address_space: bool = False


class Sandbox(Protocol):
    """One way of confining, chosen once per start by what works."""

    report: SandboxReport

    def confine(self, command: Command, confinement: Confinement) -> Command:
        """The command that runs `command` confined. Raises SandboxFault if it may not run at all."""
        ...
