"""What `turn` and `probe-reviewer` share: the settings' reviewers, the store, the sandbox."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from showcause.errors import UsageError

if TYPE_CHECKING:
    from showcause.contract import Means
    from showcause.git import Repo
    from showcause.records.contract import ReviewerSpec
    from showcause.settings import Settings

__all__ = ["means_for", "repository", "reviewer_named", "settings_at"]


def repository(directory: str) -> Repo:
    """The repository whose settings hold and which must not change.

    No cancellation ends calls on it: whether it changed is looked at after a cancelled attempt as well.
    """
    from showcause import git

    return git.open_repo(directory)


def settings_at(repo: Repo) -> Settings:
    """The settings as HEAD has them: what lies in the work tree may be the author's."""
    from showcause.settings import FILE, PYPROJECT, load_settings, with_user_file
    from showcause.trees import TreeReader

    held = TreeReader(repo, repo.head_tree).read((FILE, PYPROJECT))
    return with_user_file(load_settings(held.get(FILE), held.get(PYPROJECT)))


def reviewer_named(settings: Settings, name: str) -> ReviewerSpec:
    """`[reviewers.NAME]`, with its model where it asks one. Raises UsageError naming those there are."""
    import msgspec

    from showcause.contract.trust import check_trust
    from showcause.records.contract import ReviewerKind

    spec = next((one for one in settings.reviewers if one.name == name), None)
    if spec is None:
        known = ", ".join(one.name for one in settings.reviewers) or "none"
        raise UsageError(f"there is no [reviewers.{name}] in the settings; there is: {known}")
    if f"reviewers.{name}" not in settings.trusted:
        check_trust(spec)
    if spec.kind is ReviewerKind.MODEL:
        return msgspec.structs.replace(spec, asks=settings.model(spec.model))
    return spec


@contextmanager
def means_for(
    repo: Repo, settings: Settings, specs: tuple[ReviewerSpec, ...], *, allow_unsandboxed: bool
) -> Iterator[tuple[Means, ...]]:
    """What the attempts of these reviewers work with, one each."""
    from showcause.contract import Means
    from showcause.contract.adapters import ADAPTERS
    from showcause.contract.watching import state_of
    from showcause.models import open_model, secrets_named
    from showcause.pipeline import store_of
    from showcause.sandbox import find_sandbox
    from showcause.store.attempts import Attempts
    from showcause.store.sqlite import SqliteStore

    store = store_of(repo, settings)
    if not isinstance(store, SqliteStore):
        raise UsageError("attempts are kept in a SQLite store only; see [store] url")
    names = [name for spec in specs for name in (spec.api_key_env, *spec.env) if name]
    chats = [open_model(spec.asks) if spec.asks else None for spec in specs]
    sandbox = find_sandbox(allow_unsandboxed=allow_unsandboxed or settings.sandbox.allow_unsandboxed)
    journal = Attempts(store)
    try:
        yield tuple(
            Means(
                sandbox=sandbox,
                journal=journal,
                adapters=ADAPTERS,
                tree=lambda: state_of(repo),
                chat=chat,
                secrets=secrets_named(names),
            )
            for chat in chats
        )
    finally:
        for chat in chats:
            if chat is not None:
                chat.close()
        store.close()
