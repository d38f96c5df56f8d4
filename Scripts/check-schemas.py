#!/usr/bin/env python3
"""Validates Schemas/*.json, and the files and output of `tally` against them, with the validator `jsonschema`.

Stores are empty, filled from generated tasks with awkward texts and dates and changed by commands, or have the history
of Tests/oracle/history.txt. The schemas must accept the output, and refuse it once it is damaged: a schema that accepts
everything checks nothing. The validator is installed into .build/python, as Scripts/requirements.txt lists it.
"""

import copy
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

from jsonschema import Draft202012Validator, FormatChecker
from referencing import Registry, Resource

DRAFT = "https://json-schema.org/draft/2020-12/schema"
SEED = 20261121
NOW = "2026-11-21T12:00:00Z"
HISTORY = pathlib.Path("Tests/oracle/history.txt")
TITLES = [
    "plain", " blanks around ", 'quoted "twice" and \\ back', "tab\tline\nfeed\rreturn", "NUL \0 inside",
    "\u202eright to left\u202c", "\u0301 lone mark", "e\u0301 and \u00e9", "家族 👩‍👩‍👧‍👦 🏳️‍🌈", "\u2028separators\u2029",
    "\x1b[31mred\x7f", "</script><!--", "x" * 100_000, "\U0010ffff\ufffe", "{\"a\": [1, 2]}", "\\u0041",
]
HOSTILE = "</script><script>alert(1)</script>\"&'"
STATISTICS_OPTIONS = [
    [], ["--by", "week"], ["--by", "month", "--time-zone", "America/Sao_Paulo"], ["--week-start", "saturday"],
    ["--from", "2024-02-01", "--to", "2024-03-31", "--time-zone", "Australia/Lord_Howe"],
    ["--by", "year", "--goal", "2/week"], ["priority>=low", "--tag", "none"],
    ["--day-start", "04:00", "--as-recorded"], ["--now", "2011-12-31T00:00:00Z", "--time-zone", "Pacific/Apia"],
]


class Schemas:
    """Every schema by file name; files without `$schema` are data, and only have to be JSON."""

    def __init__(self):
        self.documents = {}
        for path in sorted(pathlib.Path("Schemas").glob("*.json")):
            document = json.loads(path.read_text(encoding="utf-8"))
            if "$schema" in document:
                assert document["$schema"] == DRAFT, f"{path}: `$schema` is not {DRAFT}"
                Draft202012Validator.check_schema(document)
                self.documents[path.name] = document
        self.registry = Registry().with_resources(
            (document["$id"], Resource.from_contents(document)) for document in self.documents.values()
        )

    def validator(self, file, definition=None):
        document = self.documents[file]
        schema = {"$ref": document["$id"] + (f"#/$defs/{definition}" if definition else "")}
        return Draft202012Validator(schema, registry=self.registry, format_checker=FormatChecker())


class Tally:
    """The program, with stores in a folder."""

    def __init__(self, program, folder, *options):
        self.program, self.folder, self.options = program, pathlib.Path(folder), options

    def __call__(self, store, *arguments, text="", status=0):
        command = [self.program, "--store", str(self.folder / store), *self.options, *arguments]
        result = subprocess.run(command, input=text, capture_output=True, encoding="utf-8", check=False)
        assert result.returncode == status, f"{' '.join(arguments)[:200]}: {result.returncode} {result.stderr}"
        return result.stderr if status else result.stdout

    def add(self, store, *arguments, text):
        """Adds a task per line and returns their ids."""
        return [task["id"] for task in json.loads(self(store, "add", "-", *arguments, "--json", text=text))["changed"]]


def check(validator, document, place):
    errors = [f"{place}: {error.json_path}: {error.message[:200]}" for error in validator.iter_errors(document)]
    assert not errors, "\n".join(errors[:20])
    return document


def refuse(validator, ways, place):
    """Asserts that damaged documents, by the kind of damage, are refused."""
    accepted = [way for way, document in ways if validator.is_valid(document)]
    assert not accepted, f"the schema of {place} accepts: {', '.join(accepted)}"


def places(value, path=()):
    """The paths of all objects in a document, in an array only of the first one."""
    if isinstance(value, dict):
        yield path
    children = value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else []
    for key, child in children:
        yield from places(child, (*path, key))


def changed(document, path, change):
    """A copy in which one object is changed."""
    result = copy.deepcopy(document)
    inner = result
    for key in path:
        inner = inner[key]
    change(inner)
    return result


# The keys that are present only if they say something.
OPTIONAL = {"clocks", "doubtfulIdentities", "listsOfOneName", "tooLarge"}


def damaged(document):
    """Copies without one key, with one too many, or with an object instead of a value."""
    for path in places(document):
        inner = document
        for key in path:
            inner = inner[key]
        name = ".".join(map(str, path)) or "the outermost object"
        # An attribute of a task may have any name, and a number as its value.
        more = {"more": {"more": 1}}
        yield f"an extra key in {name}", changed(document, path, lambda it: it.update(more))
        for key in inner:
            if path[-1:] != ("attributes",) and key not in OPTIONAL:
                yield f"no {key} in {name}", changed(document, path, lambda it, key=key: it.pop(key))
            yield f"an object for {key} in {name}", changed(document, path, lambda it, key=key: it.update({key: more}))


def instant(numbers):
    """An instant of any year that dates can have, with and without a fraction and an offset."""
    date = f"{numbers.choice([1, 1582, 1969, 1970, 2024, 2026, 9999]):04}-{numbers.randint(1, 12):02}-{numbers.randint(2, 27):02}"
    time = f"{numbers.randint(0, 23):02}:{numbers.randint(0, 59):02}:{numbers.randint(0, 59):02}"
    return date + "T" + time + numbers.choice(["", ".5", ".123456"]) + numbers.choice(["Z", "+05:45", "-03:30", "+14:00"])


def awkward_tasks(numbers, count):
    for number in range(count):
        task = {"id": str(uuid.UUID(int=numbers.getrandbits(128))), "text": numbers.choice(TITLES) + f" {number}"}
        if numbers.random() < 0.7:
            task["state"] = numbers.choice(["notStarted", "active", "completed"])
        if task.get("state") == "completed":
            task["completedAt"] = instant(numbers)
        for key in ["createdAt", "dueDate", "reminderDate"]:
            if numbers.random() < 0.5:
                task[key] = instant(numbers)
        if numbers.random() < 0.5:
            task["scheduledDate"] = numbers.choice(["0001-01-01", "2024-02-29", "2026-11-21", "9999-12-31"])
        if numbers.random() < 0.3:
            task["notes"] = numbers.choice(TITLES)
        yield task


def dated_tasks(numbers, count):
    """Tasks of three years, some of them completed before they were created, as after a change of the clock."""
    for number in range(count):
        day, hour = numbers.randrange(3 * 365), numbers.randrange(24)
        created = f"{2024 + day // 365}-{1 + day % 365 // 31:02}-{1 + day % 28:02}T{hour:02}:15:00Z"
        task = {"id": str(uuid.UUID(int=numbers.getrandbits(128))), "text": f"task {number}", "createdAt": created}
        if numbers.random() < 0.8:
            offset = numbers.choice(["Z", "+05:45", "-03:30"])
            task |= {"state": "completed", "completedAt": f"2026-{1 + day % 11:02}-{1 + day % 28:02}T{hour:02}:40:00{offset}"}
        yield task


def history_tasks(numbers):
    for number, line in enumerate(HISTORY.read_text(encoding="utf-8").splitlines()):
        times = line.split()
        yield {"id": str(uuid.UUID(int=numbers.getrandbits(128))), "text": f"task {number}", "state": "completed",
               "createdAt": times[0], "completedAt": times[-1]}


def ndjson(tasks, numbers):
    return "".join(json.dumps(task, ensure_ascii=numbers.random() < 0.5) + "\n" for task in tasks)


def check_exports(schemas, tally, numbers):
    """Exports of an empty store and of a full one, and of a copy of the latter, which must be the same."""
    validator = schemas.validator("export.schema.json")

    def export(store):
        file = tally.folder / f"{store}.json"
        tally(store, "export", "-o", str(file))
        return check(validator, json.loads(file.read_text(encoding="utf-8")), file.name)

    tally("empty", "lists", "add", "to be deleted")
    tally("empty", "lists", "delete", "to be deleted")
    assert export("empty")["tasks"] == []

    tally("full", "import", "-", "--format", "ndjson", text=ndjson(awkward_tasks(numbers, 500), numbers))
    tally("full", "lists", "add", "Garden 🌱", "--color", "34C759")
    first, second, third = tally.add("full", "--list", "Garden 🌱", text="one\ntwo\nthree\n")
    tally("full", "done", first, "--at", "2026-03-29T02:30:00+02:00")
    tally("full", "done", second)
    tally("full", "delete", second)
    tally("full", "start", third)
    document = export("full")
    assert len(document["tasks"]) == 502 and len(document["lists"]) == 1 and len(document["completions"]) >= 1

    tally("copy", "import", str(tally.folder / "full.json"))
    again = export("copy")
    assert again | {"exportDate": None} == document | {"exportDate": None}, "import and export changed the document"

    def in_task(key, value):
        return changed(document, ("tasks", 0), lambda task: task.update({key: value}))

    refuse(validator, damaged(document), "exports")
    ways = {
        "an unknown state": in_task("state", "done"), "a number for a title": in_task("text", 1),
        "an empty title": in_task("text", ""), "an instant without a zone": in_task("createdAt", "2026-11-21T12:00:00"),
        "an impossible day": in_task("scheduledDate", "2026-02-30"), "an invalid id": in_task("id", "7f3a"),
        "a fractional order": in_task("sortOrder", 0.5),
        "an invalid colour": changed(document, ("lists", 0), lambda it: it.update({"colorHex": "blue"})),
    }
    refuse(validator, ways.items(), "exports")
    return f"exports of 0 and {len(document['tasks'])} tasks"


def check_statistics(schemas, tally, numbers):
    """Statistics of several stores with several options; the page must contain the same figures."""
    validator = schemas.validator("statistics.schema.json")
    tally("one", "add", "the only one")
    tally("generated", "lists", "add", HOSTILE)
    tally("generated", "done", *tally.add("generated", "--list", HOSTILE, text="a\nb\n"))
    tally("generated", "import", "-", "--format", "ndjson", text=ndjson(dated_tasks(numbers, 400), numbers))
    tally("history", "import", "-", "--format", "ndjson", text=ndjson(history_tasks(numbers), numbers))
    stores = ["missing", "one", "generated", "history"]

    for store in stores:
        for options in STATISTICS_OPTIONS:
            page = tally.folder / "page.html"
            # The last of two equal options counts.
            printed = json.loads(tally(store, "stats", "--json", "--html", str(page), *options))
            place = f"{store} {' '.join(options)}"
            check(validator, printed, place)
            text = page.read_text(encoding="utf-8")
            block = re.findall(r'<script type="application/json" id="tally-statistics">(.*?)</script>', text, re.DOTALL)
            assert len(block) == 1 and text.count("<script") == 1, f"{place}: the page has another script element"
            assert json.loads(block[0]) == printed, f"{place}: the page's figures differ"
    assert not (tally.folder / "missing").exists(), "reading created a store"

    def in_object(key, **values):
        return changed(printed, (key,), lambda it: it.update(values))

    refuse(validator, damaged(printed), "statistics")
    ways = {
        "six weekdays": printed | {"byWeekday": printed["byWeekday"][:6]}, "half a task": in_object("completed", today=0.5),
        "fewer than none": in_object("open", total=-1), "an impossible day": in_object("series", to="2026-02-30"),
        "an unknown direction": changed(printed, ("trend", "week"), lambda it: it.update({"direction": "sideways"})),
    }
    refuse(validator, ways.items(), "statistics")
    return f"{len(stores) * len(STATISTICS_OPTIONS)} results of statistics, equal to their pages"


def check_commands(schemas, tally, numbers):
    """The output of every other command, by the definition that it follows."""
    checked = set()

    def prints(definition, store, *arguments, lines=False, **how):
        validator = schemas.validator("commands.schema.json", definition)
        output = tally(store, *arguments, "--json", **how)
        for line in output.splitlines() if lines else [output]:
            document = check(validator, json.loads(line), " ".join(arguments)[:200])
            refuse(validator, damaged(document), definition)
        checked.add(definition)
        return document

    tally("store", "import", "-", "--format", "ndjson", text=ndjson(awkward_tasks(numbers, 100), numbers))
    prints("change", "store", "lists", "add", "Garden 🌱")
    due, other = [
        prints("change", "store", "add", title, "--list", "Garden 🌱", "--due", "yesterday", "--remind", "yesterday", "--today")
        ["changed"][0]["id"] for title in ["due", "other"]
    ]
    for arguments in [["start", due], ["edit", due, "--title", TITLES[3], "--notes", "a note"], ["undo"], ["undo", "--dry-run"], ["redo"],
                      ["snooze", due, "--until", "tomorrow"], ["move", due, "--after", other], ["reopen", due],
                      ["lists", "rename", "Garden 🌱", "Garden"], ["lists", "color", "Garden", "34C759"],
                      ["edit", "--where", "list:Garden", "--on", "today", "--set", "estimate=90"], ["log", "logged"],
                      ["move", "--where", "list:Garden", "--to", "tomorrow"], ["open", "tally://create-task"],
                      ["open", "tally://create-task?title=linked&due=friday&tag=a&notes=b"]]:
        prints("undo" if arguments[0] == "undo" else "change", "store", *arguments)
    for options in [[], ["--dry-run"]]:
        prints("quick", "store", "quick", "Pay rent tomorrow 9am #home !high every month list:Garden", *options)
    for store in ["store", "missing"]:
        prints("agenda", store)
        prints("history", store, "history")
    prints("history", "store", "history", due, "--limit", "2")
    for view in [["today"], ["today", "--open", "--limit", "1"], ["list", "Garden", "--tree"], ["inbox"], ["upcoming"], ["past"], ["overdue"], ["active"], ["all"], ["list", "Garden"],
                 ["completed"], ["due"], ["due", "next", "monday"], ["reminders", "--limit", "5"]]:
        prints("view", "store", *view)
    for words in [["a"], ["--substring", "e", "--limit", "3"], ["nothing at all"]]:
        prints("search", "store", "search", *words)
        if view != ["list", "Garden"]:
            prints("view", "missing", *view)
    prints("shownTask", "store", "show", due)
    prints("shownTask", "store", "open", f"tally://open-task?id={due}")
    prints("lists", "store", "lists")
    prints("filterChange", "store", "filters", "add", "Due 🌱", "due<=today", "-list:Garden")
    prints("filters", "store", "filters")
    prints("change", "store", "edit", other, "--tag", "home")
    prints("tags", "store", "tags")
    prints("change", "store", "tags", "rename", "home", "house")
    prints("filterChange", "store", "filters", "add", "Home", "#house")
    for arguments in [["tags", "rename", "house", "Haus"], ["undo"], ["redo"]]:
        prints("undo" if arguments == ["undo"] else "filterChange", "store", *arguments)
    prints("info", "store", "info")
    prints("info", "missing", "info")
    # No command writes values: they are those of applications.
    subprocess.run([pathlib.Path(tally.program).with_name("TallyTestHelper"), "keep-own-data", tally.folder / "store"], check=True)
    prints("namespaces", "store", "values")
    prints("values", "store", "values", "app.settings")
    prints("info", "store", "info")

    for output_format in ["json", "ndjson"]:
        file = str(tally.folder / f"tasks.{output_format}")
        prints("export", "store", "export", "-o", file, "--format", output_format)
        prints("importDryRun", "store", "import", file, "--dry-run")
    prints("import", "other", "import", str(tally.folder / "tasks.json"))

    journal = ["--journal", str(tally.folder / "journal")]
    tally("store", "remind", "--exec", "true", "--once", *journal, "--now", "2026-11-20T00:00:00Z")
    assert prints("remind", "store", "remind", "--exec", "true", "--once", *journal, lines=True)["event"] == "ran"

    backup = str(tally.folder / "backup.mdb")
    prints("backup", "store", "backup", backup)
    prints("restore", "store", "restore", backup)
    prints("restore", "restored", "restore", backup)
    prints("compact", "store", "compact")
    prints("verify", "store", "verify")
    prints("repair", "store", "verify", "--repair")
    prints("change", "store", "done", due)
    prints("change", "store", "delete", due)
    prints("change", "store", "tags", "delete", "Haus")
    prints("filterChange", "store", "filters", "delete", "due 🌱")
    prints("change", "store", "lists", "delete", "Garden", "--force")
    document = prints("importDryRun", "store", "import", str(tally.folder / "tasks.json"), "--overwrite", "--dry-run")
    assert {record["kind"] for record in document["affected"]} == {"task", "list", "filter"}, document

    synchronise(tally, prints)

    prints("config", "store", "config")
    prints("error", "store", "show", "zzzz", status=1)
    prints("error", "store", "add", status=64)
    prints("error", "store", "today", "--time-zone", "Nowhere", status=64)
    prints("error", "store", "import", "-", status=65, text="{")
    tally("store", "lists", "add", "Garden")
    prints("ambiguity", "store", "list", "Gardne", status=1)
    ids = [f"01a1f000-0000-7000-8000-000000{digit}0abcd" for digit in "12"]
    tally("store", "import", "-", "--format", "ndjson", text="".join(f'{{"id":"{it}","text":"twin"}}\n' for it in ids))
    prints("ambiguity", "store", "show", "abcd", status=1)
    # A definition that some command prints says so; the others are parts of those.
    definitions = schemas.documents["commands.schema.json"]["$defs"].items()
    unchecked = {name for name, definition in definitions if " print" in definition["description"]} - checked
    assert not unchecked, f"nothing was printed as: {', '.join(unchecked)}"
    return f"{len(checked)} shapes of output"


def synchronise(tally, prints):
    """Two stores that share a folder, and disagree."""
    folder = tally.folder / "shared"
    folder.mkdir()
    invitation = prints("syncSetup", "first", "sync", "setup", str(folder))["invitation"]
    prints("syncInvite", "first", "sync", "invite")
    tally("second", "add", "of the second")
    prints("syncJoin", "second", "sync", "join", invitation, "--at", str(folder))
    task = prints("change", "first", "add", "before")["changed"][0]["id"]
    for store in ["first", "second"]:
        prints("syncNow", store, "sync", "now")
    for store in ["first", "second"]:
        prints("change", store, "edit", task, "--title", f"by the {store}")
    prints("syncStatus", "first", "sync", "status")
    for store in ["first", "second", "first"]:
        prints("syncNow", store, "sync", "now")
    statuses = [prints("syncStatus", store, "sync", "status") for store in ["first", "second"]]
    assert statuses[0]["stateHash"] == statuses[1]["stateHash"], statuses
    other = prints("syncMembers", "second", "sync", "members")["replicas"][1]["replica"]
    conflict = prints("conflicts", "first", "conflicts")["conflicts"][0]
    prints("conflictRestored", "first", "conflicts", "restore", str(conflict["id"]))
    prints("conflictsRestored", "first", "conflicts", "restore", "--all")
    prints("conflictsDismissed", "second", "conflicts", "dismiss", "--all")
    prints("syncMemberRenamed", "second", "sync", "members", "rename", "phone")
    prints("syncRecoveryCode", "first", "sync", "recovery-code")
    prints("syncMove", "first", "sync", "move", str(folder))
    for store in ["first", "second"]:
        prints("change", store, "lists", "add", "Of one name")
        prints("syncNow", store, "sync", "now")
    prints("ambiguity", "second", "list", "Of one name", status=1)
    prints("syncNow", "first", "sync", "now")
    prints("syncMemberRenamed", "first", "sync", "members", "rename", "phone")
    prints("ambiguity", "first", "sync", "members", "rename", "phone", "other", status=1)
    prints("change", "second", "lists", "merge", "Of one name", "Of one name")
    prints("history", "second", "history")
    prints("change", "second", "delete", task)
    prints("trash", "second", "trash")
    prints("trashRestored", "second", "trash", "restore", task)
    prints("syncStop", "first", "sync", "stop")
    file = folder.with_name("first.tally")
    prints("syncDiff", "first", "sync", "diff", str(file))
    prints("syncApply", "second", "sync", "apply", str(file))
    prints("syncRevoke", "second", "sync", "revoke", other)
    assert prints("syncMembers", "second", "sync", "members")["replicas"][1]["isRevoked"]
    assert prints("error", "first", "sync", "now", status=1)["error"]["code"] == "deviceRevoked"
    prints("syncStatus", "first", "sync", "status")
    prints("syncLeave", "second", "sync", "leave")


def main():
    program = environment.ROOT / ".build/debug/tally"
    schemas = Schemas()
    checks = [
        (check_exports, ["--time-zone", "Asia/Kathmandu"]), (check_statistics, ["--now", NOW]),
        (check_commands, ["--now", NOW, "--time-zone", "Asia/Kathmandu"]),
    ]
    valid = []
    for function, options in checks:
        with tempfile.TemporaryDirectory(prefix="tally-schemas-") as folder:
            valid.append(function(schemas, Tally(program, folder, *options), random.Random(SEED)))
    print(f"schemas: {', '.join(schemas.documents)} valid; {'; '.join(valid)} valid (seed {SEED}); damaged ones refused")


if __name__ == "__main__":
    try:
        main()
    except AssertionError as failure:
        sys.exit(f"check-schemas: {failure}")
