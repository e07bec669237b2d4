"""`python -m benchmarks NAME [arguments]`."""

from __future__ import annotations

import importlib
import sys

NAMES = {
    "planted": "which stage sees planted faults in released packages, and harmless edits beside old ones",
    "gate": "how long a review takes, against bare test runs of the same files (DESIGN 15)",
    "probes": "what recorded probes say of real patches whose outcome is known, by how many of them agree",
    "witnesses": "which claims of a reviewer hold, true ones and false ones, by the tests it gives",
    "cases": "what the gate says about real patches whose outcome is known",
}


def main(argv: list[str]) -> int:
    """Run the benchmark that is named; its module is loaded only then."""
    if not argv or argv[0] not in NAMES:
        print("usage: scripts/bench NAME [arguments]", file=sys.stderr)
        for name, what in NAMES.items():
            print(f"  {name:<8} {what}", file=sys.stderr)
        return 0 if argv[:1] in (["-h"], ["--help"]) else 2
    result = importlib.import_module(f"benchmarks.{argv[0]}").main(argv[1:])
    return int(result)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
