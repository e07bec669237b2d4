"""What runs between us and an untrusted command: standard library only, started by `process.boot`.

Nothing else of showcause is loaded there, and no module of the library that is not needed: start-up
counts in every run.
"""
