"""nanoGPT's configuration for a CPU, twice on the same batches: ours, and transformers' GPT2 of
that shape with nanoGPT's own optimizer and schedule. Both are judged on the same windows.

REGARD_DATA=DATA python -m bench.gpt2 [RUN]     RUN: our finished run of shakespeare-cpu
"""

import math
import os
import sys
import time
from pathlib import Path

import numpy as np
import torch
from transformers import GPT2Config, GPT2LMHeadModel

from regard.build import read_splits
from regard.config import Tree
from regard.metrics.likelihood import likelihood
from regard.models.weights import count_parameters
from regard.reproduce.record import record
from regard.run import Run, load
from regard.tasks.windows import Shuffled, TokenRow
from regard.train.state import environment

STEPS, WARMUP, RATE, LOWEST = 2000, 100, 1e-3, 1e-4  # nanoGPT's config/train_shakespeare_char.py


def theirs(run: Run, batches: Shuffled) -> tuple[GPT2LMHeadModel, float]:
    torch.manual_seed(0)
    shape = run.task.recipe.model
    config = GPT2Config(
        vocab_size=run.task.tokenizer.size,
        n_positions=shape.max_length,
        n_embd=shape.width,
        n_layer=shape.layers,
        n_head=shape.heads,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
    )
    model = GPT2LMHeadModel(config).train()
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
    return model.eval(), time.perf_counter() - clock


def rate(step: int) -> float:
    if step < WARMUP:
        return RATE * (step + 1) / (WARMUP + 1)
    share = (step - WARMUP) / (STEPS - WARMUP)
    return LOWEST + 0.5 * (1 + math.cos(math.pi * share)) * (RATE - LOWEST)


@torch.no_grad()
def losses(model: GPT2LMHeadModel, row: TokenRow, length: int) -> np.ndarray:
    """Of every token, in windows that touch."""
    found = []
    for start in range(0, len(row) - 1, length):
        ids = torch.from_numpy(row[start : start + length + 1])[None]
        logits = model(ids[:, :-1]).logits[0]
        each = torch.nn.functional.cross_entropy(logits, ids[0, 1:], reduction="none")
        found.append(each.double().numpy())
    return np.concatenate(found)


def main(folder: Path) -> None:
    run = load(folder)
    splits = read_splits(run.task, run.facts, folder)
    batches = run.task.batches(splits.train)
    model, seconds = theirs(run, batches)
    tokens = run.task.tokens(splits.test)
    length = run.task.recipe.model.max_length
    how = f"windows-of-{length}-every-{length}"
    found = likelihood(losses(model, tokens.row, length), tokens.bytes, how)
    score = found["loss"].score()
    ours = run.facts["test"]["scores"]["loss"]
    rows: list[Tree] = [
        _row("regard", count_parameters(run.network), run.facts["seconds"], ours),
        _row(
            "transformers GPT2LMHeadModel",
            count_parameters(model),
            seconds,
            {
                "value": score.value,
                "low": score.low,
                "high": score.high,
                "signature": score.signature,
            },
        ),
    ]
    for row in rows:
        print(row["model"], row["parameters"], row["seconds"], row["scores"]["loss"]["value"])
    path = record(
        Path("bench/results"),
        "gpt2",
        "python -m bench.gpt2 RUN",
        environment(torch.device("cpu")),
        seconds=round(run.facts["seconds"] + seconds, 1),
        results=rows,
    )
    print(f"Written to {path}.")
    sys.exit(ours["value"] >= score.value)


def _row(name: str, parameters: int, seconds: float, loss: Tree) -> Tree:
    return {
        "model": name,
        "split": "last tenth of the training text",
        "parameters": parameters,
        "seconds": round(seconds, 1),
        "scores": {"loss": loss},
    }


if __name__ == "__main__":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "runs/shakespeare-cpu/transformer"))
