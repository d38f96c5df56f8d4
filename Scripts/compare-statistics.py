#!/usr/bin/env python3
"""Compares `tally stats --json` with an oracle of its own, key by key, over a real history.

The history is what $TALLY_HISTORY names, one task object a line; by default the shared one beside the project. A store
is made of it, changed so that every kind of entry is there, and asked as of many instants, in many zones.

    Scripts/compare-statistics.py [TALLY]
"""

import importlib.util
import itertools
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
HISTORY = pathlib.Path(os.environ.get("TALLY_HISTORY", ROOT.parent / "shared/data/taskwarrior-history.ndjson"))
ZONES = [
    "UTC", "America/New_York", "Europe/Istanbul", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Chatham",
    "Pacific/Apia", "America/St_Johns", "America/Sao_Paulo", "Africa/Casablanca", "Asia/Tehran", "Pacific/Honolulu",
]
INSTANTS = [
    "2008-01-01T00:00:00Z", "2008-04-20T02:00:00Z", "2009-11-01T05:30:00Z", "2011-11-06T02:31:00Z",
    "2011-12-31T10:00:00Z", "2014-03-01T00:00:00Z", "2016-02-29T23:59:59.999999Z", "2018-12-31T23:30:00Z",
    "2026-11-21T12:00:00Z",
]


def oracle_module():
    spec = importlib.util.spec_from_file_location("oracle", ROOT / "Tests/oracle/statistics.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def binary():
    if len(sys.argv) > 1:
        return sys.argv[1]
    shown = subprocess.run(["swift", "build", "--show-bin-path"], cwd=ROOT, check=True, capture_output=True, text=True)
    return shown.stdout.strip() + "/tally"


class Store:
    def __init__(self, tally, directory):
        self.tally, self.directory = tally, directory

    def run(self, *arguments):
        command = [self.tally, *arguments, "--store", self.directory + "/store"]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def make(self):
        """Imports the history, then moves, deletes and reopens some of it."""
        numbers = random.Random(3)
        self.run("import", str(HISTORY), "--format", "ndjson")
        for name in ("core", "documents", "gone"):
            self.run("lists", "add", name)
        sections = json.loads(self.run("all", "--json"))["sections"]
        tasks = [task["id"] for section in sections for task in section["tasks"]]
        numbers.shuffle(tasks)
        parts = [tasks[start:start + 60] for start in range(0, 480, 60)]
        for part, name in zip(parts[:3], ("core", "documents", "gone")):
            self.run("reopen", *part)
            self.run("move", *part, "--list", name)
            self.run("done", *part[:40], "--at", "2012-03-25T01:30:00+01:00")
        self.run("move", *parts[0][:20], "--list", "documents")
        self.run("delete", *parts[1][:15], *parts[2][:10], *parts[3])
        self.run("reopen", *parts[4])
        self.run("start", *parts[4][:9])
        self.run("move", *parts[5], "--to", "2011-12-31")
        for due, part in (("2014-03-01T00:00:00Z", parts[4][:20]), ("2010-01-01T00:00:00Z", parts[4][20:30])):
            for task in part:
                self.run("edit", task, "--due", due)
        self.run("lists", "delete", "gone", "--force")
        self.run("export", "-o", self.directory + "/export.json")
        with open(self.directory + "/export.json", encoding="utf-8") as file:
            return json.load(file)


def questions():
    """Every zone at every instant, each time with another first weekday, period and choice of days."""
    weekdays = itertools.cycle(["monday", "sunday", "saturday", "thursday", "tuesday", "friday", "wednesday"])
    periods = itertools.cycle(["day", "week", "month"])
    extras = itertools.cycle([
        [], ["--from", "2011-10-28", "--to", "2012-01-09"], ["--as-recorded"], ["--day-start", "04:00"],
        ["--from", "2009-03-01", "--to", "2009-11-02", "--day-start", "04:00"], ["--list", "core"], [],
        ["--list", "documents", "--from", "2012-03-01", "--to", "2012-04-30"],
    ])
    for zone, now in itertools.product(ZONES, INSTANTS):
        yield ["--now", now, "--time-zone", zone, "--week-start", next(weekdays), "--by", next(periods), *next(extras)]


def oracle_arguments(module, question, document):
    lists = {item["name"]: item["id"] for item in document["lists"]}
    words = [lists[word] if before == "--list" else word for before, word in zip([""] + question, question)]
    words = ["240" if word == "04:00" else word for word in words]
    return module.parser().parse_args(["-", *words])


def differences(ours, theirs, path=""):
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for key in theirs.keys() | ours.keys():
            yield from differences(ours.get(key, "(missing)"), theirs.get(key, "(missing)"), f"{path}.{key}")
    elif isinstance(theirs, list) and isinstance(ours, list) and len(ours) == len(theirs):
        for index, pair in enumerate(zip(ours, theirs)):
            yield from differences(*pair, f"{path}[{index}]")
    elif path in (".cycleTime.medianSeconds", ".cycleTime.p90Seconds") and None not in (ours, theirs):
        # Times to completion are kept in buckets.
        if abs(ours - theirs) > 0.01 * theirs:
            yield f"{path}: {ours}, by the oracle {theirs}"
    elif path == ".timeZone" and {ours, theirs} == {"GMT", "UTC"}:
        # Foundation has one zone under both names, and gives it back under the first.
        return
    elif ours != theirs:
        yield f"{path}: {ours}, by the oracle {theirs}"


def main():
    if not HISTORY.exists():
        print(f"compare-statistics: skipped, there is no history at {HISTORY}", file=sys.stderr)
        return 0
    module, failures, count = oracle_module(), 0, 0
    with tempfile.TemporaryDirectory() as directory:
        store = Store(binary(), directory)
        document = store.make()
        for question in questions():
            ours = json.loads(store.run("stats", "--json", *question))
            theirs = module.Oracle(document, oracle_arguments(module, question, document)).answer()
            found = list(differences(ours, theirs))
            failures, count = failures + bool(found), count + 1
            for line in found[:5]:
                print(f"{' '.join(question)}\n  {line}", file=sys.stderr)
    print(f"compare-statistics: {count} answers compared in every key, {failures} differ")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
