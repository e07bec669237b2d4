"""What a reviewer is given: built in one place, cut in one place, every cut listed."""

from showcause.packet.around import around, beginning
from showcause.packet.build import build_packet, estimate_tokens
from showcause.packet.material import Material

__all__ = ["Material", "around", "beginning", "build_packet", "estimate_tokens"]
