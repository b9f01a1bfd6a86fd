"""Learning and keeping what was learned: gradients, pieces of a batch, saving, odd inputs."""

import copy
from collections.abc import Iterator
from random import Random

import torch
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch import Tensor, nn

from regard.check.report import Finding, does_not_apply
from regard.check.subject import Batch, Subject, difference, worst
from regard.nn.watch import first_not_finite, watch

ROWS = 7  # examples of a batch that is cut into pieces


def gradients(subject: Subject, cases: int, dice: Random) -> Finding:
    """A parameter whose gradient is exactly zero on every example can not learn."""
    network = subject.training()
    learning = {name: p for name, p in network.named_parameters() if p.requires_grad}
    if not learning:
        return does_not_apply("gradients", "it has no parameters to learn")
    still, done = set(learning), 0
    while still and done < max(cases, 4 * ROWS):
        found = _gradients(subject, network, [subject.rows(dice, ROWS)])
        still -= {name for name, gradient in found.items() if bool(gradient.any())}
        done += ROWS
    frozen = sum(not p.requires_grad for p in network.parameters())
    told = f"{frozen} parameters are frozen" if frozen else ""
    named = sorted(still, key=list(learning).index)
    more = f" and {len(named) - 3} more" if len(named) > 3 else ""
    note = f"no gradient reaches {', '.join(named[:3])}{more}" if still else told
    return Finding("gradients", len(learning), float(len(still)), not still, note)


def accumulation(subject: Subject, cases: int, dice: Random) -> Finding:
    """The gradient of a batch, and the sum over its pieces: losses are sums over what is learned
    from, so that any cut must give the same."""
    gaps, failed, done = [], "", 0
    while done < max(1, cases // 10):
        examples = subject.rows(dice, ROWS)
        network = subject.training()
        whole = _gradients(subject, network, [examples])
        for size in (1, 3):
            pieces = [examples[i : i + size] for i in range(0, ROWS, size)]
            parts = _gradients(subject, network, pieces)
            found = {name: difference(whole[name], parts[name]) for name in whole}
            name = max(found, key=lambda key: found[key])
            gaps.append(found[name])
            failed = failed or (name if found[name] > subject.tolerance else "")
            done += 1
    note = f"the gradient of {failed} changes when the batch is cut" if failed else ""
    return Finding("accumulation", done, worst(gaps), not failed, note)


def _gradients(
    subject: Subject, network: nn.Module, pieces: list[list[object]]
) -> dict[str, Tensor]:
    """The gradients of the mean loss over all pieces together."""
    network.zero_grad()
    tokens = 0
    for piece in pieces:
        loss = subject.loss(network, piece)
        loss.total.backward()
        tokens += loss.tokens
    return {
        name: torch.zeros_like(p) if p.grad is None else p.grad.detach() / tokens
        for name, p in network.named_parameters()
        if p.requires_grad
    }


# Saving


def save_load(subject: Subject, cases: int, dice: Random) -> Finding:
    """A network that gets only what was saved must answer as the one that saved it, bit for bit."""
    if lost := next(unregistered(subject.original), None):
        note = f"{lost} is not saved: put it into an nn.ModuleList, nn.ModuleDict or nn.Parameter"
        return Finding("save_load", 1, float("inf"), False, note)
    again = (subject.fresh or scrambled_and_loaded)(subject.original).eval()
    gaps = []
    for _ in range(max(1, cases // 10)):
        batch = subject.inputs(dice)
        answers = [subject.call(network, batch) for network in (subject.original, again)]
        gaps.append(difference(*answers))
    note = "" if not worst(gaps) else "something that matters is not in its state_dict"
    return Finding("save_load", len(gaps), worst(gaps), not worst(gaps), note)


@torch.no_grad()
def scrambled_and_loaded(network: nn.Module) -> nn.Module:
    """A copy that forgot all it has learned, and was given what safetensors kept."""
    saved = {k: v.detach().clone().contiguous() for k, v in network.state_dict().items()}
    again = copy.deepcopy(network)
    for tensor in (t for t in again.state_dict().values() if t.is_floating_point()):
        tensor.normal_()
    again.load_state_dict(load_tensors(save_tensors(saved)))
    return again


def unregistered(network: nn.Module) -> Iterator[str]:
    """Layers and parameters that stand in plain lists, where torch does not see them."""
    known = {*map(id, network.modules()), *map(id, network.parameters())}
    for path, module in network.named_modules():
        for name, value in vars(module).items():
            items = value.values() if isinstance(value, dict) else value
            inside = items if isinstance(value, list | tuple | dict) else []
            for item in inside:
                if isinstance(item, nn.Module | nn.Parameter) and id(item) not in known:
                    yield f"a {type(item).__name__} in {'.'.join(filter(None, [path, name]))}"


# Odd inputs


def no_nan(subject: Subject, cases: int, dice: Random) -> Finding:
    """Rows without a real position beside ordinary ones, batches of nothing else, and sequences
    without positions. Refusing them with an error is fine; a NaN is not."""
    odd = [batch for _ in range(max(1, cases // 20)) for batch in _odd(subject, dice)]
    refused: set[str] = set()
    for what, batch in odd:
        try:
            place = _not_finite(subject, batch)
        except Exception as error:  # noqa: BLE001, whatever a stranger's network raises
            refused.add(f"{what} is refused ({type(error).__name__})")
            continue
        if place:
            note = f"{what} gives NaN or inf, first at {place}"
            return Finding("no_nan", len(odd), float("inf"), False, note)
    return Finding("no_nan", len(odd), 0.0, True, "; ".join(sorted(refused)))


def _odd(subject: Subject, dice: Random) -> list[tuple[str, Batch]]:
    found = []
    for place, side in enumerate(subject.probe.sides):
        batch = subject.inputs(dice)
        ids, mask = batch.sides[place]
        one, none = mask.clone(), torch.zeros_like(mask)
        one[dice.randrange(len(ids))] = False
        empty = batch.with_side(place, ids[:, :0], mask[:, :0])
        found.append((f"an empty {side.name}", empty))
        if side.pads:
            found.append((f"a masked row of the {side.name}", batch.with_side(place, ids, one)))
            found.append((f"a masked {side.name}", batch.with_side(place, ids, none)))
    return found


def _not_finite(subject: Subject, batch: Batch) -> str | None:
    """Where a number in the output, or in a gradient, is not finite."""
    network = copy.deepcopy(subject.network)
    with watch(network) as given:
        output = subject.probe.call(network, *batch.flat)
    if not bool(output.isfinite().all()):
        return first_not_finite(given) or "the output"
    output.sum().backward()
    for name, p in network.named_parameters():
        if p.grad is not None and not bool(p.grad.isfinite().all()):
            return f"the gradient of {name}"
    return None
