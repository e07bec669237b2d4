"""Makes `git_helpers` and `needs` importable from every folder of tests."""

from __future__ import annotations

import os

# The settings of whoever runs the tests are theirs; ours need none.
os.environ.pop("SHOWCAUSE_CONFIG", None)
os.environ["XDG_CONFIG_HOME"] = os.devnull
