#!/usr/bin/env python3
"""Runs a suite of benchmarks, writes its results as JSON and prints them as a table.

  Scripts/bench.py floor [--smoke]    a suite; --smoke checks the answers on small stores, not the times
  Scripts/bench.py readme [--check]   puts the tables of the last runs into Benchmarks/README.md

Data sets, made once and kept while the code that makes them stays the same, scratch stores and results lie under
.build/bench. A limit that is exceeded, an answer that is wrong or a row that is missing ends the run with 1.
"""

import argparse
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

import bench_report

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / ".build/benchmarks"
WALL_CLOCK = "Time (wall clock)"


def say(text=""):
    print(text, flush=True)


def fail(text):
    sys.exit(f"bench: {text}")


class Run:
    """One run of a suite: where it builds, keeps its data and writes its results."""

    def __init__(self, suite_name, is_smoke):
        self.suite_name = suite_name
        self.is_smoke = is_smoke
        self.folder = ROOT / (".build/bench-smoke" if is_smoke else ".build/bench")
        self.environment = os.environ | {"TALLY_BENCH_FOLDER": str(self.folder)}
        if is_smoke:
            self.environment["TALLY_BENCH_SMOKE"] = "1"
        self.suite = json.loads((ROOT / f"Benchmarks/Suites/{suite_name}.json").read_text())
        self.sizes = self.suite.get("smokeDataSets" if is_smoke else "dataSets") or self.suite["dataSets"]

    def build(self, *products):
        for product in products:
            started = time.monotonic()
            command = ["swift", "build", "--package-path", str(ROOT / "Benchmarks"), "--scratch-path", str(BUILD)]
            result = subprocess.run(
                command + ["-c", "release", "--product", product], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                text=True)
            if result.returncode:
                fail(f"building {product} failed\n{result.stdout}")
            say(f"built {product} in {time.monotonic() - started:.0f} s")

    def program(self, product):
        return str(BUILD / "release" / product)

    def make_data_sets(self):
        """Makes what is missing; all of it when the code has changed that says what is in a store."""
        data, stamp = self.folder / "data", self.folder / "data/made-by"
        digest = hashlib.sha256()
        for place in ["Sources/LMDB", "Sources/Tally/Storage", "Benchmarks/Sources"]:
            for file in sorted((ROOT / place).rglob("*.*")):
                digest.update(file.read_bytes())
        if not stamp.exists() or stamp.read_text() != digest.hexdigest():
            shutil.rmtree(data, ignore_errors=True)
        for size in self.sizes:
            started = time.monotonic()
            self.call(self.program("MakeDataSets"), str(size))
            say(f"data set of {size:,} tasks: {time.monotonic() - started:.1f} s")
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
        log = self.call(
            self.program("BenchmarkTool"), "--command", "run", "--format", "jmh", "--grouping", "benchmark",
            "--no-progress", "--filter", name, "--baseline-storage-path", str(output), "--path", str(output),
            "--targets", target, "--benchmark-executable-paths", self.program(target))
        file = output / "Current_run.jmh.json"
        results = json.loads(file.read_text()) if file.exists() else []
        if len(results) != 1:
            fail(f"the benchmark {name} failed\n{log}")
        metrics = results[0]["secondaryMetrics"]
        hashes = [line.split()[1] for line in log.splitlines() if line.startswith("answer-hash ")]
        return {
            "name": name, "answers": hashes,
            "metrics": {("time" if key == WALL_CLOCK else key): percentiles(value["rawData"][0])
                        for key, value in metrics.items()},
        }

    def benchmarks(self):
        """Runs the suite's benchmarks one after another."""
        names = list(dict.fromkeys(row["benchmark"] for row in self.suite["rows"]))
        results = []
        for number, name in enumerate(names, 1):
            started = time.monotonic()
            results.append(self.benchmark(name))
            say(f"{number:3}/{len(names)} {name}: {time.monotonic() - started:.1f} s")
        shutil.rmtree(self.folder / "scratch", ignore_errors=True)
        return results


def percentiles(values):
    """Of samples in microseconds, or in a metric's own unit."""
    values = sorted(values)
    at = lambda share: values[min(len(values) - 1, int(len(values) * share))]
    return {"count": len(values), "p10": at(0.1), "p50": at(0.5), "p90": at(0.9), "p99": at(0.99), "p99.9": at(0.999)}


def run_suite(name, is_smoke):
    run = Run(name, is_smoke)
    started = time.monotonic()
    say(f"{name}: takes about {'a minute' if is_smoke else run.suite['estimate']}")
    subprocess.run([ROOT / "Scripts/set-up.sh"], check=True)
    run.build("MakeDataSets", "BenchmarkTool", run.suite["target"])
    run.make_data_sets()
    results = run.benchmarks()
    report = {"suite": name, "machine": bench_report.machine(ROOT, run.folder), "results": results}
    file = run.folder / f"results/{name}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(report, indent=1) + "\n")
    if is_smoke:
        if name == "floor":
            bench_report.prove_limits(run.suite, report)
        return say(f"{name}: all answers are right ({time.monotonic() - started:.0f} s)")
    text, failures = bench_report.table(run.suite, report)
    say(f"\n{text}\nresults: {file.relative_to(ROOT)} ({time.monotonic() - started:.0f} s in all)")
    if failures:
        fail(f"over the limit: {', '.join(failures)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for suite in ["floor"]:
        commands.add_parser(suite).add_argument("--smoke", action="store_true")
    commands.add_parser("readme").add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    if arguments.command == "readme":
        problem = bench_report.update_readme(ROOT, arguments.check)
        if problem:
            fail(problem)
    else:
        run_suite(arguments.command, arguments.smoke)


if __name__ == "__main__":
    main()
