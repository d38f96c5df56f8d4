#!/usr/bin/env python3
"""Runs a suite of benchmarks, writes its results as JSON and prints them as a table.

  Benchmarks/Scripts/bench.py floor|peers|search|engine|growth|sync|cli|serve [--row NAME]… [--smoke] [--record]
                              a suite, or some of its rows; --smoke checks the answers on small stores, not the times;
                              --record writes each row's cost relative to its peer into Benchmarks/Suites/recorded.json
  Benchmarks/Scripts/bench.py readme [--check]
                              puts the table of the last runs into Benchmarks/README.md

Data sets, scratch stores and results are under .build/bench; data sets are kept until their code changes.
A missed goal, a wrong answer or a missing row ends the run with status 1. A row that says `known` fails only beyond that
limit; a row that is compared with a peer fails, too, beyond 1.3 times its recorded cost, or 2 times where it waits for
the disk. What fails is measured up to three times.
"""

import argparse
import hashlib
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

# The modules beside this one leave no compiled files in the source tree.
sys.dont_write_bytecode = True
import cli
import figures
import goals
import load
import recording
import report as reports
import serve

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Measured programs have a build of their own; small stores in debug use that of `make build`.
BUILDS = {"release": ROOT / ".build/benchmarks", "debug": ROOT / ".build"}
# The suites that time whole programs, and have no benchmarks of their own.
PROGRAMS = {"cli": cli.run, "serve": serve.run}
SAMPLES = ".histogram.samples.tsv"
# Each recorded cost is the median of this many measurements.
RECORDING_RUNS = 3


def say(text=""):
    print(text, flush=True)


def fail(text):
    sys.exit(f"bench: {text}")


class Run:
    """One run of a suite: its folders for builds, data and results."""

    def __init__(self, suite_name, is_smoke, rows=(), is_optimised=True):
        self.suite_name = suite_name
        self.is_smoke = is_smoke
        self.configuration = "release" if is_optimised else "debug"
        self.folder = ROOT / (".build/bench-smoke" if is_smoke else ".build/bench")
        self.environment = os.environ | {"TALLY_BENCH_FOLDER": str(self.folder)}
        if is_smoke:
            self.environment["TALLY_BENCH_SMOKE"] = "1"
        self.suite = json.loads((ROOT / f"Benchmarks/Suites/{suite_name}.json").read_text())
        if rows:
            named = [{"name": goals.name(row), "row": row} for row in self.suite["rows"]]
            try:
                self.suite["rows"] = [each["row"] for each in figures.chosen(named, rows)]
            except ValueError as error:
                fail(str(error))
        self.sizes = self.suite.get("smokeDataSets" if is_smoke else "dataSets") or self.suite["dataSets"]

    def build(self, *products):
        for product in products:
            started = time.monotonic()
            result = subprocess.run(
                ["swift", "build", "--scratch-path", str(BUILDS[self.configuration]), "-c", self.configuration, "--product", product],
                cwd=ROOT, env=os.environ | {"TALLY_BENCHMARKS": "1"}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if result.returncode:
                fail(f"building {product} failed\n{result.stdout}")
            say(f"built {product} in {time.monotonic() - started:.0f} s")

    def program(self, product):
        return str(BUILDS[self.configuration] / self.configuration / product)

    def make_data_sets(self):
        """Creates missing data sets; all of them if the code that decides the contents of a store has changed."""
        data, stamp = self.folder / "data", self.folder / "data/made-by"
        digest = hashlib.sha256()
        for place in ["Schemas", "Sources/Tally/Storage", "Sources/TallyEngine/Storage", "Benchmarks/Sources"]:
            for file in sorted((ROOT / place).rglob("*.*")):
                digest.update(file.read_bytes())
        if not stamp.exists() or stamp.read_text() != digest.hexdigest():
            shutil.rmtree(data, ignore_errors=True)
        data.mkdir(parents=True, exist_ok=True)
        for size in self.sizes:
            started = time.monotonic()
            self.call(self.program("MakeDataSets"), str(size))
            say(f"data set {size}: {time.monotonic() - started:.1f} s")
        stamp.write_text(digest.hexdigest())

    def call(self, *command):
        result = subprocess.run(
            command, cwd=ROOT, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if result.returncode:
            fail(f"{command[0]} failed\n{result.stdout}")
        return result.stdout

    def benchmark(self, name):
        """Runs one benchmark in a process of its own; its metrics, each with its percentiles."""
        target, output = self.suite["target"], self.folder / "scratch/output"
        shutil.rmtree(output, ignore_errors=True)
        # Otherwise the system would write new programs, and data of the benchmark before, while this one is measured.
        os.sync()
        pace = load.pace()
        log = self.call(
            self.program("BenchmarkTool"), "--command", "run", "--format", "histogramSamples", "--grouping",
            "benchmark", "--no-progress", "--filter", name, "--baseline-storage-path", str(output), "--path",
            str(output), "--targets", target, "--benchmark-executable-paths", self.program(target))
        metrics = {}
        for file in output.glob(f"Current_run.{target}.{name}.*{SAMPLES}"):
            metric = file.name.removesuffix(SAMPLES).rpartition(".")[2]
            # The first line is a heading; times come in nanoseconds, as the benchmarks ask for.
            metrics[metric] = self.percentiles([int(line) for line in file.read_text().splitlines()[1:]])
        if not metrics:
            fail(f"the benchmark {name} failed\n{log}")
        hashes = [line.split()[1] for line in log.splitlines() if line.startswith("answer-hash ")]
        return {"name": name, "answers": hashes, "metrics": metrics, "pace": round(pace, 3)}

    @staticmethod
    def percentiles(values):
        """The figures kept of a metric's samples."""
        values = sorted(values)
        at = lambda share: values[min(len(values) - 1, int(len(values) * share))]
        return {"count": len(values), "p10": at(0.1), "p50": at(0.5), "p90": at(0.9), "p99": at(0.99), "p99.9": at(0.999)}

    def benchmarks(self, names):
        """Runs benchmarks one after another."""
        results = []
        for number, name in enumerate(names, 1):
            started = time.monotonic()
            results.append(self.benchmark(name))
            say(f"{number:3}/{len(names)} {name}: {time.monotonic() - started:.1f} s")
        return results


def judged(run, results, recorded):
    """The verdicts of every row, and the last results; the benchmarks of rows that fail run again, twice at most."""
    rows = [row | {"name": goals.name(row)} if "benchmark" in row or "group" in row else row for row in run.suite["rows"]]
    found = {result["name"]: result for result in results}
    pace = load.pace() / recorded["pace"] if "pace" in recorded else 1.0
    watch, is_first = run.watch, True
    known = recorded.get(run.suite_name, {})

    def measure(left):
        nonlocal watch, is_first
        if not is_first:
            watch = load.Watch()
            named = {goals.name(row) for row in left}
            wanted = [row for row in run.suite["rows"] if goals.name(row) in named]
            say(f"once more: {', '.join(sorted(named))}")
            for result in measured(run, wanted):
                found[result["name"]] = result
        is_first = False
        return {row["name"]: found for row in left}

    def judge(row, _):
        original = next(each for each in run.suite["rows"] if goals.name(each) == row["name"])
        return goals.verdicts(original, found, run.sizes, known, pace, watch.is_loaded())

    verdicts, _ = figures.tried(rows, measure, judge)
    return verdicts, list(found.values())


def measured(run, rows):
    """Runs the benchmarks of some rows."""
    if run.suite_name in PROGRAMS:
        return PROGRAMS[run.suite_name](run, say, fail)
    names = [name for row in rows for name in goals.benchmarks(row, run.sizes)]
    return run.benchmarks(list(dict.fromkeys(names)))


def record(run, several):
    """Writes each row's cost relative to its peer or the processor's pace: the medians of several measurements."""
    each = []
    for results in several:
        found = {result["name"]: result for result in results}
        each.append({goals.name(row): goals.costs(row, found, run.sizes) for row in run.suite["rows"]})
    rows = {name: {key: round(statistics.median(costs[name][key] for costs in each), 5) for key in first}
            for name, first in each[0].items() if first}
    recording.write(run.suite_name, rows, load.pace())


def run_suite(name, is_smoke=False, is_recording=False, rows=(), is_optimised=True):
    run = Run(name, is_smoke, rows, is_optimised)
    started = time.monotonic()
    say(f"{name}: takes about {'a minute' if is_smoke else run.suite['estimate']}")
    if subprocess.run([ROOT / "Scripts/set-up.sh", "cli" if name == "cli" else "bench"]).returncode:
        fail(f"{name}: a program or library is missing, and nothing was measured")
    run.build("MakeDataSets")
    run.make_data_sets()
    if name not in PROGRAMS:
        run.build("BenchmarkTool", run.suite["target"], *run.suite.get("programs", []))
    run.watch = load.Watch()
    several = [measured(run, run.suite["rows"]) for _ in range(RECORDING_RUNS if is_recording else 1)]
    results = several[-1]
    verdicts = {}
    if is_recording:
        record(run, several)
    elif not is_smoke:
        verdicts, results = judged(run, results, recording.read())
    shutil.rmtree(run.folder / "scratch", ignore_errors=True)
    report = {"suite": name, "machine": reports.machine(ROOT, run.folder), "results": results}
    file = run.folder / f"results/{name}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    if not rows:
        # Only whole runs are for the table of results.
        file.write_text(json.dumps(report, indent=1) + "\n")
    if is_smoke:
        return say(f"{name}: all answers are right ({time.monotonic() - started:.0f} s)")
    text = reports.table(run.suite, report, recording.read().get(name, {}))
    say(f"\n{text}\nresults: {file.relative_to(ROOT)} ({time.monotonic() - started:.0f} s in all)")
    for verdict in [each for row in verdicts.values() for each in row if each.state in ["known", "not judged"]]:
        say(f"{verdict}")
    failures = [str(verdict) for verdict in figures.failures(verdicts)]
    if failures:
        fail("missed:\n" + "\n".join(f"  {failure}" for failure in failures))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for suite in ["floor", "peers", "search", "engine", "growth", "sync", "cli", "serve"]:
        command = commands.add_parser(suite)
        command.add_argument("--smoke", action="store_true", help="check the answers on small stores, in a debug build")
        command.add_argument("--optimised", action="store_true", help="check them in the build that is measured")
        command.add_argument("--record", action="store_true")
        command.add_argument("--row", action="append", default=[])
    commands.add_parser("readme").add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    if arguments.command == "readme":
        if not arguments.check:
            reports.update_readme(ROOT, recording.read())
        elif missing := reports.missing_rows(ROOT):
            fail(f"Benchmarks/README.md lacks {', '.join(missing)}: make bench-readme")
    else:
        if arguments.record and arguments.row:
            fail("--record is for a whole suite")
        is_optimised = arguments.optimised or not arguments.smoke
        run_suite(arguments.command, arguments.smoke, arguments.record, arguments.row, is_optimised)


if __name__ == "__main__":
    main()
