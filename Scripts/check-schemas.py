"""Validates Schemas/*.json, and real exports against Schemas/export.schema.json. Takes the path of `tally`.

Stores are filled from generated tasks with awkward texts and dates, changed by commands, exported, and imported again.
The schema must accept what comes out, and refuse it once it is damaged: one that accepts everything checks nothing.
"""

import copy
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import uuid

from jsonschema import Draft202012Validator, FormatChecker

DRAFT = "https://json-schema.org/draft/2020-12/schema"
SEED = 20261121
TITLES = [
    "plain", " blanks around ", 'quoted "twice" and \\ back', "tab\tline\nfeed\rreturn", "NUL \0 inside",
    "\u202eright to left\u202c", "\u0301 lone mark", "e\u0301 and \u00e9", "家族 👩‍👩‍👧‍👦 🏳️‍🌈", "\u2028separators\u2029",
    "\x1b[31mred\x7f", "</script><!--", "x" * 100_000, "\U0010ffff\ufffe", "{\"a\": [1, 2]}", "\\u0041",
]


def schemas():
    """Every schema by file name; files without `$schema` are data, and only have to be JSON."""
    found = {}
    for path in sorted(pathlib.Path("Schemas").glob("*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        if "$schema" in document:
            assert document["$schema"] == DRAFT, f"{path}: `$schema` is not {DRAFT}"
            Draft202012Validator.check_schema(document)
            found[path.name] = document
    return found


def instant(numbers):
    """An instant of any year that dates can have, with and without a fraction and an offset."""
    date = f"{numbers.choice([1, 1582, 1969, 1970, 2024, 2026, 9999]):04}-{numbers.randint(1, 12):02}-{numbers.randint(2, 27):02}"
    time = f"{numbers.randint(0, 23):02}:{numbers.randint(0, 59):02}:{numbers.randint(0, 59):02}"
    return date + "T" + time + numbers.choice(["", ".5", ".123456"]) + numbers.choice(["Z", "+05:45", "-03:30", "+14:00"])


def tasks(numbers, count):
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


def damaged(export):
    """Documents that are wrong in one way each, by the name of the way."""

    def changed(change):
        document = copy.deepcopy(export)
        change(document)
        return document

    def set_in_task(key, value):
        return changed(lambda document: document["tasks"][0].update({key: value}))

    for key in export:
        yield f"no {key}", changed(lambda document, key=key: document.pop(key))
    for key in export["tasks"][0]:
        yield f"a task without {key}", changed(lambda document, key=key: document["tasks"][0].pop(key))
    yield "an unknown state", set_in_task("state", "done")
    yield "a number for a title", set_in_task("text", 1)
    yield "an empty title", set_in_task("text", "")
    yield "an instant without a zone", set_in_task("createdAt", "2026-11-21T12:00:00")
    yield "a day that is none", set_in_task("scheduledDate", "2026-02-30")
    yield "an id that is none", set_in_task("id", "7f3a")
    yield "an order that is no integer", set_in_task("sortOrder", 0.5)
    yield "a colour that is none", changed(lambda document: document["lists"][0].update({"colorHex": "blue"}))


def check(validator, path):
    document = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    errors = [f"{path}: {error.json_path}: {error.message[:200]}" for error in validator.iter_errors(document)]
    assert not errors, "\n".join(errors[:20])
    return document


def main(program):
    found = schemas()
    assert "export.schema.json" in found, "Schemas/export.schema.json is missing"
    validator = Draft202012Validator(found["export.schema.json"], format_checker=FormatChecker())
    numbers = random.Random(SEED)

    with tempfile.TemporaryDirectory(prefix="tally-schemas-") as folder:

        def tally(store, *arguments, text=""):
            command = [program, "--store", f"{folder}/{store}", "--time-zone", "Asia/Kathmandu", *arguments]
            result = subprocess.run(command, input=text, capture_output=True, encoding="utf-8", check=False)
            assert result.returncode == 0, f"{' '.join(arguments)[:200]}: {result.stderr}"
            return result.stdout

        tally("empty", "lists", "add", "to be deleted")
        tally("empty", "lists", "delete", "to be deleted")
        tally("empty", "export", "-o", f"{folder}/empty.json")
        assert check(validator, f"{folder}/empty.json")["tasks"] == []

        lines = "".join(json.dumps(task, ensure_ascii=numbers.random() < 0.5) + "\n" for task in tasks(numbers, 500))
        tally("full", "import", "-", "--format", "ndjson", text=lines)
        tally("full", "lists", "add", "Garden 🌱", "--color", "34C759")
        added = json.loads(tally("full", "add", "-", "--list", "Garden 🌱", "--json", text="one\ntwo\nthree\n"))["changed"]
        tally("full", "done", added[0]["id"], "--at", "2026-03-29T02:30:00+02:00")
        tally("full", "done", added[1]["id"])
        tally("full", "delete", added[1]["id"])
        tally("full", "start", added[2]["id"])
        tally("full", "export", "-o", f"{folder}/full.json")
        export = check(validator, f"{folder}/full.json")
        assert len(export["tasks"]) == 502 and len(export["lists"]) == 1 and len(export["completions"]) >= 1

        tally("copy", "import", f"{folder}/full.json")
        tally("copy", "export", "-o", f"{folder}/copy.json")
        again = check(validator, f"{folder}/copy.json")
        assert again | {"exportDate": None} == export | {"exportDate": None}, "import and export changed the document"

        accepted = [way for way, document in damaged(export) if validator.is_valid(document)]
        assert not accepted, f"the schema accepts: {', '.join(accepted)}"

    print(f"schemas: {', '.join(found)} valid; exports of 0 and 502 tasks valid (seed {SEED}); damaged ones refused")


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except AssertionError as failure:
        sys.exit(f"check-schemas: {failure}")
