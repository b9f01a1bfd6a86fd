"""What may change an answer: never a later token, never padding, never the other texts of a batch.

B batch   T positions
"""

from functools import partial
from random import Random

import torch
from torch import Tensor, nn

from regard.check.report import Finding, does_not_apply
from regard.check.subject import Batch, Subject, difference, full, random_ids, worst
from regard.check.trace import both, first_difference, narrowed, one_row
from regard.tasks.probe import Side

# The future


def causality(subject: Subject, cases: int, dice: Random) -> Finding:
    """Change tokens after a position, each row after its own: what came out before must stay the
    same, bit for bit. Also in training mode, where a batch norm looks along the sequence."""
    place = next((i for i, side in enumerate(subject.probe.sides) if side.causal), None)
    if place is None:
        return does_not_apply("causality", "it reads whole texts: nothing in it must be causal")
    modes = {"": subject.network, " in training mode": subject.training()}
    gaps: dict[str, list[float]] = {mode: [] for mode in modes}
    done = 0
    while done < cases:
        for mode, network in modes.items():
            batch = subject.inputs(dice)
            gaps[mode].append(_past_changes(subject, network, batch, place, dice))
            done += len(batch.sides[0][0])
    note = ""
    for mode in [mode for mode in modes if worst(gaps[mode])][:1]:
        layer = _first_leak(subject, modes[mode], place, dice)
        note = f"later tokens change earlier outputs{mode}, first at {layer}"
    return Finding(
        "causality", done, worst([*gaps[""], *gaps[" in training mode"]]), not note, note
    )


def _past_changes(
    subject: Subject, network: nn.Module, batch: Batch, place: int, dice: Random
) -> float:
    ids, mask = batch.sides[place]
    B, T = ids.shape
    cuts = torch.tensor([dice.randint(1, T) for _ in range(B)])  # T: the row is left as it is
    future = torch.arange(T) >= cuts[:, None]  # (B, T)
    if dice.random() < 0.5:  # only one of the later tokens
        future &= torch.arange(T) == torch.tensor([dice.randrange(T) for _ in range(B)])[:, None]
    changed = torch.where(future, other_ids(ids, subject.probe.sides[place], dice), ids)
    before = subject.call(network, batch)
    after = subject.call(network, batch.with_side(place, changed, mask))
    past = torch.arange(T) < cuts[:, None]
    return difference(before[past], after[past])


def _first_leak(subject: Subject, network: nn.Module, place: int, dice: Random) -> str:
    """The layer at which changed later tokens first show in an earlier position."""
    batch = subject.inputs(dice)
    ids, mask = batch.sides[place]
    T = ids.size(1)
    for t in range(1, T):
        changed = torch.cat(
            [ids[:, :t], other_ids(ids, subject.probe.sides[place], dice)[:, t:]], 1
        )
        before = partial(subject.call, network, batch)
        after = partial(subject.call, network, batch.with_side(place, changed, mask))
        if difference(before()[:, :t], after()[:, :t]):
            past = narrowed(T, 0, t)
            return first_difference(network, before, after, past, past, tolerance=0.0)
    return "a layer that could not be told"


def other_ids(ids: Tensor, side: Side, dice: Random) -> Tensor:
    """Other ids at every position, drawn from the same ones."""
    first = min(side.first, side.vocabulary - 1)
    many = max(1, side.vocabulary - first)
    shift = torch.tensor([dice.randrange(1, max(2, many)) for _ in range(ids.numel())])
    return (ids - first + shift.view_as(ids)) % many + first


# Padding


def padding(where: str, subject: Subject, cases: int, dice: Random) -> Finding:
    """Add padding on one side; the real positions must answer as before."""
    name = f"padding_{where}"
    places = [i for i, side in enumerate(subject.probe.sides) if where in side.pads]
    if not places or not subject.room:
        return does_not_apply(name, f"its inputs are never padded on the {where}")
    gaps, failed, done = [], None, 0
    while done < cases:
        batch, place = subject.inputs(dice, room=subject.room), places[done % len(places)]
        longer = padded(subject, batch, place, where, dice)
        whole = subject.call(subject.network, batch)
        gap = difference(whole, real_part(subject, longer, batch, place, where))
        failed = failed or ((batch, longer, place) if gap > subject.tolerance else None)
        gaps.append(gap)
        done += len(whole)
    note = "" if failed is None else _first_padded(subject, *failed, where)
    return Finding(name, done, worst(gaps), failed is None, note)


def padding_content(subject: Subject, cases: int, dice: Random) -> Finding:
    """Put other tokens into the padding; nothing may change, to the last bit."""
    name = "padding_content"
    ways = [(i, where) for i, side in enumerate(subject.probe.sides) for where in side.pads]
    if not ways or not subject.room:
        return does_not_apply(name, "its inputs are never padded")
    gaps, failed, done = [], None, 0
    while done < cases:
        batch, (place, where) = subject.inputs(dice, room=subject.room), ways[done % len(ways)]
        one = padded(subject, batch, place, where, dice)
        ids, mask = one.sides[place]
        junk = torch.where(mask, ids, other_ids(ids, subject.probe.sides[place], dice))
        other = one.with_side(place, junk, mask)
        answers = [real_part(subject, b, batch, place, where) for b in (one, other)]
        gaps.append(difference(*answers))
        failed = failed or ((one, other, batch, place, where) if gaps[-1] else None)
        done += len(ids)
    note = "" if failed is None else _first_junk(subject, *failed)
    return Finding(name, done, worst(gaps), failed is None, note)


def padded(subject: Subject, batch: Batch, place: int, where: str, dice: Random) -> Batch:
    """The batch with some padding, of random tokens, on one side."""
    ids, mask = batch.sides[place]
    junk = random_ids(dice, subject.probe.sides[place], len(ids), dice.randint(1, subject.room))
    parts = [(ids, mask), (junk, torch.zeros_like(junk, dtype=torch.bool))]
    if where == "left":
        parts.reverse()
    longer = torch.cat([part[0] for part in parts], 1), torch.cat([part[1] for part in parts], 1)
    return batch.with_side(place, *longer)


def real_part(subject: Subject, longer: Batch, batch: Batch, place: int, where: str) -> Tensor:
    """What comes out for the padded batch, at the positions of the unpadded one."""
    output = subject.call(subject.network, longer)
    new, T = longer.sides[place][0].size(1), batch.sides[place][0].size(1)
    last = place == len(batch.sides) - 1
    if last and output.dim() > 1 and output.size(1) == new:
        output = output.narrow(1, new - T if where == "left" else 0, T)
    return output


def _first_padded(subject: Subject, batch: Batch, longer: Batch, place: int, where: str) -> str:
    T, new = batch.sides[place][0].size(1), longer.sides[place][0].size(1)
    layer = first_difference(
        subject.network,
        partial(subject.call, subject.network, batch),
        partial(subject.call, subject.network, longer),
        lambda tensor: tensor,
        narrowed(new, new - T if where == "left" else 0, T),
        subject.tolerance,
    )
    side = subject.probe.sides[place].name
    return f"padding on the {where} of the {side} changes its answer, first at {layer}"


def _first_junk(
    subject: Subject, one: Batch, other: Batch, batch: Batch, place: int, where: str
) -> str:
    T, new = batch.sides[place][0].size(1), one.sides[place][0].size(1)
    real = narrowed(new, new - T if where == "left" else 0, T)
    before, after = (partial(subject.call, subject.network, b) for b in (one, other))
    layer = first_difference(subject.network, before, after, real, real, tolerance=0.0)
    side = subject.probe.sides[place].name
    return f"the tokens in the {side}'s padding on the {where} show, first at {layer}"


# The other texts of a batch


def alone(subject: Subject, cases: int, dice: Random) -> Finding:
    """Texts of different lengths in one batch, and each by itself."""
    gaps, failed, done = [], None, 0
    while done < cases:
        batch = _uneven(subject, dice)
        together = subject.call(subject.network, batch)
        for number, row in enumerate(together[:, None]):
            by_itself = subject.call(subject.network, batch.row(number))
            length = by_itself.size(1) if by_itself.dim() > 2 else None
            gap = difference(by_itself, row if length is None else row[:, :length])
            failed = failed or ((batch, number) if gap > subject.tolerance else None)
            gaps.append(gap)
        done += len(together)
    note = "" if failed is None else _first_mixed(subject, *failed)
    return Finding("alone", done, worst(gaps), failed is None, note)


def _uneven(subject: Subject, dice: Random) -> Batch:
    """Rows of different lengths, where the network takes padding behind them."""
    batch = subject.inputs(dice)
    for place, side in enumerate(subject.probe.sides):
        ids, _ = batch.sides[place]
        B, T = ids.shape
        lengths = torch.tensor([T, *(dice.randint(1, T) for _ in range(B - 1))])
        mask = torch.arange(T) < lengths[:, None] if "right" in side.pads else full(ids)[1]
        batch = batch.with_side(place, ids, mask)
    return batch


def _first_mixed(subject: Subject, batch: Batch, number: int) -> str:
    cuts = [one_row(len(batch.sides[0][0]), number)]
    for ids, mask in batch.sides:
        cuts.append(narrowed(ids.size(1), 0, int(mask[number].sum())))
    layer = first_difference(
        subject.network,
        partial(subject.call, subject.network, batch),
        partial(subject.call, subject.network, batch.row(number)),
        both(*cuts),
        lambda tensor: tensor,
        subject.tolerance,
    )
    return f"a text's answer depends on the others in its batch, first at {layer}"
