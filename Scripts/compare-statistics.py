#!/usr/bin/env python3
"""Compares `tally stats --json` with an independent oracle, key by key, over a real history and a generated one.

The real history is Tests/oracle/history.txt: the times of a quarter of the commits of a project of sixteen years. A
line has the creation and, if it differs, the completion. Stores are created from the histories, changed so that every kind
of entry is there, and queried in every zone at an instant beside one of the zone's changes of offset, and at others.

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
import uuid
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

ROOT = pathlib.Path(__file__).resolve().parent.parent
HISTORY = ROOT / "Tests/oracle/history.txt"
SEED = int(os.environ.get("TALLY_SEED", random.SystemRandom().randrange(1 << 30)))
# Zones, each with a year of an unusual change.
ZONES = [
    ("UTC", 2012), ("America/New_York", 2011), ("Europe/Istanbul", 2011), ("Asia/Kathmandu", 1986),
    ("Australia/Lord_Howe", 2008), ("Pacific/Chatham", 2009), ("Pacific/Apia", 2011), ("America/St_Johns", 2010),
    ("America/Sao_Paulo", 2012), ("Africa/Casablanca", 2012), ("Asia/Tehran", 2017), ("Pacific/Honolulu", 1947),
    ("Antarctica/Troll", 2012), ("Europe/Amsterdam", 1936), ("Africa/Monrovia", 1972), ("Europe/Dublin", 2013),
    ("America/Caracas", 2016), ("Asia/Pyongyang", 2018), ("Pacific/Kwajalein", 1993), ("Pacific/Kiritimati", 1994),
    ("America/Havana", 2012), ("Asia/Beirut", 2010), ("Asia/Gaza", 2011), ("America/Asuncion", 2010),
    ("America/Santiago", 2015), ("Africa/Cairo", 2014), ("Asia/Amman", 2012), ("Pacific/Fiji", 2014),
    ("Pacific/Norfolk", 2015), ("Asia/Kolkata", 2014), ("Australia/Eucla", 2008),
    ("Asia/Manila", 1978), ("Pacific/Marquesas", 2014), ("America/Scoresbysund", 2013),
]
INSTANTS = [
    "2008-04-20T02:00:00Z", "2011-11-06T02:31:00Z", "2011-12-31T10:00:00Z", "2014-03-01T00:00:00Z",
    "2016-02-29T23:59:59.999999Z", "2018-12-31T23:30:00Z", "2026-11-21T12:00:00Z",
]
TAGS = ["engine", "Straße", "work"]
FILTERS = [
    [], ["--tag", "engine"], ["--filter", "priority=high"], ["--filter", "-#work"], [], ["--filter", "#engine or has:due"],
    ["--filter", "priority>=medium", "--tag", "Straße"],
]
GOALS = [[], ["--goal", "1/day"], ["--goal", "4/week"], ["--goal", "2/day"]]
WEEKDAYS = ["monday", "sunday", "saturday", "thursday", "tuesday", "friday", "wednesday"]


def oracle_module():
    spec = importlib.util.spec_from_file_location("oracle", ROOT / "Tests/oracle/statistics.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def binary():
    return sys.argv[1] if len(sys.argv) > 1 else ROOT / ".build/debug/tally"


def text_of(moment):
    return moment.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")


def change_of_offset(name, year):
    """An instant at which a zone's offset changes, from the start of a year; the start if there is none soon."""
    zone, start = ZoneInfo(name), datetime(year, 1, 1, tzinfo=timezone.utc)
    offset = start.astimezone(zone).utcoffset()
    for day in range(1, 800):
        low, high = start + timedelta(days=day - 1), start + timedelta(days=day)
        if high.astimezone(zone).utcoffset() != offset:
            while high - low > timedelta(seconds=1):
                middle = low + timedelta(seconds=(high - low) // timedelta(seconds=2))
                low, high = (middle, high) if middle.astimezone(zone).utcoffset() == offset else (low, middle)
            return high
    return start


class Store:
    """A store created from tasks, one object per line, and the document it exports."""

    def __init__(self, tally, directory, history, numbers):
        self.tally, self.directory = tally, directory
        self.run("import", "-", "--format", "ndjson", text=history)
        self.change(numbers)
        self.run("export", "-o", directory + "/export.json")
        with open(directory + "/export.json", encoding="utf-8") as file:
            self.document = json.load(file)
        self.lists = {item["name"]: item["id"] for item in self.document["lists"]} | {"gone": self.gone}

    def run(self, *arguments, text=None):
        command = [self.tally, *arguments, "--store", self.directory + "/store"]
        return subprocess.run(command, check=True, capture_output=True, encoding="utf-8", input=text).stdout

    def change(self, numbers):
        """Moves, deletes and reopens some tasks, and deletes a list with its tasks."""
        for name in ("core", "documents", "gone"):
            self.run("lists", "add", name)
        self.gone = next(item["id"] for item in json.loads(self.run("lists", "--json"))["lists"] if item["name"] == "gone")
        tasks = [task["id"] for section in json.loads(self.run("all", "--json"))["sections"] for task in section["tasks"]]
        numbers.shuffle(tasks)
        size = min(60, len(tasks) // 8)
        parts = [tasks[start:start + size] for start in range(0, 8 * size, size)]
        for part, name in zip(parts[:3], ("core", "documents", "gone")):
            self.run("reopen", *part)
            self.run("move", *part, "--list", name)
            self.run("done", *part[:2 * size // 3], "--at", "2012-03-25T01:30:00+01:00")
        self.run("move", *parts[0][:size // 3], "--list", "documents")
        self.run("delete", *parts[1][:size // 4], *parts[2][:size // 6], *parts[3])
        self.run("reopen", *parts[4])
        self.run("start", *parts[4][:9])
        self.run("move", *parts[5], "--to", "2011-12-31")
        for due, part in (("2014-03-01T00:00:00Z", parts[4][:10]), ("2010-01-01T00:00:00Z", parts[4][10:15])):
            for task in part:
                self.run("edit", task, "--due", due)
        self.run("lists", "delete", "gone", "--force")


def line_of(number, created, completed, numbers):
    return json.dumps({
        "id": str(uuid.UUID(int=numbers.getrandbits(128))), "text": f"task {number}", "state": "completed",
        "createdAt": created, "completedAt": completed, "priority": numbers.choice([None, None, "low", "medium", "high"]),
        "tags": [tag for tag in TAGS if numbers.randrange(3) == 0],
    })


def real_history(numbers):
    lines = [line.split() for line in HISTORY.read_text(encoding="utf-8").splitlines()]
    return "\n".join(line_of(number, times[0], times[-1], numbers) for number, times in enumerate(lines))


def generated_history(numbers):
    """Tasks completed within a day or two of each zone's change of offset, in clusters as dense as counters get."""
    lines = []

    def add(completed, numbers):
        created = completed - timedelta(microseconds=numbers.randrange(-3_600_000_000, 40 * 86_400_000_000))
        offset = timezone(timedelta(minutes=15 * numbers.randrange(-48, 57)))
        lines.append(line_of(len(lines), text_of(created), completed.astimezone(offset).isoformat(), numbers))

    for name, year in ZONES:
        change = change_of_offset(name, year)
        for _ in range(12):
            add(change + timedelta(microseconds=int(numbers.gauss(0, 20 * 3_600_000_000))), numbers)
        add(change, numbers)
        add(change - timedelta(microseconds=1), numbers)
    dense = datetime(2012, 3, 11, tzinfo=timezone.utc)
    for _ in range(900):
        add(dense + timedelta(microseconds=numbers.randrange(40 * 86_400_000_000)), numbers)
    return "\n".join(lines)


def questions(numbers):
    """Every zone beside a change of its offset, and at another instant; each first weekday, period and choice of days."""
    weekdays, periods = itertools.cycle(WEEKDAYS), itertools.cycle(["day", "week", "month", "year"])
    instants, goals, filters = itertools.cycle(INSTANTS), itertools.cycle(GOALS), itertools.cycle(FILTERS)
    for index, (zone, year) in enumerate(ZONES):
        change = change_of_offset(zone, year)
        beside = change + timedelta(microseconds=numbers.choice([-1, 0, 1, -3_600_000_000, 7_200_000_000, 86_400_000_000]))
        first, last = (change - timedelta(days=numbers.randrange(40))).date(), (change + timedelta(days=numbers.randrange(40))).date()
        named = ["--from", first.isoformat(), "--to", last.isoformat()]
        extras = [
            [], named, ["--as-recorded"], ["--day-start", "04:00"], [*named, "--day-start", "23:45"], ["--list", "core"],
            ["--list", "documents", "--from", "2012-03-01", "--to", "2012-04-30"], [*named, "--as-recorded"], ["--list", "gone"],
            ["--day-start", "00:07"],
        ]
        for now, extra in ((text_of(beside), extras[index % len(extras)]), (next(instants), extras[(index + 3) % len(extras)])):
            yield ["--now", now, "--time-zone", zone, "--week-start", next(weekdays), "--by", next(periods), *extra, *next(goals), *next(filters)]


def oracle_arguments(module, question, lists):
    words = [lists[word] if before == "--list" else word for before, word in zip([""] + question, question)]
    # The command takes a filter as its argument.
    asked = [word for word in words if word != "--filter"]
    minutes = [
        str(60 * int(word[:2]) + int(word[3:])) if before == "--day-start" else word for before, word in zip([""] + words, words)
    ]
    filters = [f"--filter={word}" for before, word in zip([""] + minutes, minutes) if before == "--filter"]
    others = [word for before, word in zip([""] + minutes, minutes) if "--filter" not in (before, word)]
    return asked, module.parser().parse_args(["-", *others, *filters])


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
    elif ours != theirs:
        yield f"{path}: {ours}, by the oracle {theirs}"


def compare(module, store, asked):
    """The number of answers that differ."""
    failures = 0
    for question in asked:
        # A deleted list is named by its id.
        words, arguments = oracle_arguments(module, question, store.lists)
        ours = json.loads(store.run("stats", "--json", *words))
        theirs = module.Oracle(store.document, arguments).answer()
        # A store keeps the names of deleted lists; a document has none.
        for entry in theirs["byList"]:
            if entry["listID"] == store.gone:
                entry["name"] = "gone"
        found = list(differences(ours, theirs))
        failures += bool(found)
        for line in found[:5]:
            print(f"{' '.join(question)}\n  {line}", file=sys.stderr)
    return failures


def main():
    module, tally, numbers = oracle_module(), binary(), random.Random(SEED)
    # The oracle takes a quarter of a second for each answer over the real history, so it gets a third of the questions.
    histories = [
        (generated_history(numbers), list(questions(numbers))), (real_history(numbers), list(questions(numbers))[::3]),
    ]
    failures, count = 0, 0
    for history, asked in histories:
        with tempfile.TemporaryDirectory() as directory:
            failures += compare(module, Store(tally, directory, history, numbers), asked)
        count += len(asked)
    print(
        f"compare-statistics: {count} answers over {len(histories)} histories compared in every key, {failures} differ"
        f" (TALLY_SEED={SEED})"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
