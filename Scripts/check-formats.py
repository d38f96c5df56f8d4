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
import datetime
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import uuid
import zoneinfo

import environment

os.chdir(pathlib.Path(__file__).resolve().parent.parent)
environment.enter()

import icalendar
import pytodotxt

PROGRAM = pathlib.Path(".build/debug/tally").resolve()
HISTORY = pathlib.Path("Tests/oracle/history.txt")
ZONE = "Europe/Istanbul"
UTC = datetime.timezone.utc
EXTENSIONS = {
    "json": "json", "ndjson": "ndjson", "taskwarrior": "json", "todotxt": "txt", "ical": "ics", "csv": "csv",
    "markdown": "md",
}
TITLES = [
    "plain", " blanks around ", 'quoted "twice" and \\ back', "tab\tline\nfeed\rreturn", "NUL \0 inside",
    "\u0301 lone mark", "e\u0301 and \u00e9", "家族 👩‍👩‍👧‍👦", "\u2028separators\u2029", "\x1b[31mred\x7f",
    "<!-- tally {-->", "x" * 3_000,
    "=1+1", "@ann +garage", "x 2026-01-01 done", "(A) first", "2026-01-01 day", "due:2026-01-01", "a:b", "- [ ] item",
    "# head", "end #tag", "http://x.y/z", "tally:{}", "'=quoted", "''", "-5", "a  b", "BEGIN:VTODO", "a;b,c\\n",
]
WORDS = ["buy", "milk", "@phone", "+garage", "due:2026-01-01", "#x", "call", "(B)", "x", "key:value"]
ATTRIBUTES = [
    "estimate", "LOCATION", "wait", "my attribute", "id", "due", "depends", "X-COLOR", "VALARM", "UID", "annotations",
    "priority", "url", "text", "a:b", "PRIORITY", "start", "recur", "\u00e9",
]
VALUES = [
    "v", "two words", 5, 2.5, True, {"day": "2026-01-01"}, {"bytes": "AAEC"}, "", "//x", "D", "[1]", "=x",
    "l1\nl2", ";P=1:x",
]
RULES = ["FREQ=DAILY", "FREQ=WEEKLY;BYDAY=MO,TH", "FREQ=MONTHLY;BYMONTHDAY=-1;COUNT=5", "after 3 days"]


class Tally:
    """The program with one store."""

    def __init__(self, store):
        self.store = str(store)

    def __call__(self, *arguments, text=None):
        command = [PROGRAM, "--store", self.store, "--time-zone", ZONE, *map(str, arguments)]
        result = subprocess.run(command, input=text, capture_output=True, encoding="utf-8", check=False)
        assert result.returncode == 0, f"{arguments}: {result.returncode} {result.stderr[:500]}"
        return result.stdout

    def load(self, file, form):
        return json.loads(self("import", file, "--format", form, "--json"))

    def records(self):
        lines = self("export", "-o", "-", "--format", "ndjson").split("\n")
        return [json.loads(line) for line in lines if line]

    def tasks(self):
        """The tasks by id, each with the name of its list in the place of the list's id."""
        lists = {}
        tasks = {}
        for record in self.records():
            if "list" in record:
                lists[record["list"]["id"]] = record["list"]["name"]
            elif "text" in record:
                tasks[record["id"]] = record | {"listID": lists.get(record["listID"])}
        return tasks


class Generator:
    """Varied tasks of a store, as lines of an export."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def instant(self, is_exact=True):
        moment = datetime.datetime.fromtimestamp(self.random.randint(400_000_000, 2_000_000_000), UTC)
        fraction = f".{self.random.randint(1, 999_999):06}" if is_exact and self.random.random() < 0.5 else ""
        return moment.strftime("%Y-%m-%dT%H:%M:%S") + fraction + "Z"

    def day(self):
        return (datetime.date(2026, 1, 1) + datetime.timedelta(self.random.randint(-9_000, 9_000))).isoformat()

    def id(self):
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))

    def text(self):
        if self.random.random() < 0.6:
            return self.random.choice(TITLES)
        return " ".join(self.random.choices(WORDS, k=self.random.randint(1, 6)))

    def lines(self, count):
        names = ["Home", "Work \"x\" two", "+garden", "Home", "line\nfeed", "@x"]
        lists = [(self.id(), name) for name in names]
        records = [{"list": {"id": id, "name": name}} for id, name in lists]
        parents = []
        for number in range(count):
            task = self.task(lists)
            if parents and self.random.random() < 0.15:
                parent = self.random.choice(parents)
                if parent[1] < 7:
                    task |= {"parentID": parent[0], "listID": parent[2]}
                    parents.append((task["id"], parent[1] + 1, parent[2]))
            else:
                parents.append((task["id"], 0, task["listID"]))
            records.append(task)
        return "".join(json.dumps(record) + "\n" for record in records)

    def task(self, lists):
        chance, choice = self.random.random, self.random.choice
        task = {
            "id": self.id(), "text": self.text(), "state": choice(["notStarted", "active", "completed"]),
            "createdAt": self.instant(), "updatedAt": self.instant(), "sortOrder": self.random.randint(-10**9, 10**9),
            "listID": choice(lists)[0] if chance() < 0.6 else None,
        }
        if task["state"] == "completed":
            task["completedAt"] = self.instant()[:-1] + choice(["Z", "+03:00", "-05:30"])
        optional = {
            "notes": choice(TITLES + ["", "two\n\nparagraphs", "  indented\n- [ ] x\n# h"]),
            "scheduledDate": self.day(),
            "reminderDate": self.instant(), "priority": choice(["low", "medium", "high"]), "recurrence": choice(RULES),
            choice(["dueDate", "dueDay"]): None,
            "tags": self.random.sample(["home", "a b", "\u00e9", "x:y", "@at", "+p", "1", '"q"', "a-->b"], k=3),
            "attributes": {choice(ATTRIBUTES): choice(VALUES) for _ in range(self.random.randint(1, 3))},
        }
        task |= {key: value for key, value in optional.items() if chance() < 0.5}
        if "dueDate" in task:
            task["dueDate"] = choice([self.instant(), "2026-05-05T21:00:00Z"])
        if "dueDay" in task:
            task["dueDay"] = self.day()
        return task


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
    # What Tally adds for itself is nothing that Taskwarrior has lost.
    own = lambda task: {key: value for key, value in task.items() if key != "tally"}
    for target in (theirs, Taskwarrior(folder / "task-b")):
        for _ in range(2):
            target("import", out)
            after = {id: own(task) for id, task in target.tasks().items() if task["status"] != "deleted"}
            for id, task in before.items():
                pairs = {key: (task.get(key), after[id].get(key)) for key in task | after[id]}
                differences = {key: pair for key, pair in pairs.items() if pair[0] != pair[1]}
                assert not differences, f"Taskwarrior: {differences} of {task}"
    # And back: what Taskwarrior writes of Tally's tasks changes nothing here.
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


def calendar(seed, count):
    chance = random.Random(seed)
    generator = Generator(seed)
    result = icalendar.Calendar()
    result.add("prodid", "-//Check//EN")
    result.add("version", "2.0")
    zone = UTC
    berlin = zoneinfo.ZoneInfo("Europe/Berlin")
    moment = lambda tz: datetime.datetime.fromtimestamp(chance.randint(1_000_000_000, 2_000_000_000), tz)
    uids = []
    for number in range(count):
        todo = icalendar.Todo()
        uid = chance.choice([generator.id(), f"item-{number}@example.org"])
        todo.add("uid", uid)
        todo.add("dtstamp", moment(zone))
        todo.add("created", moment(zone))
        todo.add("last-modified", moment(zone))
        summaries = ["Buy milk", "a; b, c\\n", "é " * 60, "two\nlines", '"q"', "家族 👩‍👩‍👧‍👦 " * 9]
        todo.add("summary", chance.choice(summaries))
        status = chance.choice(["NEEDS-ACTION", "IN-PROCESS", "COMPLETED"])
        todo.add("status", status)
        if status == "COMPLETED":
            todo.add("completed", moment(zone))
            todo.add("percent-complete", 100)
        start = moment(zone).date()
        kind = chance.choice(["none", "day", "instant", "zone"])
        if kind == "day":
            todo.add("dtstart", start)
            todo.add("due", start + datetime.timedelta(3))
        elif kind == "instant":
            todo.add("due", moment(zone))
        elif kind == "zone":
            todo.add("due", moment(berlin))
        for name, value in [
            ("description", "notes; with, all\\ of\nit"), ("priority", chance.randint(1, 9)),
            ("location", "Room 1, left"),
            ("categories", ["home", "a, b"][:1] + ["work"]), ("class", "PRIVATE"), ("sequence", chance.randint(0, 9)),
            ("url", "https://example.org/?a=1;b"), ("x-mood", "so; so"), ("geo", (37.4, -122.1)),
            ("rrule", {"freq": "weekly", "byday": ["MO", "TH"]}),
        ]:
            if chance.random() < 0.4:
                todo.add(name, value)
        if chance.random() < 0.2:
            todo.add("attendee", "mailto:a@example.org", parameters={"cn": "Doe; John"})
            todo.add("attendee", "mailto:b@example.org")
        if uids and chance.random() < 0.2:
            todo.add("related-to", chance.choice(uids[-5:]))
        elif len(uids) % 6 == 0 or not uids:
            uids.append(uid)
        if chance.random() < 0.3:
            alarm = icalendar.Alarm()
            alarm.add("action", "AUDIO")
            alarm.add("trigger", datetime.timedelta(minutes=-15))
            todo.add_component(alarm)
        result.add_component(todo)
    return result


def todo_facts(text):
    """What a calendar says, by UID; instants in UTC."""
    def plain(value):
        values = value if isinstance(value, list) else [value]
        texts = []
        for one in values:
            moment = getattr(one, "dt", None)
            if isinstance(moment, datetime.datetime):
                texts.append(moment.astimezone(UTC).isoformat())
            elif hasattr(one, "cats"):
                texts += sorted(str(category) for category in one.cats)
            else:
                raw = one.to_ical()
                parameters = sorted(getattr(one, "params", {}).items())
                texts.append((raw.decode() if isinstance(raw, bytes) else raw) + str(parameters))
        return sorted(texts)

    facts = {}
    for todo in icalendar.Calendar.from_ical(text).walk("VTODO"):
        entry = {name: plain(value) for name, value in todo.items()}
        entry["ALARMS"] = sorted(alarm.to_ical().decode() for alarm in todo.walk("VALARM"))
        facts[str(todo["uid"])] = entry
    return facts


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
    """What lines say, by the number in them."""
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
    print(f"pytodotxt: {len(lines)} lines to Tally and back")


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
