"""`python -m showcause`."""

import sys

from showcause.cli import main

sys.exit(main())
