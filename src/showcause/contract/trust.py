"""What a repository's settings may not do with the secrets of the person at the keyboard.

Settings come with the repository. One that names a program or an address of its own, and wants a key, a
login file or a variable for it, could carry secrets off; such a reviewer runs only once the person has named
it in an environment variable.
"""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from showcause.errors import UsageError
from showcause.models import PROVIDER_HOSTS
from showcause.records.contract import ReviewerSpec

__all__ = ["TRUSTED", "check_trust"]

TRUSTED = "SHOWCAUSE_TRUSTED_REVIEWERS"
"""Environment variable: names of reviewers, separated by commas, that may have what they ask for."""

_OWN_MACHINE = ("localhost", "127.0.0.1", "::1")


def check_trust(spec: ReviewerSpec) -> None:
    """Raises UsageError for a reviewer that wants secrets for a program or an address of its own choice."""
    wants = [f"${spec.api_key_env}"] if spec.api_key_env else []
    wants += [f"~/{name}" for name in spec.login] + [f"${name}" for name in spec.env]
    host = urlsplit(spec.base_url).hostname or ""
    is_own_host = bool(host) and host not in _OWN_MACHINE and host not in PROVIDER_HOSTS
    for_whom = spec.command[0] if spec.command else host if is_own_host else ""
    trusted = [name.strip() for name in os.environ.get(TRUSTED, "").split(",")]
    if wants and for_whom and spec.name not in trusted:
        raise UsageError(
            f"[reviewers.{spec.name}] would give {', '.join(wants)} to {for_whom}, which the repository's"
            f" settings name; to allow it: {TRUSTED}={spec.name}"
        )
