#!/usr/bin/env python3
"""Moves to-dos between Tally and programs that keep calendars, and compares what comes back.

- What todoman writes comes in with an account of the places, for which Tally has no field, and todoman reads the same
  of what Tally writes of it: a series that it completed, a cancelled to-do, categories and descriptions included. It
  reads 200 generated tasks of Tally's, too.
- What khal writes are events: each is named in the account, and nothing of them becomes a task. A calendar with events
  and to-dos is read by both.
- Radicale stores 200 to-dos of a library and those of todoman. Its stored files and its collection come in, each to-do
  of both once; what Tally writes of them fills another collection, from which Radicale gives the same to-dos.
- Random series of Tally's are at the same instants in icalendar, khal and todoman, and come back: calendar_series.py.

The programs are Python packages, installed into .build/python as Scripts/requirements.txt lists them. Radicale listens
on the loopback only. TALLY_SEED repeats a run.
"""

import datetime
import json
import os
import pathlib
import random
import re
import socket
import subprocess
import sys
import tempfile
import time
import types
import urllib.error
import urllib.request
import zoneinfo

import environment

os.chdir(pathlib.Path(__file__).resolve().parent.parent)
environment.enter()

import icalendar

import calendar_series
from interchange import Generator, Tally, ZONE, calendar, todo_facts

PROGRAMS = pathlib.Path(sys.prefix) / "bin"
# A series as other programs keep it; todoman completes series, but makes none.
SERIES = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//Check//EN
BEGIN:VTODO
UID:series@example.org
DTSTAMP:20260101T000000Z
SUMMARY:Water the plants
DTSTART:20260105T070000Z
DUE:20260105T080000Z
RRULE:FREQ=WEEKLY
END:VTODO
END:VCALENDAR
"""


def one_by_one(text):
    """Each to-do of a calendar as a document with the zones that the calendar describes, by file name."""
    whole = icalendar.Calendar.from_ical(text)
    documents = {}
    for number, todo in enumerate(whole.walk("VTODO")):
        document = icalendar.Calendar()
        document.add("prodid", "-//Check//EN")
        document.add("version", "2.0")
        for zone in whole.walk("VTIMEZONE"):
            document.add_component(zone)
        document.add_component(todo)
        documents[f"{number}.ics"] = document.to_ical()
    return documents


class Todoman:
    """todoman with one list, each to-do in a file."""

    def __init__(self, folder, zone=ZONE):
        self.zone, self.files = zone, folder / "files/home"
        self.files.mkdir(parents=True)
        self.config = folder / "todoman.py"
        self.config.write_text(
            f'path = "{folder}/files/*"\ncache_path = "{folder}/cache.db"\ndefault_list = "home"\ndefault_due = 0\n'
            'date_format = "%Y-%m-%d"\ntime_format = "%H:%M"\n', encoding="utf-8")

    def __call__(self, *arguments, text=None):
        result = subprocess.run(
            [PROGRAMS / "todo", "--config", self.config, *arguments], input=text, capture_output=True,
            encoding="utf-8", check=False, env=os.environ | {"TZ": self.zone})
        assert result.returncode == 0, f"todo {arguments}: {result.stderr[:500]}"
        return result.stdout

    def todos(self):
        """All to-dos without what todoman numbers by itself, in one order."""
        computed = {"id", "list", "list_colour"}
        found = [{key: value for key, value in todo.items() if key not in computed} for todo in self.list()]
        return sorted(json.dumps(todo, sort_keys=True) for todo in found)

    def id(self, summary):
        return next(str(todo["id"]) for todo in self.list() if todo["summary"] == summary)

    def list(self):
        return json.loads(self("--porcelain", "list", "--status", "ANY"))

    def fill(self):
        (self.files / "series.ics").write_text(SERIES, encoding="utf-8")
        self("new", "--due", "2026-12-01 10:00", "--start", "2026-11-30", "--priority", "high", "--location", "Room 1",
             "--category", "x", "--category", "a b", 'Buy "milk"; and, eggs\\n')
        self("new", "--due", "2026-12-03", "--read-description", "é 家族 👩‍👩‍👧‍👦 " * 9,
             text="notes; with, all\\ of\nit")
        for summary in ["BEGIN:VTODO", "done", "called off"]:
            self("new", "--priority", "low", summary)
        self("done", self.id("done"))
        self("cancel", self.id("called off"))
        self("done", self.id("Water the plants"))


def check_todoman(seed, folder):
    theirs, ours = Todoman(folder / "todoman"), Tally(folder / "from-todoman")
    theirs.fill()
    files = sorted(theirs.files.iterdir())
    before, named = {}, set()
    for file in files:
        before |= todo_facts(file.read_text(encoding="utf-8"))
        summary = ours.load(file, "ical")
        named |= {remark["example"].split(":")[0] for remark in summary["account"]}
        assert summary["added"] == 1, f"todoman: {file.read_text()} gives {summary}"
    assert named == {"LOCATION"}, f"the account of todoman's files names {named}"
    tasks = list(ours.tasks().values())
    assert sum(task["recurrence"] is not None for task in tasks) == 1, "the series goes on once"
    completed = {task["text"] for task in tasks if task["state"] == "completed"}
    assert completed == {"done", "Water the plants"}
    assert [task["text"] for task in tasks if task["state"] == "cancelled"] == ["called off"]
    written = ours("export", "-o", "-", "--format", "ical")
    compare("todoman", before, todo_facts(written))
    back = Todoman(folder / "todoman-back")
    for name, document in one_by_one(written).items():
        (back.files / name).write_bytes(document)
    assert back.todos() == theirs.todos(), "todoman reads something else of what Tally writes of its to-dos"
    check_own_tasks_in_todoman(seed, folder)
    print(f"todoman {theirs('--version').split()[-1]}: {len(files)} to-dos to Tally and back, 200 of Tally's")
    return files


def check_own_tasks_in_todoman(seed, folder):
    ours, theirs = Tally(folder / "own"), Todoman(folder / "todoman-own")
    ours("import", "-", "--format", "ndjson", "--quiet", text=Generator(seed).lines(200))
    for name, document in one_by_one(ours("export", "-o", "-", "--format", "ical")).items():
        (theirs.files / name).write_bytes(document)
    found = sorted((bool(todo["completed"]), todo["recurring"]) for todo in map(json.loads, theirs.todos()))
    tasks = ours.tasks().values()
    # To todoman, cancelled is completed.
    expected = sorted((task["state"] in ("completed", "cancelled"), "FREQ" in (task["recurrence"] or "")) for task in tasks)
    assert found == expected, f"todoman finds {len(found)} of {len(expected)} tasks, or other states"


def compare(name, before, after):
    """Every property of every to-do must come back; only the time at which the object was written may differ."""
    assert before.keys() == after.keys(), f"{name}: other to-dos"
    for uid, entry in before.items():
        for key, value in entry.items():
            found = after[uid].get(key, [])
            missing = [one for one in value if one not in found and midnight(one) not in found]
            assert key == "DTSTAMP" or not missing, f"{name}: {key} of {uid}: {value} and not {found}"


def midnight(day):
    """A start day as it goes out beside a due time, as both must be of one type (RFC 5545, 3.8.2.4); else nothing."""
    found = re.fullmatch(r"(\d{8})\[\('VALUE', 'DATE'\)]", day)
    if not found:
        return None
    local = datetime.datetime.strptime(found[1], "%Y%m%d").replace(tzinfo=zoneinfo.ZoneInfo(ZONE))
    return local.astimezone(datetime.timezone.utc).isoformat()


class Khal:
    """khal with one calendar of events."""

    def __init__(self, folder, zone=ZONE):
        self.zone, self.files = zone, folder / "files"
        self.files.mkdir(parents=True)
        self.config = folder / "khal.conf"
        formats = "".join(
            f"{name} = {form}\n" for name, form in [
                ("timeformat", "%H:%M"), ("dateformat", "%Y-%m-%d"), ("longdateformat", "%Y-%m-%d"),
                ("datetimeformat", "%Y-%m-%d %H:%M"), ("longdatetimeformat", "%Y-%m-%d %H:%M")])
        self.config.write_text(
            f"[calendars]\n[[work]]\npath = {self.files}\n[locale]\nlocal_timezone = {zone}\n"
            f"default_timezone = {zone}\n{formats}[sqlite]\npath = {folder}/khal.db\n", encoding="utf-8")

    def __call__(self, *arguments):
        result = subprocess.run(
            [PROGRAMS / "khal", "--config", self.config, *map(str, arguments)], capture_output=True, encoding="utf-8",
            check=False)
        assert result.returncode == 0, f"khal {arguments}: {result.stderr[:500]}"
        return result.stdout


def check_khal(folder):
    khal, ours = Khal(folder / "khal"), Tally(folder / "from-khal")
    events = ["Meet; Ann, Bob", "All day", "家族"]
    khal("new", "-a", "work", "2026-12-01 10:00", "2026-12-01 11:00", "Europe/Berlin", events[0], "--repeat", "weekly",
         "--alarms", "15m,1d", "--location", "Room 1", "--categories", "a,b")
    khal("new", "-a", "work", "2026-12-02", events[1])
    khal("new", "-a", "work", "2026-12-03 09:00", events[2])
    named = []
    for file in khal.files.iterdir():
        summary = ours.load(file, "ical")
        assert summary["added"] == 0, summary
        named += [remark["example"] for remark in summary["account"] if remark["kind"] == "component"]
    assert sorted(named) == sorted(f"VEVENT {event}" for event in events), named
    # A calendar of both is for both.
    ours("add", "of Tally", "--due", "2026-12-04")
    mixed = folder / "mixed.ics"
    event = next(khal.files.iterdir()).read_text(encoding="utf-8")
    ours("export", "-o", mixed, "--format", "ical")
    todo = re.search(r"BEGIN:VTODO.*END:VTODO\r?\n", mixed.read_bytes().decode(), re.S).group()
    mixed.write_bytes(event.replace("END:VCALENDAR", todo + "END:VCALENDAR").encode())
    copy, target = Tally(folder / "mixed"), Khal(folder / "khal-mixed")
    assert copy.load(mixed, "ical")["added"] == 1
    target("import", "--batch", "-a", "work", mixed)
    assert len(list(target.files.iterdir())) == 1, "khal takes the event of a mixed calendar"
    print(f"khal {khal('--version').split()[-1]}: {len(events)} events named, a mixed calendar read by both")


class Radicale:
    """Radicale on a port of its own, with a folder for what it stores."""

    def __init__(self, folder):
        self.folder = folder
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.log = open(folder.with_suffix(".log"), "wb")
        self.process = subprocess.Popen(
            [PROGRAMS / "radicale", "--config", "", "--hosts", f"127.0.0.1:{self.port}", "--auth-type", "none",
             "--storage-filesystem-folder", folder], stdout=self.log, stderr=self.log)

    def __enter__(self):
        for _ in range(200):
            try:
                self("GET", "/.web/")
                return self
            except urllib.error.URLError:
                assert self.process.poll() is None, "Radicale ended"
                time.sleep(0.1)
        raise AssertionError("Radicale does not answer")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.log.close()

    def __call__(self, method, path, body=None):
        """An answer to Anna, whose password does not matter."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}", method=method, data=body,
            headers={"Content-Type": "text/calendar; charset=utf-8", "Authorization": "Basic YW5uYTph"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read()

    def stored(self, collection):
        return sorted((self.folder / "collection-root/anna" / collection).glob("*.ics"))


def check_radicale(seed, folder, files):
    with Radicale(folder / "radicale") as server:
        for collection in ["theirs", "ours"]:
            server("MKCALENDAR", f"/anna/{collection}/")
        documents = one_by_one(calendar(seed, 200).to_ical())
        documents |= {f"todoman-{file.name}": file.read_bytes() for file in files}
        for name, document in documents.items():
            server("PUT", f"/anna/theirs/{name}", document)
        whole = server("GET", "/anna/theirs/")
        before = todo_facts(whole)
        assert len(before) == len(documents)
        ours = Tally(folder / "from-radicale")
        file = folder / "radicale.ics"
        file.write_bytes(whole)
        assert ours.load(file, "ical")["added"] == len(documents)
        stored = server.stored("theirs")
        assert len(stored) == len(documents)
        for item in random.Random(seed).sample(stored, 25):
            summary = ours.load(item, "ical")
            assert summary["unchanged"] == 1, f"a stored file of Radicale changes {summary}: {item.read_text()}"
        written = ours("export", "-o", "-", "--format", "ical")
        compare("Radicale, exported", before, todo_facts(written))
        server("PUT", "/anna/ours/", written.encode())
        after = todo_facts(server("GET", "/anna/ours/"))
        compare("Radicale, stored again", before, after)
    print(f"Radicale: {len(documents)} to-dos, {len(stored)} stored files, to Tally and back")


def main():
    seed = int(os.environ.get("TALLY_SEED") or random.randrange(1 << 32))
    print(f"seed {seed}: TALLY_SEED={seed} repeats this run")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        files = check_todoman(seed, folder)
        check_khal(folder)
        check_radicale(seed, folder, files)
        programs = types.SimpleNamespace(todoman=Todoman, khal=Khal, one_by_one=one_by_one)
        calendar_series.check(seed, folder, programs)


if __name__ == "__main__":
    main()
