#!/usr/bin/env python3
"""Measures pieces of everyday work, and compares them with the recorded figures.

  Benchmarks/Scripts/work.py times [--row NAME]…    times, each relative to a yardstick of the same run
  Benchmarks/Scripts/work.py counts [--row NAME]…   instructions, system calls, flushes and bytes written
  Benchmarks/Scripts/work.py record times|counts    records what this checkout costs in Benchmarks/Suites/recorded.json

A row fails beyond 1.3 times its recorded time, or 2 times where it waits for the disk, after three tries; or beyond 1.05
times a recorded count, 1.25 times for system calls. A row without a record fails. Any failure ends the run with status 1.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

sys.dont_write_bytecode = True
import counts
import figures
import load
import recording

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / ".build/benchmarks"
FOLDER = ROOT / ".build/bench"
SUITE = ROOT / "Benchmarks/Suites/work.json"
# Each recorded time is the median of this many runs of the program.
RECORDING_RUNS = 5
COUNTING_RUNS = 3


def fail(text):
    sys.exit(f"bench: {text}")


def program():
    """Builds WorkFigures; its path."""
    result = subprocess.run(
        ["swift", "build", "--scratch-path", str(BUILD), "-c", "release", "--product", "WorkFigures"], cwd=ROOT,
        env=os.environ | {"TALLY_BENCHMARKS": "1"}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode:
        fail(f"building WorkFigures failed\n{result.stdout}")
    return str(BUILD / "release/WorkFigures")


def environment():
    return os.environ | {"TALLY_BENCH_FOLDER": str(FOLDER)}


def measured_times(path, rows):
    """The program's figures by row."""
    # Otherwise the system would write data of other programs while this one is measured.
    os.sync()
    result = subprocess.run([path, "time", *(row["name"] for row in rows)], env=environment(), cwd=ROOT,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    found = {line["name"]: line for line in map(json.loads, result.stdout.splitlines())}
    if result.returncode:
        fail(f"WorkFigures failed after {len(found)} of {len(rows)} rows\n{result.stderr[-2000:]}")
    return found


def measured_counts(path, rows):
    """Counts by row."""
    missing = counts.missing_programs()
    if missing:
        fail(f"{' and '.join(missing)} count instructions and system calls, and are missing: install them")
    try:
        return counts.count(path, rows, FOLDER / "counts", environment(), ROOT)
    except counts.CountingFailed as error:
        fail(str(error))


def read_suite():
    rows = json.loads(SUITE.read_text())["rows"]
    return rows, recording.read()


def ensure_complete(path, rows):
    """The suite names every piece of the program and its yardstick, and no other."""
    listed = subprocess.check_output([path, "list"], text=True).split("\n")
    pieces = dict(line.split() for line in listed if line)
    named = {row["name"]: "disk" if row.get("waitsForDisk") else "processor" for row in rows}
    if pieces != named:
        wrong = sorted(name for name in pieces.keys() | named.keys() if pieces.get(name) != named.get(name))
        fail(f"{SUITE.relative_to(ROOT)} and WorkFigures differ in {', '.join(wrong)}")


def compare(kind, path, rows, recorded, is_kept=False):
    """Measures, judges and prints; returns the verdicts that fail."""
    known, watch = recorded.get("work", {}), load.Watch()

    def measure(left):
        nonlocal watch
        watch = load.Watch()
        return measured_times(path, left) if kind == "times" else measured_counts(path, left)

    def judge(row, found):
        record = known.get(row["name"])
        if kind == "times":
            return [figures.judge_time(row, found, record, is_loaded=watch.is_loaded())]
        return figures.judge_counts(row, found, record)

    # Counts do not depend on the load, but a little on the random ids: a page is split, or not.
    verdicts, found = figures.tried(rows, measure, judge)
    for row in rows:
        print_row(row["name"], found.get(row["name"]), verdicts[row["name"]])
    if is_kept:
        save(kind, found)
    return figures.failures(verdicts)


def print_row(name, found, verdicts):
    state = "missed" if any(verdict.is_failure for verdict in verdicts) else "met"
    ratios = [f"{verdict.what} {verdict.value:,.4g} of at most {verdict.limit:,.4g}"
              for verdict in verdicts if verdict.value is not None and (state == "met" or verdict.is_failure)]
    micros = f"{found['microseconds']:10,.1f} µs  " if found and "microseconds" in found else ""
    print(f"{state:7} {name:24} {micros}{'; '.join(ratios)}", flush=True)


def save(kind, found):
    """Keeps the last run's figures for the table of results."""
    file = FOLDER / f"results/work-{kind}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")


def record(kind, path, rows, recorded):
    """Replaces the recorded figures of this kind; those of rows that are gone go, too."""
    work, old = {}, recorded.get("work", {})
    if kind == "times":
        runs = [measured_times(path, rows) for _ in range(RECORDING_RUNS)]
        fresh = {row["name"]: {"relative": round(statistics.median(run[row["name"]]["relative"] for run in runs), 5)}
                 for row in rows}
    else:
        runs = [measured_counts(path, rows) for _ in range(COUNTING_RUNS)]
        fresh = {name: {"counts": {kind: round(statistics.median(run[name][kind] for run in runs)) for kind in found}}
                 for name, found in runs[0].items()}
    for row in rows:
        name = row["name"]
        if name not in fresh:
            fail(f"{name} was not measured: nothing is recorded")
        work[name] = old.get(name, {}) | fresh[name]
    recording.write("work", work, load.pace() if kind == "times" else None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for command in ["times", "counts"]:
        commands.add_parser(command).add_argument("--row", action="append", default=[])
    commands.add_parser("record").add_argument("kind", choices=["times", "counts"])
    arguments = parser.parse_args()
    rows, recorded = read_suite()
    path = program()
    ensure_complete(path, rows)
    if arguments.command == "record":
        return record(arguments.kind, path, rows, recorded)
    try:
        rows = figures.chosen(rows, arguments.row)
    except ValueError as error:
        fail(str(error))
    missed = compare(arguments.command, path, rows, recorded, is_kept=not arguments.row)
    shutil.rmtree(FOLDER / "scratch", ignore_errors=True)
    if missed:
        fail("these rows cost more than recorded:\n" + "\n".join(f"  {verdict}" for verdict in missed))


if __name__ == "__main__":
    main()
