"""Makes `git_helpers` and `needs` importable from every folder of tests."""
