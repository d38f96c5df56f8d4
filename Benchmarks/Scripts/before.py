#!/usr/bin/env python3
"""Says whether this checkout is within 3 % of an earlier commit, by everyday work measured in both builds.

  Benchmarks/Scripts/before.py COMMIT [--row NAME]… [--pairs NUMBER]

COMMIT is checked out under .build/before, and measured by the benchmarks of this checkout. Both builds count their
instructions, then run in turn, the order changing from pair to pair. A row fails if it takes more than 3 % more
instructions, or if the upper end of the 95 % interval of the ratio of times is above 1.08. Any failure ends the run with
status 1.
"""

import argparse
import json
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

sys.dont_write_bytecode = True
import counts
import figures

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MOST_INSTRUCTIONS = 1.03
MOST_TIME = 1.08
# The line at which the benchmarks begin in the manifest, and dependencies that a manifest without servers lacks.
MARK = "// MARK: The benchmarks\n"
SYSTEM_PACKAGE = 'let systemPackage: Target.Dependency = .product(name: "SystemPackage", package: "swift-system")\n\n'
# The 97.5 % point of Student's distribution, by degrees of freedom; the nearest smaller number is used.
STUDENT = {1: 12.71, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 7: 2.365, 9: 2.262, 14: 2.145, 19: 2.093, 29: 2.045,
           59: 2.001, 119: 1.980}


def fail(text):
    sys.exit(f"before: {text}")


def check_out(commit):
    """A clone at a commit, with the benchmarks of this checkout."""
    found = subprocess.run(["git", "rev-parse", "--short", "--verify", f"{commit}^{{commit}}"], cwd=ROOT,
                           capture_output=True, text=True)
    if found.returncode:
        fail(f"there is no commit {commit}")
    name = found.stdout.strip()
    folder = ROOT / ".build/before" / name
    if not folder.exists():
        subprocess.run(["git", "clone", "--quiet", "--shared", "--no-checkout", str(ROOT), str(folder)], check=True)
        subprocess.run(["git", "checkout", "--quiet", name], cwd=folder, check=True)
    shutil.rmtree(folder / "Benchmarks")
    shutil.copytree(ROOT / "Benchmarks", folder / "Benchmarks", ignore=shutil.ignore_patterns("__pycache__"))
    own, earlier = ((place / "Package.swift").read_text().partition(MARK) for place in [ROOT, folder])
    (folder / "Package.swift").write_text(earlier[0] + ("" if "systemPackage:" in earlier[0] else SYSTEM_PACKAGE) + MARK + own[2])
    return folder


def build(folder):
    """Builds WorkFigures in a checkout; its path."""
    scratch = folder / ".build/benchmarks"
    result = subprocess.run(
        ["swift", "build", "--scratch-path", str(scratch), "-c", "release", "--product", "WorkFigures"], cwd=folder,
        env=os.environ | {"TALLY_BENCHMARKS": "1"}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode:
        fail(f"building {folder} failed\n{result.stdout[-3000:]}")
    return str(scratch / "release/WorkFigures")


def environment(folder):
    return os.environ | {"TALLY_BENCH_FOLDER": str(folder / ".build/bench")}


def instructions(folder, program, names):
    place = folder / ".build/bench/counts"
    place.mkdir(parents=True, exist_ok=True)
    try:
        return counts.instructions([program, "count", *names], place, environment(folder), folder)
    except counts.CountingFailed as error:
        fail(str(error))


def times(folder, program, names):
    """Each row's time in relation to its yardstick, in one run."""
    result = subprocess.run([program, "time", *names], env=environment(folder), cwd=folder, capture_output=True, text=True)
    if result.returncode:
        fail(f"{program} failed\n{result.stderr[-2000:]}")
    return {line["name"]: line["relative"] for line in map(json.loads, result.stdout.splitlines())}


def upper_bound(ratios):
    """The upper end of the 95 % interval of the mean of ratios, by their logarithms."""
    logarithms = [math.log(ratio) for ratio in ratios]
    if len(logarithms) < 2:
        return math.inf
    freedom = max(each for each in STUDENT if each <= len(logarithms) - 1)
    error = statistics.stdev(logarithms) / math.sqrt(len(logarithms))
    return math.exp(statistics.mean(logarithms) + STUDENT[freedom] * error)


def judge_instructions(old, new):
    """A verdict for each row; one that only one build has fails."""
    verdicts = []
    for name in sorted(old.keys() | new.keys()):
        if name in old and name in new:
            verdicts.append(figures.bounded(name, "instructions", new[name] / max(1, old[name]), MOST_INSTRUCTIONS))
        else:
            verdicts.append(figures.Verdict(name, "is counted in one build only", None, None, "missed"))
    return verdicts


def judge_times(ratios):
    return [figures.bounded(name, "time, upper bound", upper_bound(each), MOST_TIME) for name, each in ratios.items()]


def measured_ratios(sides, names, pairs):
    """New time by old time of each row, pair by pair."""
    ratios = {}
    for number in range(pairs):
        found = {}
        for side in ["old", "new"] if number % 2 == 0 else ["new", "old"]:
            os.sync()
            found[side] = times(*sides[side], names)
        for name, time in found["new"].items():
            ratios.setdefault(name, []).append(time / found["old"][name])
        print(f"pair {number + 1} of {pairs}", flush=True)
    return ratios


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commit")
    parser.add_argument("--row", action="append", default=[])
    parser.add_argument("--pairs", type=int, default=20)
    arguments = parser.parse_args()
    if counts.missing_programs():
        fail(f"{' and '.join(counts.missing_programs())} are missing: Scripts/set-up.sh counts")
    folder = check_out(arguments.commit)
    sides = {"old": (folder, build(folder)), "new": (ROOT, build(ROOT))}
    suite = json.loads((ROOT / "Benchmarks/Suites/work.json").read_text())["rows"]
    chosen = figures.chosen(suite, arguments.row)
    counted = [row["name"] for row in chosen if not row.get("startsProcess")]
    verdicts = judge_instructions(*(instructions(*sides[side], counted) for side in ["old", "new"]))
    verdicts += judge_times(measured_ratios(sides, arguments.row, arguments.pairs))
    for verdict in verdicts:
        print(verdict)
    missed = [str(verdict) for verdict in verdicts if verdict.is_failure]
    if missed:
        fail(f"not within 3 % of {arguments.commit}:\n  " + "\n  ".join(missed))


if __name__ == "__main__":
    main()
