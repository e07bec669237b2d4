"""What can go wrong, as one tree.

    ShowcauseError
      UsageError            the user's mistake: exit 2
      EnvironmentFault      the machine, the repository or a tool is not as needed: exit 4
        GitFault            git refused or is missing
        SandboxFault        the code under review cannot be confined
        StoreFault          the store cannot be read or written
      Unappliable           the patch does not apply: exit 3, never "defective"
      Cancelled             the user interrupted: exit 130

A failing test, a bad verdict, a process that crashed or ran out of time is a *value*
(see `showcause.records`), not an exception. An exception outside this tree is our bug: exit 4.
"""

from __future__ import annotations

__all__ = [
    "Cancelled",
    "EnvironmentFault",
    "GitFault",
    "SandboxFault",
    "ShowcauseError",
    "StoreFault",
    "Unappliable",
    "UsageError",
]


class ShowcauseError(Exception):
    """Base of all errors that showcause raises on purpose. `str()` is one line for the user."""


class UsageError(ShowcauseError):
    """The user asked for something that makes no sense: unknown revision, broken settings file."""


class EnvironmentFault(ShowcauseError):
    """Something outside showcause is missing or broken. `cure`, where known, is one line of help."""

    def __init__(self, message: str, *, cure: str = "") -> None:
        super().__init__(message)
        self.cure = cure


class GitFault(EnvironmentFault):
    """git is missing, refused, or answered something unusable."""


class SandboxFault(EnvironmentFault):
    """No confinement is available and running unconfined was not allowed."""


class StoreFault(EnvironmentFault):
    """The store could not be opened, read or written."""


class Unappliable(ShowcauseError):
    """A given patch does not apply to its base; the message carries git's own reason."""


class Cancelled(ShowcauseError):
    """The user interrupted the review."""
