"""What the checks of formats share: Tally with one store, generated tasks, and calendars of another program's library."""

import datetime
import json
import pathlib
import random
import subprocess
import uuid
import zoneinfo

import icalendar

PROGRAM = pathlib.Path(".build/debug/tally").resolve()
ZONE = "Europe/Istanbul"
UTC = datetime.timezone.utc
STATES = ["notStarted", "active", "completed", "completed", "cancelled"]
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
    """The program with one store, of a person in a zone."""

    def __init__(self, store, zone=ZONE):
        self.store, self.zone = str(store), zone

    def __call__(self, *arguments, text=None, zone=None):
        command = [PROGRAM, "--store", self.store, "--time-zone", zone or self.zone, *map(str, arguments)]
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
            "id": self.id(), "text": self.text(), "state": choice(STATES),
            "createdAt": self.instant(), "updatedAt": self.instant(), "sortOrder": self.random.randint(-10**9, 10**9),
            "listID": choice(lists)[0] if chance() < 0.6 else None,
        }
        if task["state"] in ("completed", "cancelled"):
            task[f"{task['state']}At"] = self.instant()[:-1] + choice(["Z", "+03:00", "-05:30"])
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
