"""RNN, GRU and LSTM: one token after the other, and the shapes that come out."""

from typing import Any

import torch
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch
from torch import Tensor, nn

from regard.course.draw import COLOURS, FONT, label, panels
from regard.course.lesson import Drawing, Lesson, Number, Table
from regard.course.tiny import repeatable
from regard.models.recurrent import RecurrentNetwork
from regard.nn.recurrent import Recurrent
from regard.shapes import RecurrentSettings

TITLE = "One token after the other, and the shapes that come out"
IDEA = """
A recurrent network reads a text as we do, one token after the other, and keeps a state: some
numbers that stand for everything read so far. At each step the state and the next token make the
new state. The same weights are used at every step, so a text may have any length.

A plain RNN has one product and a tanh. An LSTM has a second state, the cell, and three gates that
decide what to forget, what to write and what to show; a GRU does with two gates and one state.
Layers can be stacked, the states of one being what the next one reads, and a second network can
read backwards.

What comes out is asked for in three ways. Many to one: a judgement after the last token. Many to
many: one at every token, for a tag or the next word. One to many: a single beginning, and what
comes out is fed back in.
"""
TRY = (
    "Swap two of the three dimensions of the input by mistake: which mistakes give an error, and "
    "which give a wrong answer in silence?",
    "Read the same text with nn.LSTM in one call and with nn.LSTMCell in a loop: are they equal?",
    "regard course forgetting: what is left of the first token after a hundred others.",
)
QUESTIONS = (
    (
        "nn.LSTM(10, 20, 2) reads (5, 3, 10). What are the three numbers, and what comes out?",
        "5 steps of 3 texts with 10 numbers each; the outputs are (5, 3, 20), the last states "
        "(2, 3, 20) each, one for each of the two layers.",
    ),
    (
        "Which part of the output is also in the last state?",
        "The output at the last step is the last state of the top layer.",
    ),
    (
        "What changes with batch_first=True?",
        "Input and output have the texts first, (3, 5, 10) and (3, 5, 20); the last states do "
        "not: they stay (2, 3, 20).",
    ),
    (
        "Can a network that reads from both ends write a text?",
        "No: reading backwards it would need the words that are not written yet.",
    ),
)
STEPS, TEXTS, INPUTS, WIDTH, LAYERS = 5, 3, 10, 20, 2
KINDS: dict[str, dict[str, Any]] = {
    "RNN": {"cell": "rnn"},
    "GRU": {"cell": "gru"},
    "LSTM": {"cell": "lstm"},
    "LSTM, two layers": {"cell": "lstm", "layers": 2},
    "LSTM, two layers, both directions": {"cell": "lstm", "layers": 2, "bidirectional": True},
    "LSTM, projected to 7": {"cell": "lstm", "projection": 7},
}


def lesson(seed: int = 0) -> Lesson:
    with repeatable(seed):
        x = torch.randn(STEPS, TEXTS, INPUTS, dtype=torch.float64)
        lstm = nn.LSTM(INPUTS, WIDTH, LAYERS).double()
        cell = nn.LSTMCell(INPUTS, WIDTH).double()
        first = nn.LSTM(INPUTS, WIDTH, LAYERS, batch_first=True).double()
        first.load_state_dict(lstm.state_dict())
        with torch.no_grad():
            output, (hidden, memory) = lstm(x)
            in_loop = by_hand(lstm, x)
            turned, _ = first(x.transpose(0, 1))
            one_step = cell(x[0])
        alone, texts = padding_moves(), uses()
    numbers = [
        *_shape("output", output, ("steps", "texts", "width"), (5, 3, 20)),
        *_shape("last state", hidden, ("layers", "texts", "width"), (2, 3, 20)),
        *_shape("last cell state", memory, ("layers", "texts", "width"), (2, 3, 20)),
        *_shape("LSTMCell, state", one_step[0], ("texts", "width"), (3, 20)),
        *_shape("LSTMCell, cell state", one_step[1], ("texts", "width"), (3, 20)),
        Number.equal("nn.LSTM minus our own loop", _far(output, in_loop), 0.0, within=1e-12),
        Number.equal("last output minus top state", _far(output[-1], hidden[-1]), 0.0, within=0.0),
        Number.equal("batch first, turned back", _far(output, turned.transpose(0, 1)), 0.0, 1e-12),
        Number.equal("numbers to learn, LSTM(10, 20, 2)", _learned(lstm), 5_920),
        Number.equal("the same for RNN(10, 20, 2)", _learned(nn.RNN(INPUTS, WIDTH, LAYERS)), 1_480),
        Number.equal("the same for GRU(10, 20, 2)", _learned(nn.GRU(INPUTS, WIDTH, LAYERS)), 4_440),
        Number.equal("a text alone minus the same beside a longer one", alone, 0.0, within=1e-12),
    ]
    says = [
        "LSTM(10, 20, 2) reads 5 steps of 3 texts, 10 numbers each. It gives 20 numbers for every "
        "step and text, those of the upper layer, and the last state of both layers. The last "
        "output and the last state of the upper layer are the same numbers.",
        "A loop of a dozen lines with the same weights gives the same result: nothing is hidden in "
        "the library. An LSTM has four products where a plain RNN has one and a GRU three, so the "
        "counts of weights are 4 : 1 : 3.",
        "A short text beside a longer one is filled up with padding. Read to its own end, it comes "
        "out as if it were alone.",
    ]
    tables = [
        Table("What comes out for (3, 5, 10), batch first", ("", "output", "last state"), kinds()),
        Table("Three ways to use it, 3 texts of 5 tokens", ("use", "in", "out"), texts),
    ]
    return Lesson(numbers, [_draw_grid(), _draw_uses()], says, tables)


def by_hand(lstm: nn.LSTM, x: Tensor) -> Tensor:
    """What nn.LSTM computes: x (steps, texts, inputs) -> (steps, texts, width)."""
    for layer in range(lstm.num_layers):
        w_in, w_state = getattr(lstm, f"weight_ih_l{layer}"), getattr(lstm, f"weight_hh_l{layer}")
        bias = getattr(lstm, f"bias_ih_l{layer}") + getattr(lstm, f"bias_hh_l{layer}")
        hidden = memory = x.new_zeros(x.size(1), lstm.hidden_size)
        states = []
        for token in x:  # one after the other: this loop is what can not run in parallel
            write, keep, new, show = (token @ w_in.T + hidden @ w_state.T + bias).chunk(4, dim=-1)
            memory = keep.sigmoid() * memory + write.sigmoid() * new.tanh()
            hidden = show.sigmoid() * memory.tanh()
            states.append(hidden)
        x = torch.stack(states)  # what the next layer reads
    return x


def padding_moves() -> float:
    """How far a text of 3 tokens moves when it is read beside one of 5, from both ends."""
    settings = RecurrentSettings(cell="lstm", width=WIDTH, bidirectional=True)
    reader = Recurrent(settings, INPUTS).double()
    x = torch.randn(2, STEPS, INPUTS, dtype=torch.float64)
    with torch.no_grad():
        together, _ = reader(x, torch.tensor([3, 5]))
        alone, _ = reader(x[:1, :3])
    return _far(together[:1, :3], alone)


def kinds() -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for name, choice in KINDS.items():
        reader = Recurrent(RecurrentSettings(width=WIDTH, **choice), INPUTS).double()
        output, last = reader(torch.zeros(TEXTS, STEPS, INPUTS, dtype=torch.float64))
        states = last if isinstance(last, tuple) else (last,)
        shapes = " and ".join(str(tuple(state.shape)) for state in states)
        rows.append((name, str(tuple(output.shape)), shapes))
    return rows


def uses() -> list[tuple[str, ...]]:
    """The three uses of one kind of network, with 26 tokens and 2 classes."""
    settings = RecurrentSettings(width=WIDTH)
    ids = torch.randint(26, (TEXTS, STEPS))
    classes = RecurrentNetwork(settings, 26, 2, each=False)(ids)
    writer = RecurrentNetwork(settings, 26)
    each = writer(ids)
    tokens, state, written = ids[:, 0], writer.start(), []
    for _ in range(7):
        scores, state = writer.step(state, tokens)
        tokens = scores.argmax(dim=-1)  # what comes out goes in
        written.append(tokens)
    many = torch.stack(written, dim=1)
    return [
        ("many to one: classify", str(tuple(ids.shape)), str(tuple(classes.shape))),
        ("many to many: tag, or guess the next", str(tuple(ids.shape)), str(tuple(each.shape))),
        ("one to many: write 7", str((TEXTS,)), str(tuple(many.shape))),
    ]


def _shape(name: str, found: Tensor, of: tuple[str, ...], wanted: tuple[int, ...]) -> list[Number]:
    triples = zip(of, found.shape, wanted, strict=True)
    return [Number.equal(f"{name}: {what}", size, want) for what, size, want in triples]


def _far(a: Tensor, b: Tensor) -> float:
    return float((a - b).abs().max())


def _learned(module: nn.Module) -> int:
    return sum(weights.numel() for weights in module.parameters())


def _box(ax: Axes, x: float, y: float, text: str, colour: str, *, wide: float = 0.56) -> None:
    low = (x - wide / 2, y - 0.2)
    style: dict[str, Any] = {"boxstyle": "round,pad=0.02,rounding_size=0.06", "linewidth": 1.4}
    ax.add_patch(FancyBboxPatch(low, wide, 0.4, facecolor="white", edgecolor=colour, **style))
    ax.text(x, y, text, ha="center", va="center", fontsize=FONT - 1)


def _arrow(ax: Axes, start: tuple[float, float], end: tuple[float, float], **style: Any) -> None:
    looks = {"arrowstyle": "-|>", "color": COLOURS[5], "linewidth": 1.2, **style}
    ax.annotate("", end, start, arrowprops={**looks, "shrinkA": 0, "shrinkB": 0})


def _frame(ax: Axes, low: tuple[float, float], wide: float, high: float, colour: str) -> None:
    style: dict[str, Any] = {
        "boxstyle": "round,pad=0,rounding_size=0.1",
        "linestyle": "--",
        "linewidth": 1.8,
    }
    ax.add_patch(FancyBboxPatch(low, wide, high, fill=False, edgecolor=colour, **style))


_BELOW: dict[str, Any] = {"ha": "center", "va": "top", "fontsize": FONT}


def _draw_grid() -> Drawing:
    figure, (ax,) = panels(1, size=(8.0, 3.9))
    for step in range(1, STEPS + 1):
        _box(ax, step, 0, f"$x_{step}$", COLOURS[5])
        for layer in (1, 2):
            _box(ax, step, layer * 0.9, "LSTM", COLOURS[0])
            _arrow(ax, (step, layer * 0.9 - 0.68), (step, layer * 0.9 - 0.22))
            _arrow(ax, (step + 0.3, layer * 0.9), (step + 0.7, layer * 0.9))
        _arrow(ax, (step, 2.02), (step, 2.48))
        _box(ax, step, 2.7, f"$h_{step}$", COLOURS[1])
    for layer in (1, 2):
        _box(ax, 6.05, layer * 0.9, "$h$ and $c$", COLOURS[2], wide=0.7)
        ax.text(0.55, layer * 0.9, f"layer {layer}", ha="right", va="center", fontsize=FONT)
    _frame(ax, (0.62, 2.42), 4.76, 0.56, COLOURS[1])
    _frame(ax, (5.62, 0.62), 0.86, 1.46, COLOURS[2])
    ax.text(3, 3.08, "output (5, 3, 20): the upper layer at every step", ha="center", fontsize=FONT)
    ax.text(6.05, 0.52, "last states,\n(2, 3, 20) each:\nevery layer", **_BELOW)
    ax.text(0.55, 0, "input (5, 3, 10)", ha="right", va="center", fontsize=FONT)
    ax.set(xlim=(-0.75, 6.9), ylim=(-0.3, 3.4))
    ax.axis("off")
    caption = (
        "nn.LSTM(10, 20, 2) on 5 steps of 3 texts. Arrows to the right carry the state from step "
        "to step, arrows upwards what a layer reads. The red frame is the output, the green one "
        "the last states."
    )
    return Drawing(figure, caption)


def _draw_uses() -> Drawing:
    figure, axes = panels(3, size=(2.8, 2.5))
    rows = {
        "many to one: classify": (("the", "sea", "is", "calm"), ("", "", "", "fine")),
        "many to many: tag": (("the", "sea", "is", "calm"), ("ART", "NOUN", "VERB", "ADJ")),
        "one to many: write": (("START", "the", "sea", "is"), ("the", "sea", "is", "calm")),
    }
    for ax, (title, (below, above)) in zip(axes, rows.items(), strict=True):
        for step, (word, result) in enumerate(zip(below, above, strict=True)):
            _column(ax, step, word, result, last=step == 3)
            if step and word == above[step - 1]:  # what came out is fed back
                _arrow(ax, (step - 0.78, 1.95), (step - 0.22, 0.12), linestyle=":", linewidth=1.6)
        ax.set(xlim=(-0.6, 3.6), ylim=(-0.3, 2.5))
        ax.axis("off")
        label(ax, title)
    caption = (
        "The same network in three uses: one judgement from the last state; a judgement at every "
        "word; or a beginning, after which every word that comes out is fed back in (dotted)."
    )
    return Drawing(figure, caption)


def _column(ax: Axes, step: int, word: str, result: str, *, last: bool) -> None:
    _box(ax, step, 1.0, "RNN", COLOURS[0], wide=0.62)
    ax.text(step, 0, word, ha="center", va="center", fontsize=FONT)
    _arrow(ax, (step, 0.2), (step, 0.76))
    if result:
        ax.text(step, 2.1, result, ha="center", va="center", fontsize=FONT, color=COLOURS[1])
        _arrow(ax, (step, 1.24), (step, 1.9))
    if not last:
        _arrow(ax, (step + 0.34, 1.0), (step + 0.66, 1.0))
