"""A new repository of one commit: for the demo, never near the user's own."""

from __future__ import annotations

from showcause.errors import GitFault
from showcause.git.call import base_environment, complaint, spawn
from showcause.git.config import HARMLESS

__all__ = ["make_repository"]

_IDENTITY = {
    "GIT_AUTHOR_NAME": "showcause",
    "GIT_AUTHOR_EMAIL": "showcause@localhost",
    "GIT_COMMITTER_NAME": "showcause",
    "GIT_COMMITTER_EMAIL": "showcause@localhost",
}


def make_repository(folder: str, message: str) -> None:
    """Make `folder` a repository on branch main, and commit all that is in it. Raises GitFault."""
    env = base_environment(HARMLESS) | _IDENTITY
    for arguments in (
        ("init", "--quiet", "--initial-branch=main"),
        ("add", "--all"),
        ("commit", "--quiet", "--message", message),
    ):
        finished = spawn(arguments, cwd=folder, env=env)
        if finished.exit_status != 0:
            raise GitFault(f"git {arguments[0]}: {complaint(finished.stderr.kept)}")
