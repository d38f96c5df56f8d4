#!/usr/bin/env python3
"""Moves tasks between Tally and other programs, and compares what comes back.

- Stores of generated tasks with awkward texts and dates, and the history of Tests/oracle/history.txt, go through every
  format and back: nothing may be lost, and importing a file again must change nothing.
- TALLY_HISTORY names a file of lines that go the same way: a longer history.
- What Taskwarrior, icalendar and pytodotxt write of 500 varied tasks is imported, exported and read by them again:
  everything that both can say must still be there.

Taskwarrior is installed by Scripts/set-up.sh, the Python packages into .build/python, as Scripts/requirements.txt lists
them. TALLY_SEED repeats a run.
"""

import csv
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import uuid

import environment

os.chdir(pathlib.Path(__file__).resolve().parent.parent)
environment.enter()

import icalendar
import pytodotxt

from interchange import Generator, Tally, ZONE, calendar, todo_facts

HISTORY = pathlib.Path("Tests/oracle/history.txt")
EXTENSIONS = {
    "json": "json", "ndjson": "ndjson", "taskwarrior": "json", "todotxt": "txt", "ical": "ics", "csv": "csv",
    "markdown": "md",
}


def history():
    """A completed task for each commit of a real repository."""
    instants = HISTORY.read_text(encoding="utf-8").split()
    return "".join(
        json.dumps({
            "id": str(uuid.uuid5(uuid.NAMESPACE_URL, str(number))), "text": f"commit {number}", "createdAt": instant,
            "completedAt": instant}) + "\n"
        for number, instant in enumerate(instants))


def check_round_trips(name, lines, folder):
    """Through each format into an empty store and back into the same one."""
    source = Tally(folder / name)
    source("import", "-", "--format", "ndjson", "--quiet", text=lines)
    tasks = source.tasks()
    total = json.loads(source("stats", "--json"))["completed"]["allTime"]
    for form, extension in EXTENSIONS.items():
        file = folder / f"{name}-{form}.{extension}"
        source("export", "-o", file, "--format", form)
        again = source.load(file, form)
        assert again["added"] + again["changed"] == 0, f"{form}: importing the export changes {again}"
        copy = Tally(folder / f"{name}-{form}")
        copy("import", file, "--quiet")
        found = copy.tasks()
        assert found.keys() == tasks.keys(), f"{form}: {len(found)} tasks for {len(tasks)}"
        for id, task in tasks.items():
            differences = {key: (task[key], found[id][key]) for key in task if task[key] != found[id][key]}
            if form == "taskwarrior":
                # It orders tasks by urgency.
                differences.pop("sortOrder", None)
            assert not differences, f"{form}: {str(differences)[:600]} of {str(task)[:300]}"
        second = copy.load(file, form)
        assert second["unchanged"] == len(tasks), f"{form}: a second import changes {second}"
        assert json.loads(copy("stats", "--json"))["completed"]["allTime"] == total, form
        print(f"{name}: {len(tasks)} tasks through {form} and back, {file.stat().st_size // 1024} KiB")


class Taskwarrior:
    """Taskwarrior with a folder of its own."""

    def __init__(self, folder):
        folder.mkdir()
        rc = folder / "taskrc"
        rc.write_text(
            f"data.location={folder}\nconfirmation=no\nverbose=nothing\njson.array=on\nhooks=off\ngc=off\n"
            "recurrence=off\nuda.size.type=numeric\nuda.size.label=Size\n", encoding="utf-8")
        self.environment = os.environ | {"TASKRC": str(rc), "TASKDATA": str(folder), "TZ": ZONE}

    def __call__(self, *arguments, text=None):
        result = subprocess.run(
            ["task", *arguments], input=text, env=self.environment, capture_output=True, encoding="utf-8", check=False)
        assert result.returncode == 0, f"task {arguments}: {result.stderr[:500]}"
        return result.stdout

    def tasks(self):
        """Everything except computed values."""
        computed = {"id", "urgency"}
        exported = json.loads(self("export"))
        return {t["uuid"]: {k: v for k, v in t.items() if k not in computed} for t in exported}


def taskwarrior_tasks(seed, count):
    chance = random.Random(seed)
    generator = Generator(seed)
    stamp = lambda: generator.instant(False).replace("-", "").replace(":", "")
    tasks = []
    for number in range(count):
        status = chance.choice(["pending", "pending", "completed", "waiting", "deleted"])
        task = {
            "uuid": generator.id(),
            "description": chance.choice(["Buy milk", 'say "hi"', "a\\b", "é 家", "a/b: c", "x y"]),
            "status": status, "entry": stamp(), "modified": stamp(),
        }
        if status in ("completed", "deleted"):
            task["end"] = stamp()
        if status == "waiting":
            task["wait"] = "20380101T000000Z"
        if status == "pending" and chance.random() < 0.2:
            task["start"] = stamp()
        optional = {
            "due": chance.choice([stamp(), "20261120T210000Z"]),
            "scheduled": chance.choice([stamp(), "20260110T210000Z"]),
            "until": "20380115T000000Z", "project": chance.choice(["Home", "Home.Garden", "Big Work"]),
            "priority": chance.choice("HML"), "tags": chance.sample(["a", "b", "next", "é"], k=2), "size": 2.5,
            "annotations": [{"entry": stamp(), "description": chance.choice(["one", 'two "2"'])} for _ in range(2)],
            "orphan": "of another program",
        }
        task |= {key: value for key, value in optional.items() if chance.random() < 0.4}
        if tasks and chance.random() < 0.1:
            task["depends"] = [tasks[-1]["uuid"]]
        tasks.append(task)
    return tasks


def check_taskwarrior(seed, folder):
    theirs = Taskwarrior(folder / "task-a")
    # Taskwarrior 2.6.2 takes an escape in a tag for six letters.
    theirs("import", "-", text=json.dumps(taskwarrior_tasks(seed, 500), ensure_ascii=False))
    before = {id: task for id, task in theirs.tasks().items() if task["status"] != "deleted"}
    file = folder / "task.json"
    file.write_text(theirs("export"), encoding="utf-8")
    ours = Tally(folder / "from-task")
    assert ours.load(file, "taskwarrior")["added"] == len(before)
    assert ours.load(file, "taskwarrior")["unchanged"] == len(before)
    out = folder / "to-task.json"
    ours("export", "-o", out, "--format", "taskwarrior")
    # Values that Tally adds for itself are not lost by Taskwarrior.
    own = lambda task: {key: value for key, value in task.items() if key != "tally"}
    for target in (theirs, Taskwarrior(folder / "task-b")):
        for _ in range(2):
            target("import", out)
            after = {id: own(task) for id, task in target.tasks().items() if task["status"] != "deleted"}
            for id, task in before.items():
                pairs = {key: (task.get(key), after[id].get(key)) for key in task | after[id]}
                differences = {key: pair for key, pair in pairs.items() if pair[0] != pair[1]}
                assert not differences, f"Taskwarrior: {differences} of {task}"
    # The way back: Taskwarrior's export of Tally's tasks changes nothing here.
    check_tasks_through_taskwarrior(seed, folder)
    print(f"Taskwarrior {theirs('--version').strip()}: {len(before)} tasks to Tally and back, twice")


def check_tasks_through_taskwarrior(seed, folder):
    ours = Tally(folder / "own")
    ours("import", "-", "--format", "ndjson", "--quiet", text=Generator(seed + 1).lines(500))
    before = ours.tasks()
    out, back = folder / "own.json", folder / "own-back.json"
    target = Taskwarrior(folder / "task-c")
    for _ in range(2):
        ours("export", "-o", out, "--format", "taskwarrior")
        target("import", out)
        back.write_text(target("export"), encoding="utf-8")
        summary = ours.load(back, "taskwarrior")
        assert summary["unchanged"] == len(before), f"Taskwarrior changes {summary}"
    assert ours.tasks() == before


def check_calendar(seed, folder):
    text = calendar(seed, 500).to_ical()
    file, out = folder / "theirs.ics", folder / "ours.ics"
    file.write_bytes(text)
    ours = Tally(folder / "from-calendar")
    assert ours.load(file, "ical")["added"] == 500
    assert ours.load(file, "ical")["unchanged"] == 500
    ours("export", "-o", out)
    written = out.read_bytes()
    assert all(len(line) <= 75 for line in written.split(b"\r\n")), "a line has more than 75 octets"
    assert b"\n" not in written.replace(b"\r\n", b""), "a line does not end in CRLF"
    before, after = todo_facts(text), todo_facts(written)
    assert before.keys() == after.keys()
    for uid, entry in before.items():
        for name, value in entry.items():
            # The time at which the object was written.
            if name == "DTSTAMP":
                continue
            found = after[uid].get(name, [])
            if name == "ALARMS":
                assert all(alarm in found for alarm in value), f"iCalendar: {value} and not {found}"
            else:
                assert found == value, f"iCalendar: {name} of {uid}: {value} and not {found}"
    print(f"icalendar {icalendar.__version__}: {len(before)} to-dos to Tally and back")


def todotxt_lines(seed, count):
    chance = random.Random(seed)
    generator = Generator(seed)
    lines = []
    for number in range(count):
        task = pytodotxt.Task("")
        words = chance.choices(["Buy", "milk", "call", "@Ann", "about", "+Garage", "é", "http://a.b/c"], k=4)
        words += chance.sample(
            ["+Home", "@phone", "due:2026-12-01", "t:2026-11-01", "rec:+1w", "rec:3d", "h:1", "key:v"], k=3)
        text = " ".join(words) + f" number-{number}"
        line = text if chance.random() < 0.5 else text + " @late +Last"
        head = []
        if chance.random() < 0.3:
            head = ["x", generator.day(), generator.day()] if chance.random() < 0.8 else ["x", generator.day()]
        else:
            head += [f"({chance.choice('ABCDZ')})"] if chance.random() < 0.5 else []
            head += [generator.day()] if chance.random() < 0.5 else []
        lines.append(str(pytodotxt.Task(" ".join(head + [line]))))
    return lines


def todotxt_facts(lines):
    """The facts of lines, by the number in them."""
    facts = {}
    for line in lines:
        task = pytodotxt.Task(line)
        words = [word for word in task.description.split(" ") if not word.startswith("tally:{")]
        number = next(word for word in words if word.startswith("number-"))
        attributes = {key: sorted(value) for key, value in task.attributes.items() if key != "tally"}
        facts[number] = {
            "completed": task.is_completed, "on": task.completion_date, "created": task.creation_date,
            "priority": task.priority, "projects": sorted(set(task.projects)), "contexts": sorted(set(task.contexts)),
            "attributes": attributes, "words": sorted(set(words)),
        }
    return facts


def check_todotxt(seed, folder):
    lines = todotxt_lines(seed, 500)
    file, out = folder / "theirs.txt", folder / "ours.txt"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    ours = Tally(folder / "from-todotxt")
    assert ours.load(file, "todotxt")["added"] == len(lines)
    again = ours.load(file, "todotxt")
    assert again["added"] + again["changed"] == 0, f"todo.txt: a second import changes {again}"
    ours("export", "-o", out)
    written = [str(task) for task in pytodotxt.TodoTxt(str(out)).parse()]
    before, after = todotxt_facts(lines), todotxt_facts(written)
    assert before.keys() == after.keys()
    for number, facts in before.items():
        # A task always has a date of creation, a line need not.
        found = after[number]
        lost = {key: (value, found[key]) for key, value in facts.items() if value and found[key] != value}
        assert not lost, f"todo.txt: {lost} of {number}"
    check_closed_lines(seed, folder)
    print(f"pytodotxt: {len(lines)} lines to Tally and back")


def check_closed_lines(seed, folder):
    """Other programs show only open tasks as open: not the completed ones, and not the cancelled ones."""
    ours, out = Tally(folder / "own-todotxt"), folder / "own.txt"
    ours("import", "-", "--format", "ndjson", "--quiet", text=Generator(seed).lines(200))
    ours("export", "-o", out)
    found = {re.search(r'"id":"([^"]*)"', str(task))[1]: task.is_completed for task in pytodotxt.TodoTxt(str(out)).parse()}
    states = {id: task["state"] for id, task in ours.tasks().items()}
    assert "cancelled" in states.values()
    assert found == {id: state in ("completed", "cancelled") for id, state in states.items()}, "todo.txt: other states"


def check_table(seed, folder):
    """Python's csv reads what Tally writes, nothing in it is a formula, and the other way round."""
    ours = Tally(folder / "table")
    ours("import", "-", "--format", "ndjson", "--quiet", text=Generator(seed).lines(500))
    out, back = folder / "table.csv", folder / "table-back.csv"
    ours("export", "-o", out)
    with open(out, newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert len(rows) == 501 and all(len(row) == len(rows[0]) for row in rows)
    for row in rows:
        for cell in row:
            is_formula = cell[:1] in ("=", "+", "-", "@", "\t", "\r") and not cell.lstrip("-").isdigit()
            assert not is_formula, f"a formula: {cell[:50]}"
    with open(back, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    assert ours.load(back, "csv")["unchanged"] == 500
    print("csv: 500 rows read and written by Python")


def main():
    if subprocess.run(["Scripts/set-up.sh", "formats"]).returncode:
        sys.exit("Taskwarrior is missing and could not be installed")
    seed = int(os.environ.get("TALLY_SEED") or random.randrange(1 << 32))
    print(f"seed {seed}: TALLY_SEED={seed} repeats this run")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        check_round_trips("generated", Generator(seed).lines(500), folder)
        check_round_trips("history", history(), folder)
        if longer := os.environ.get("TALLY_HISTORY"):
            check_round_trips("long-history", pathlib.Path(longer).read_text(encoding="utf-8"), folder)
        check_taskwarrior(seed, folder)
        check_calendar(seed, folder)
        check_todotxt(seed, folder)
        check_table(seed, folder)


if __name__ == "__main__":
    main()
