"""Validates the JSON of `tally stats` against Schemas/statistics.schema.json. Takes the path of `tally`.

Stores are empty, hold one task, are generated, or hold the history in ../shared/data where that is there. The page must
hold the same figures, and the schema refuse them once they are damaged.
"""

import copy
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import uuid

from jsonschema import Draft202012Validator, FormatChecker

SEED = 20261121
NOW = "2026-11-21T12:00:00Z"
HISTORY = pathlib.Path("../shared/data/taskwarrior-history.ndjson")
OPTIONS = [
    [], ["--by", "week"], ["--by", "month", "--time-zone", "America/Sao_Paulo"], ["--week-start", "saturday"],
    ["--from", "2024-02-01", "--to", "2024-03-31", "--time-zone", "Australia/Lord_Howe"],
    ["--day-start", "04:00", "--as-recorded"], ["--now", "2011-12-31T00:00:00Z", "--time-zone", "Pacific/Apia"],
]


def tasks(numbers, count):
    """Tasks of three years, some of them completed before they were created, as clocks are set back."""
    for number in range(count):
        day, hour = numbers.randrange(3 * 365), numbers.randrange(24)
        created = f"{2024 + day // 365}-{1 + day % 365 // 31:02}-{1 + day % 28:02}T{hour:02}:15:00Z"
        task = {"id": str(uuid.UUID(int=numbers.getrandbits(128))), "text": f"task {number}", "createdAt": created}
        if numbers.random() < 0.8:
            offset = numbers.choice(["Z", "+05:45", "-03:30"])
            task |= {"state": "completed", "completedAt": f"2026-{1 + day % 11:02}-{1 + day % 28:02}T{hour:02}:40:00{offset}"}
        yield task


def damaged(statistics):
    """Statistics that are wrong in one way each, by the name of the way."""

    def changed(change):
        document = copy.deepcopy(statistics)
        change(document)
        return document

    for key, value in statistics.items():
        yield f"no {key}", changed(lambda document, key=key: document.pop(key))
        if isinstance(value, dict):
            for inner in value:
                yield f"no {key}.{inner}", changed(lambda document, key=key, inner=inner: document[key].pop(inner))
    yield "a key too many", changed(lambda document: document.update({"more": 1}))
    yield "six weekdays", changed(lambda document: document["byWeekday"].pop())
    yield "half a task", changed(lambda document: document["completed"].update({"today": 0.5}))
    yield "fewer than none", changed(lambda document: document["open"].update({"total": -1}))
    yield "a day that is none", changed(lambda document: document["series"].update({"to": "2026-02-30"}))
    yield "an unknown direction", changed(lambda document: document["trend"]["week"].update({"direction": "sideways"}))


def main(program):
    schema = json.loads(pathlib.Path("Schemas/statistics.schema.json").read_text(encoding="utf-8"))
    validator = Draft202012Validator(schema, format_checker=FormatChecker())
    numbers = random.Random(SEED)
    count = 0

    with tempfile.TemporaryDirectory(prefix="tally-statistics-") as folder:

        def tally(store, *arguments, text=""):
            command = [program, "--store", f"{folder}/{store}", "--now", NOW, *arguments]
            result = subprocess.run(command, input=text, capture_output=True, encoding="utf-8", check=False)
            assert result.returncode == 0, f"{' '.join(arguments)[:200]}: {result.stderr}"
            return result.stdout

        tally("one", "add", "the only one")
        lines = "".join(json.dumps(task) + "\n" for task in tasks(numbers, 400))
        tally("generated", "lists", "add", "</script><script>alert(1)</script>\"&'")
        done = json.loads(tally("generated", "add", "-", "--list", "</script><script>alert(1)</script>\"&'", "--json", text="a\nb\n"))
        tally("generated", "done", *(task["id"] for task in done["changed"]))
        tally("generated", "import", "-", "--format", "ndjson", text=lines)
        stores = ["missing", "one", "generated"]
        if HISTORY.exists():
            tally("history", "import", str(HISTORY.resolve()), "--format", "ndjson")
            stores.append("history")

        for store in stores:
            for options in OPTIONS:
                page = f"{folder}/page.html"
                # The last of two equal options counts.
                printed = json.loads(tally(store, "stats", "--json", "--html", page, *options))
                place = f"{store} {' '.join(options)}"
                errors = [f"{place}: {error.json_path}: {error.message[:200]}" for error in validator.iter_errors(printed)]
                assert not errors, "\n".join(errors[:20])
                text = pathlib.Path(page).read_text(encoding="utf-8")
                block = re.findall(r'<script type="application/json" id="tally-statistics">(.*?)</script>', text, re.DOTALL)
                assert len(block) == 1 and text.count("<script") == 1, f"{place}: the page has another script element"
                assert json.loads(block[0]) == printed, f"{place}: the page's figures are others"
                count += 1
        assert not pathlib.Path(folder, "missing").exists(), "reading made a store"
        accepted = [way for way, document in damaged(printed) if validator.is_valid(document)]
        assert not accepted, f"the schema accepts: {', '.join(accepted)}"

    print(f"statistics: {count} answers of {len(stores)} stores valid (seed {SEED}), equal to their pages; damaged ones refused")


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except AssertionError as failure:
        sys.exit(f"check-statistics-schema: {failure}")
