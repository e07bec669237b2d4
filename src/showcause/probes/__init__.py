"""Generated tests: written or given, run on both sides, kept or dropped, judged."""

from showcause.probes.given import FORMAT, probe_of, read_probes
from showcause.probes.run import PROBES, Probed, run_probes
from showcause.probes.write import Commission, repair_probes, write_probes, write_witness

__all__ = [
    "FORMAT",
    "PROBES",
    "Commission",
    "Probed",
    "probe_of",
    "read_probes",
    "repair_probes",
    "run_probes",
    "write_probes",
    "write_witness",
]
