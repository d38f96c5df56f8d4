"""The recorded costs of the rows of all suites: Benchmarks/Suites/recorded.json."""

import json
import os
import pathlib

FILE = pathlib.Path(__file__).resolve().parent.parent / "Suites/recorded.json"


def read():
    """By suite and row, and the pace of the processors when times were recorded; empty before the first recording."""
    return json.loads(FILE.read_text()) if FILE.exists() else {}


def write(suite, rows, pace=None):
    """Replaces the record of a suite as a whole or not at all."""
    recorded = read() | {suite: rows} | ({"pace": round(pace, 3)} if pace else {})
    staged = FILE.with_suffix(".new")
    staged.write_text(json.dumps(recorded, indent=1, sort_keys=True) + "\n")
    os.replace(staged, FILE)
    print(f"recorded {len(rows)} rows of {suite}", flush=True)
