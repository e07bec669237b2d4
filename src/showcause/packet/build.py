"""Exactly what a reviewer is given. The only place that may shorten, and it lists what it cut (law 6).

The inventory comes from git before anything is cut. All that others wrote (issue, patch, trace, output of
tests, paths, code) stands between lines that carry a word it cannot know, and is called data. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

import msgspec

from showcause.errors import UsageError
from showcause.packet.diff import SectionSent, choose, importance, sections
from showcause.packet.frame import EVIDENCE, NOT_CAUSED, Frame, exhibit_block
from showcause.packet.material import Material, Text, exhibits_of, not_checked_of, texts_of
from showcause.packet.shares import shares
from showcause.packet.text import Cleaner, fenced, marker, shorten
from showcause.records import Exhibit, NotChecked, Packet, PacketForm, Part, Sent

__all__ = ["build_packet", "estimate_tokens"]

Count = Callable[[str], int]

_BYTES_PER_TOKEN = 4
_NOT_FITTING = "the budget was too small"
_SHORTEST_BYTES = 64  # less of a text than that is none


def estimate_tokens(text: str) -> int:
    """One token for four bytes, rounded up."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // _BYTES_PER_TOKEN)


def build_packet(
    material: Material,
    form: PacketForm,
    *,
    budget: int,
    nonce: str,
    secrets: Mapping[str, str] | None = None,
    count: Count = estimate_tokens,
    bench: bool = False,
) -> Packet:
    """The packet of `form` in at most `budget` tokens as `count` counts them.

    `nonce` is new for each packet and known to nobody else. `secrets` maps names to values. Raises
    UsageError for an upper bound outside the bench, for a budget that the frame alone exceeds, and for a
    turn that does not fit whole.
    """
    if form.is_upper_bound and not bench:
        raise UsageError(f"the form {form.value} shows the official suite: it exists in the bench only")
    if len(nonce) < 16:
        raise ValueError("a nonce has at least 16 characters")
    return _Builder(material, form, budget, Cleaner(secrets or {}), count).build(nonce)


class _Builder:
    """The state that the parts of one packet share."""

    def __init__(
        self, material: Material, form: PacketForm, budget: int, cleaner: Cleaner, count: Count
    ) -> None:
        self.material, self.form, self.budget = material, form, budget
        self.cleaner, self.count = cleaner, count
        self.sections = sections(material.patch)
        self.parts: list[Part] = []
        self.withheld: list[NotChecked] = []

    def build(self, nonce: str) -> Packet:
        clean, patch = self.cleaner.clean, self.material.patch
        texts, unused = texts_of(self.material, self.form, clean)
        found, hidden = exhibits_of(self.material, self.form, clean)
        self.withheld += [*unused, *hidden]
        held = (*self._data(texts), *(one.text for one in found))
        end = marker(f"end:{nonce}", held)
        self.frame = Frame(form=self.form, patch=patch, word=marker(f"fence:{nonce}", held))
        plan = self._plan(texts, found)
        told = [*self._sent_texts(texts, plan)]
        found, shown = self._sent_exhibits(found, plan["evidence"])
        chosen = self._sent_patch(plan["patch"])
        body = [self._inventory(chosen), self._left_out, *told, *shown, *self._patch_blocks(chosen)]
        text, id = self.frame.whole("".join(body), end)
        return Packet(
            id=id,
            form=self.form,
            nonce=end,
            base_tree=patch.base_tree,
            head_tree=patch.head_tree,
            patch=patch.digest,
            manifest=tuple(one.entry for one in chosen),
            parts=tuple(self.parts),
            exhibits=found,
            withheld=tuple(self.withheld),
            masked=self.cleaner.masked_in(text),
            tokens=self.count(text),
            budget=self.budget,
            text=text,
        )

    def _data(self, texts: Iterable[Text]) -> Iterable[str]:
        """Untrusted text: the words of the fence and of the end stand in none of it."""
        yield from (one.text for one in texts)
        yield self.material.patch.data.decode("utf-8", "replace")
        yield from (change.path for change in self.material.patch.changes)
        yield from (f"{one.what} {one.why}" for one in self.material.not_checked)

    # ---------------------------------------------------------------- sharing the budget

    def _plan(self, texts: Sequence[Text], found: Sequence[Exhibit]) -> dict[str, int]:
        """Tokens for each text by what it is, for `evidence` and for `patch`."""
        cost = {one.what: self.count(fenced(self.frame.word, one.title, one.text)) for one in texts}
        plan = {one.what: cost[one.what] for one in texts if one.must}
        frame = self.frame.cost(self.count) + self.frame.inventory_fence(self.count) + self._inventory_room
        frame += self.count(self._left_out) + sum(plan.values())
        if frame > self.budget:
            what = "instruction and answer, which go whole or not at all, need" if plan else "the frame needs"
            raise UsageError(f"a budget of {self.budget} tokens is too small for a packet: {what} {frame}")
        wanted = {"patch": self._patch_cost(), "evidence": self._exhibits_cost(found)}
        wanted |= {one.what: cost[one.what] for one in texts if not one.must and not one.is_extra}
        given = shares(wanted, self.budget - frame)
        plan |= given
        left = self.budget - frame - sum(given.values())
        for what in (one.what for one in texts if one.is_extra):
            plan[what] = cost[what] if cost[what] <= left else 0
            left -= plan[what]
        return plan

    def _patch_cost(self) -> int:
        pieces = (self._render(piece) for section in self.sections for piece in section.pieces)
        return sum(map(self.count, pieces)) + self._section_cost * len(self.sections)

    def _exhibits_cost(self, found: Sequence[Exhibit]) -> int:
        blocks = sum(self.count(exhibit_block(self.frame.word, one)) for one in found)
        return blocks + (self._labels_cost if found else 0)

    @cached_property
    def _labels_cost(self) -> int:
        return self.count(EVIDENCE) + self.count(NOT_CAUSED)

    @cached_property
    def _section_cost(self) -> int:
        return self.count(fenced(self.frame.word, "x" * 140, ""))

    @cached_property
    def _inventory_room(self) -> int:
        cost = self.frame.inventory_cost(clean=self.cleaner.clean, count=self.count)
        return min(self.budget // 4, cost)

    @cached_property
    def _left_out(self) -> str:
        """What the checks did not look at, in a block of its own."""
        told = not_checked_of(self.material, self.form, self.cleaner.clean)
        return fenced(self.frame.word, "not checked by anything", told) if told else ""

    # ---------------------------------------------------------------- what goes

    def _sent_texts(self, texts: Sequence[Text], plan: Mapping[str, int]) -> Iterable[str]:
        for one in texts:
            text, size = one.text, len(one.text.encode())
            kept = size
            if self.count(fenced(self.frame.word, one.title, text)) > plan[one.what]:
                text, kept = ("", 0) if one.is_extra else self._shortened(one, plan[one.what])
            if one.is_extra and not kept:
                self.withheld.append(NotChecked(what=one.what, why=f"context only: {_NOT_FITTING}"))
                continue
            self.parts.append(_part(one.what, kept, size))
            if kept:
                yield fenced(self.frame.word, one.title + ("" if kept == size else ", cut"), text)

    def _shortened(self, one: Text, room: int) -> tuple[str, int]:
        """Head and tail of a text in at most `room` tokens with its fence; nothing where that is none."""
        title, size = f"{one.title}, cut", len(one.text.encode())
        text, kept = one.text, size
        while (cost := self.count(fenced(self.frame.word, title, text))) > room:
            size = min(size * room // cost, size - _SHORTEST_BYTES)
            if size < _SHORTEST_BYTES:
                return "", 0
            text, kept = shorten(one.text, size)
        return text, kept

    def _sent_exhibits(
        self, found: Sequence[Exhibit], room: int
    ) -> tuple[tuple[Exhibit, ...], tuple[str, ...]]:
        """Evidence whole or not at all, in its order; a long one does not keep out what is after it."""
        kept: list[Exhibit] = []
        ours, others = [EVIDENCE], [NOT_CAUSED]
        room -= self._labels_cost
        for one in found:
            block, size = exhibit_block(self.frame.word, one), len(one.text.encode())
            cost = self.count(block)
            is_sent = cost <= room
            room -= cost if is_sent else 0
            kept.append(msgspec.structs.replace(one, sent=is_sent))
            self.parts.append(_part(f"evidence {one.id}", size if is_sent else 0, size, is_sent))
            if is_sent:
                (others if one.state.is_not_caused else ours).append(block)
        return tuple(kept), tuple(line for lines in (ours, others) if len(lines) > 1 for line in lines)

    def _sent_patch(self, room: int) -> tuple[SectionSent, ...]:
        return choose(
            self.sections,
            budget=room,
            render=self._render,
            count=self.count,
            overhead=self._section_cost,
            test_dirs=self.material.test_dirs,
        )

    def _render(self, piece: bytes) -> str:
        return self.cleaner.clean(piece.decode("utf-8", "surrogateescape"))

    def _patch_blocks(self, chosen: Sequence[SectionSent]) -> Iterable[str]:
        for number, one in enumerate(chosen, 1):
            if one.text:
                note = f", {one.entry.why}"[:100] if one.entry.why else ""
                yield fenced(self.frame.word, f"patch, path {number}{note}", one.text)

    def _inventory(self, chosen: Sequence[SectionSent]) -> str:
        kinds = {one.change.path: importance(one, self.material.test_dirs) for one in self.sections}
        return self.frame.inventory(
            tuple(one.entry for one in chosen),
            kinds,
            room=self._inventory_room,
            clean=self.cleaner.clean,
            count=self.count,
        )


def _part(what: str, kept: int, size: int, is_sent: bool = True) -> Part:
    is_whole = kept == size and is_sent
    sent = Sent.WHOLE if is_whole else Sent.PARTIAL if kept else Sent.NOT_SENT
    why = "" if is_whole else _NOT_FITTING
    return Part(what=what, sent=sent, why=why, sent_bytes=kept, unsent_bytes=size - kept)
