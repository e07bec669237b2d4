"""Measures, as ratios within one run: `scripts/bench NAME`. Not shipped with the package."""
