"""Compares our token estimate with two public tokenizers.

It should seldom be too low, and never far too high.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from handbill.text.tokens import tokens
from report import Report
from subject import SOURCE, Subject

TOKENIZERS = {"claude": "@anthropic-ai/tokenizer@0.0.4", "o200k": "gpt-tokenizer@4.0.0"}
_COUNT = """
import {readFileSync} from "fs";
import {countTokens} from "@anthropic-ai/tokenizer";
import {encode} from "gpt-tokenizer/encoding/o200k_base";
for (const file of process.argv.slice(2)) {
  const text = readFileSync(file, "utf8");
  console.log(JSON.stringify([countTokens(text), encode(text).length]));
}
"""
LOWEST, HIGHEST = 0.97, 2.2  # relative to the larger of the two counts


def measure(folder: Path, measured: Subject) -> Report:
    root = SOURCE.parent
    files = sorted((root / "bench" / "texts").iterdir())
    files += [root / "README.md", root / "docs" / "cli.md", root / "src" / "handbill" / "pipeline.py"]
    report = Report(
        "tokens",
        "npm install " + " ".join(TOKENIZERS.values()),
        ("text", *(f"{n}|r" for n in TOKENIZERS), "estimate|r", "ratio|r"),
    )
    ratios = []
    for file, counts in zip(files, _counted(files, folder)):
        estimate = tokens(file.read_text(encoding="utf-8"))
        ratio = estimate / max(counts)
        ratios.append(ratio)
        report.add(file.name, *counts, estimate, f"{ratio:.2f}")
        if not LOWEST <= ratio <= HIGHEST:
            report.failures.append(f"{file.name}: {ratio:.2f} of the larger count, not {LOWEST} to {HIGHEST}")
    report.notes.append(
        f"ratio to the larger count: {min(ratios):.2f} to {max(ratios):.2f}, mean {sum(ratios) / len(ratios):.2f}"
    )
    return report


def _counted(files: list[Path], folder: Path) -> list[list[int]]:
    environment = {"cwd": folder, "capture_output": True, "text": True}
    done = subprocess.run(["npm", "install", "--silent", "--no-save", *TOKENIZERS.values()], check=False, **environment)
    if done.returncode:
        raise RuntimeError(f"the tokenizers cannot be installed: {done.stderr.strip()[-300:]}")
    script = folder / "count.mjs"
    script.write_text(_COUNT)
    done = subprocess.run(["node", str(script), *map(str, files)], check=True, **environment)
    return [json.loads(line) for line in done.stdout.splitlines()]
