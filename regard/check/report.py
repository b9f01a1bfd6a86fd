"""What the checks found, as a table for people and as JSON for programs."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

MEANINGS = {
    "causality": "no position sees the tokens after it",
    "padding_right": "padding behind a text changes nothing",
    "padding_left": "padding before a text changes nothing",
    "padding_content": "what stands in the padding changes nothing",
    "alone": "a text gets the same answer alone and in a batch",
    "cache": "step by step gives what one pass gives",
    "beam_one": "a beam of one is greedy search, with and without memory",
    "attention": "weights sum to 1 over the keys allowed, 0 elsewhere",
    "no_nan": "empty and fully masked inputs give no NaN",
    "gradients": "every parameter learns",
    "accumulation": "a batch in pieces gives the gradient of the whole",
    "save_load": "what is saved and loaded answers the same",
    "resume": "stopped and resumed equals never stopped, to the bit",
}


@dataclass(frozen=True)
class Finding:
    """One check. `passed` is None where it does not apply; the note says why."""

    name: str
    cases: int
    worst: float | None
    passed: bool | None
    note: str = ""

    @property
    def verdict(self) -> str:
        return {True: "holds", False: "FAILS", None: "-"}[self.passed]


def does_not_apply(name: str, why: str) -> Finding:
    return Finding(name, 0, None, None, why)


@dataclass(frozen=True)
class Report:
    """The findings on one model. Printed, it is a table."""

    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()
    """What was guessed about the model, and how it was run."""

    @property
    def passed(self) -> bool:
        return all(finding.passed is not False for finding in self.findings)

    def __getitem__(self, name: str) -> Finding:
        return next(finding for finding in self.findings if finding.name == name)

    def as_json(self) -> dict[str, Any]:
        checks = [
            {**asdict(finding), "meaning": MEANINGS[finding.name]} for finding in self.findings
        ]
        return {"passed": self.passed, "checks": checks, "notes": list(self.notes)}

    def __str__(self) -> str:
        rows: list[Sequence[str]] = [("check", "cases", "worst", "", "what it means")]
        rows += [_row(finding) for finding in self.findings]
        widths = [max(len(row[i]) for row in rows) for i in range(4)]
        lines = [_line(row, widths) for row in rows]
        return "\n".join([*lines, *self._explained(), *self.notes, self._verdict()])

    def _explained(self) -> list[str]:
        """The notes that are too long for the table."""
        told = [finding for finding in self.findings if finding.passed is False]
        return [f"{finding.name} FAILS: {finding.note}" for finding in told]

    def _verdict(self) -> str:
        failed = sum(finding.passed is False for finding in self.findings)
        held = sum(finding.passed is True for finding in self.findings)
        rest = len(self.findings) - failed - held
        return f"Of {len(self.findings)} checks, {held} hold, {failed} fail, {rest} can not apply."


def _row(finding: Finding) -> tuple[str, ...]:
    meaning = finding.note if finding.passed is None else MEANINGS[finding.name]
    worst = "" if finding.worst is None else f"{finding.worst:.1e}" if finding.worst else "0"
    cases = f"{finding.cases:,}" if finding.cases else ""
    return finding.name, cases, worst, finding.verdict, meaning


def _line(row: Sequence[str], widths: list[int]) -> str:
    name, cases, worst, verdict, meaning = row
    a, b, c, d = widths
    return f"{name:<{a}}  {cases:>{b}}  {worst:>{c}}  {verdict:<{d}}  {meaning}".rstrip()
