"""The order of everything: a patch becomes two trees, checks, a decision, and a receipt."""

from showcause.pipeline.reproducing import Reproduced, reproduce
from showcause.pipeline.request import Request, Reviewed
from showcause.pipeline.reviewing import STORE_FILE, review

__all__ = ["STORE_FILE", "Reproduced", "Request", "Reviewed", "reproduce", "review"]
