#!/usr/bin/env python3
"""Compares the times and sizes of this checkout with those of an earlier commit, measured in turn on this machine.

  Benchmarks/Scripts/before.py [COMMIT] [--suite SUITE]… [--rounds NUMBER] [--limit RATIO] [--smoke]

COMMIT is the last one without tags, priorities, recurrence and search unless another one is given; "sync" is the last one
without synchronisation. It is checked out and built under .build/before. Each round runs the suites in both checkouts,
one after the other, the next round the other way round. A figure is the lowest of the rounds' medians, as other programs
only add time; one that is more than 5% over the earlier one's, or another limit, ends the run with status 1. --smoke compares the results of the last smoke run
with themselves: it checks this program, not the times.
"""

import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BEFORE_FIELDS = "fd6d84f"
BEFORE_SYNC = "5019bf9"


def check_out(commit):
    """A clone at a commit, with builds and results of its own."""
    name = subprocess.check_output(["git", "rev-parse", "--short", commit], cwd=ROOT, text=True).strip()
    folder = ROOT / ".build/before" / name
    if not folder.exists():
        subprocess.run(["git", "clone", "--quiet", "--shared", "--no-checkout", str(ROOT), str(folder)], check=True)
        subprocess.run(["git", "checkout", "--quiet", name], cwd=folder, check=True)
    return folder


def figures(folder, suite, run_folder):
    """The median of each metric of a suite's last run, by benchmark and metric; those of peers are left out."""
    report = json.loads((folder / run_folder / f"results/{suite}.json").read_text())
    return {
        (suite, result["name"], metric): values["p50"]
        for result in report["results"] for metric, values in result["metrics"].items()
        if not metric.startswith("peer")
    }


def run(folder, suite):
    """Runs a suite; exceeded limits do not matter here."""
    script = str(folder / "Benchmarks/Scripts/bench.py")
    file = folder / f".build/bench/results/{suite}.json"
    file.unlink(missing_ok=True)
    subprocess.run([sys.executable, script, suite], cwd=folder, stdout=subprocess.DEVNULL)
    if not file.exists():
        sys.exit(f"before: {suite} has no results in {folder}")
    return figures(folder, suite, ".build/bench")


def compare(old, new, limit):
    """Prints the figures that both have, and returns the names of those that have grown too much."""
    grown = []
    for name in sorted(old.keys() & new.keys()):
        before, after = min(old[name]), min(new[name])
        ratio = after / before if before else 1.0
        mark = "" if ratio <= limit else "  over"
        print(f"{' '.join(name):60} {before:14.0f} {after:14.0f} {ratio:7.3f}{mark}")
        if mark:
            grown.append(" ".join(name))
    return grown


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commit", nargs="?", default=BEFORE_FIELDS)
    parser.add_argument("--suite", action="append", choices=["floor", "growth", "peers"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=1.05)
    parser.add_argument("--smoke", action="store_true")
    arguments = parser.parse_args()
    suites = arguments.suite or ["floor", "growth"]
    old, new = {}, {}

    def add(results, to):
        for name, value in results.items():
            to.setdefault(name, []).append(value)

    if arguments.smoke:
        for suite in suites:
            for side in [old, new]:
                add(figures(ROOT, suite, ".build/bench-smoke"), side)
    else:
        before = check_out(BEFORE_SYNC if arguments.commit == "sync" else arguments.commit)
        for number in range(arguments.rounds):
            sides = [(before, old), (ROOT, new)]
            for folder, side in sides if number % 2 == 0 else reversed(sides):
                for suite in suites:
                    add(run(folder, suite), side)
    grown = compare(old, new, arguments.limit)
    if not old.keys() & new.keys():
        sys.exit("before: the two have no figure in common")
    if grown:
        sys.exit(f"before: more than {arguments.limit - 1:.0%} over: {', '.join(grown)}")


main()
