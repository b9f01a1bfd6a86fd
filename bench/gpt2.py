"""nanoGPT's configuration for a CPU, twice on the same batches: ours, and transformers' GPT2 of
that shape with nanoGPT's own optimizer and schedule. Both are judged on the same windows.

python -m bench.gpt2 [RUN]     RUN: our finished run of shakespeare-cpu
"""

import math
import os
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import GPT2Config, GPT2LMHeadModel

from regard.build import read_splits
from regard.config import Tree
from regard.metrics.bootstrap import Tally, difference
from regard.metrics.likelihood import likelihood
from regard.models.weights import count_parameters
from regard.reproduce.record import record
from regard.run import Run, load
from regard.tasks.text_data import Tokens
from regard.tasks.text_scores import tallies_of
from regard.tasks.windows import Shuffled
from regard.train.state import environment

STEPS, WARMUP, RATE, LOWEST = 2000, 100, 1e-3, 1e-4  # nanoGPT's config/train_shakespeare_char.py
THEIRS = "transformers GPT2LMHeadModel, AdamW as in nanoGPT"
OPTIMIZERS = {"muon": "Muon", "adamw": "AdamW"}


def gpt2(shape: Any, vocabulary: int) -> GPT2LMHeadModel:
    config = GPT2Config(
        vocab_size=vocabulary,
        n_positions=shape.max_length,
        n_embd=shape.width,
        n_layer=shape.layers,
        n_head=shape.heads,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=None,
        eos_token_id=None,
        use_cache=False,  # nobody reads it here, and making it takes time
    )
    return GPT2LMHeadModel(config)


def trained(model: GPT2LMHeadModel, batches: Shuffled) -> float:
    """Seconds that it took."""
    wide = [p for p in model.parameters() if p.dim() >= 2]
    rest = [p for p in model.parameters() if p.dim() < 2]
    groups = [{"params": wide, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=RATE, betas=(0.9, 0.99))
    clock = time.perf_counter()
    for step in range(STEPS):
        for group in optimizer.param_groups:
            group["lr"] = rate(step)
        ids = torch.from_numpy(np.stack([window.ids for window in batches.of(step)]))
        logits = model(ids[:, :-1]).logits
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return time.perf_counter() - clock


def rate(step: int) -> float:
    if step < WARMUP:
        return RATE * (step + 1) / (WARMUP + 1)
    share = (step - WARMUP) / (STEPS - WARMUP)
    return LOWEST + 0.5 * (1 + math.cos(math.pi * share)) * (RATE - LOWEST)


@torch.no_grad()
def theirs(model: GPT2LMHeadModel, tokens: Tokens, length: int, how: str) -> Tally:
    """The loss of every token, in windows that touch."""
    found, row = [], tokens.row
    for start in range(0, len(row) - 1, length):
        ids = torch.from_numpy(row[start : start + length + 1])[None]
        logits = model(ids[:, :-1]).logits[0]
        each = torch.nn.functional.cross_entropy(logits, ids[0, 1:], reduction="none")
        found.append(each.double().numpy())
    return likelihood(np.concatenate(found), tokens.sizes(), how)["loss"]


def measured(run: Run) -> tuple[list[Tree], Tree]:
    """A row for each of the two, and how far apart they are on the same stretches of the text."""
    task: Any = run.task
    splits = read_splits(task, run.facts, run.folder)
    torch.manual_seed(0)
    model = gpt2(task.recipe.model, task.tokenizer.size).train()
    seconds = trained(model, task.batches(splits.train))
    tokens, context = task.tokens(splits.test), task.context()
    mine = tallies_of(run.network, tokens, context)["loss"]
    how = context.name(len(tokens.row) - 1)
    other = theirs(model.eval(), tokens, context.length, how)
    ours = f"regard, {OPTIMIZERS[task.recipe.train.optimizer]}"
    rows = [
        _row(ours, count_parameters(run.network), run.facts["seconds"], mine),
        _row(THEIRS, count_parameters(model), seconds, other),
    ]
    return rows, {"a": ours, "b": THEIRS, "metric": "loss", "found": difference(mine, other)}


def main(folder: Path) -> None:
    rows, apart = measured(load(folder))
    for row in rows:
        print(row["model"], row["parameters"], row["seconds"], row["scores"]["loss"]["value"])
    found = apart["found"]
    print(f"a - b: {found['difference']:+.4f} ({found['low']:+.4f} to {found['high']:+.4f})")
    path = record(
        Path("bench/results"),
        "gpt2",
        "python -m bench.gpt2 RUN",
        environment(torch.device("cpu")),
        seconds=round(sum(row["seconds"] for row in rows), 1),
        results=rows,
        differences=[apart],
    )
    print(f"Written to {path}.")
    sys.exit(found["difference"] >= 0)


def _row(name: str, parameters: int, seconds: float, loss: Tally) -> Tree:
    return {
        "model": name,
        "split": "last tenth of the training text",
        "parameters": parameters,
        "seconds": round(seconds, 1),
        "scores": {"loss": asdict(loss.score())},
    }


if __name__ == "__main__":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "runs/shakespeare-cpu/transformer"))
