#!/usr/bin/env python3
"""Plays random histories on two devices and one that still has an old version of the program, and compares their ends.

    Scripts/check-old-devices.py [TALLY]

The devices share a folder and live in different time zones; in half of the histories, one of the two others gets the new
version on the way. In the end these two must be equal, and the old one must have all that it can know; a series has at
most one open task that nobody has touched; and each word that somebody wrote must be in a value of a new
device, or in the trash or a conflict of any, unless people have removed it from where it was written.

TALLY_HISTORIES is the number of histories, TALLY_SEED that of the first one: a history is repeated by its own seed. Ids are
random, so a repetition may order equal times otherwise. The old version is built once, under .build.
"""

import concurrent.futures
import datetime
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
OLD_COMMIT = "0e4248f"
OLD_ROOT = ROOT / ".build" / OLD_COMMIT
OLD = OLD_ROOT / "build/release/tally"
HISTORIES = int(os.environ.get("TALLY_HISTORIES", "50"))
SEED = int(os.environ.get("TALLY_SEED", random.SystemRandom().randrange(1 << 30)))
STEPS, ROUNDS, PROCESSES = 25, 10, 2
BEGIN = datetime.datetime(2026, 3, 20, 9, tzinfo=datetime.timezone.utc)
ZONES = [
    "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Apia", "Australia/Lord_Howe", "Africa/Cairo",
    "America/St_Johns", "UTC"]
SKEWS = [0, 0, 0, -45, 90, 3_600, -7_200]
# Rules that the old version can read, and others.
OLD_RULES = ["every day", "every 2 days", "every monday", "every week", "2 days after completion", "FREQ=DAILY;COUNT=4"]
NEW_RULES = [
    "every day except sunday", "every 1 april and 3 april", "FREQ=DAILY;BYMONTH=3,4", "every weekday except in may",
    "every 8 hours"]
NEW_RULE = re.compile(r"BYMONTH=|BYSETPOS|BYYEARDAY|BYWEEKNO|EX(RULE|DATE)|except|HOURLY|hours", re.IGNORECASE)
OLD_KEYS = {
    "id", "text", "notes", "state", "scheduledDate", "dueDate", "reminderDate", "listID", "sortOrder", "createdAt",
    "completedAt", "dueDay", "priority", "tags", "parentID", "recurrence", "series", "attributes"}
WORD = re.compile(r"zq\d+q")
# Why a change may be refused: what it concerns is gone, or is already so.
REFUSALS = {
    "taskNotFound", "listNotFound", "nothingFound", "nothingToUndo", "nothingToRedo", "undoConflict", "invalidParent",
    "differentPlaces", "inconsistentTask", "invalidRecurrence", "invalidDependency", "unknownList",
}
CLOSED = ("completed", "cancelled")
# With these a person removes what is shown; a task that loses its rule ends its series.
REMOVING = {"edit", "edit_rule", "edit_series", "untag", "undo", "redo", "delete", "delete_only", "restore"}


class Failure(Exception):
    """The failure, as a sentence."""


def require(condition, message):
    if not condition:
        raise Failure(message)


# MARK: - Devices


class Device:
    """A store with a program, a time zone and a clock."""

    def __init__(self, history, name, program):
        numbers = history.numbers
        self.history, self.name, self.program = history, name, program
        self.store = history.directory / name
        self.zone, self.skew = numbers.choice(ZONES), datetime.timedelta(seconds=numbers.choice(SKEWS))
        self.tasks, self.words = [], {}

    @property
    def is_old(self):
        return self.program == OLD

    def __call__(self, *arguments, refusals=(), statuses=(0,), now=None, zone=None):
        """Runs a command; returns its output, `None` if it was refused."""
        moment = now or self.history.now + self.skew
        command = [
            self.program, "--store", self.store, "--now", moment.strftime("%Y-%m-%dT%H:%M:%SZ"), "--time-zone",
            zone or self.zone, *arguments]
        self.history.log.append(shlex.join(map(str, command)))
        process = subprocess.run(command, capture_output=True, encoding="utf-8", env=self.history.environment, timeout=120)
        if process.returncode in statuses:
            return process.stdout
        code = re.search(r'"error":\{"code":"(\w+)"', process.stderr + process.stdout)
        require(
            code and code[1] in refusals,
            f"{self.name}: {shlex.join(map(str, arguments))}: {process.returncode} {process.stderr[:500]}{process.stdout[:300]}")
        return None

    def json(self, *arguments, **options):
        return json.loads(self(*arguments, "--json", **options))

    def look(self):
        """Reads all tasks; they are in an order that a repetition gives, too."""
        text = self("export", "-o", "-", "--format", "ndjson")
        records = [json.loads(line) for line in text.splitlines()]
        tasks = [record for record in records if "text" in record]
        order = [(task["createdAt"], task["text"], (task.get("series") or {}).get("index", 0)) for task in tasks]
        self.tasks = [task for _, task in sorted(zip(order, tasks), key=lambda pair: pair[0])]
        # Not of completions, which keep the tags that their task had.
        places = {task["id"]: task for task in tasks}
        series = [record for record in records if "series" in record and "text" not in record]
        places |= {"series " + record["series"]["task"]["id"]: record for record in series}
        self.words = {place: set(WORD.findall(json.dumps(record))) for place, record in places.items()}

    def synchronise(self):
        # An invitation is valid by the clock of the one who joins, which may be wrong.
        return self.json("sync", "now")

    def some(self, is_open=None, repeats=None):
        """A task, most often an open one; `None` if there is none."""
        found = [
            task for task in self.tasks
            if is_open in (None, task["state"] not in CLOSED) and repeats in (None, bool(task.get("series")))]
        return self.history.numbers.choice(found) if found else None

    def day(self):
        days = self.history.numbers.randint(-1, 6)
        return (self.history.now + datetime.timedelta(days=days)).date().isoformat()


# MARK: - Actions
#
# Each returns the arguments of a command and the task that it touches, or `None`.


def word(device):
    return device.history.word()


def fields(device, is_for_edit=False):
    """Some options of `add` and `edit`."""
    numbers, is_old = device.history.numbers, device.is_old
    choices = [
        ["--due", numbers.choice([device.day(), f"{device.day()} 09:00", f"{device.day()} 17:30"])],
        ["--on", device.day()], ["--priority", numbers.choice(["low", "high"])], ["--notes", word(device)],
        ["--tag", word(device)], ["--remind", f"{device.day()} {numbers.choice(['08:15', '12:00'])}"],
        ["--list", numbers.choice(["Home", "none"])], ["--set", f"effort={numbers.randint(1, 9)}"],
    ]
    if not is_old:
        choices += [
            ["--remind", "1 day before", "--remind", f"{device.day()} 07:00"], ["--wait", device.day()],
            ["--remind", "30 minutes before"],
        ]
        other = device.some(is_open=True)
        if other:
            choices.append(["--after", other["id"]])
    if is_for_edit:
        choices += [["--due", "none"], ["--on", "none"], ["--remind", "none"], ["--notes", "none"]]
    chosen, names = [], set()
    for choice in numbers.sample(choices, numbers.randint(1, 3)):
        if choice[0] not in names:
            names.add(choice[0])
            chosen += choice
    return chosen


def rule(device):
    return device.history.numbers.choice(OLD_RULES + ([] if device.is_old else NEW_RULES))


def add(device):
    return ["add", word(device), *fields(device)], None


def add_part(device):
    task = device.some(is_open=True)
    return task and (["add", word(device), "--parent", task["id"]], task["id"])


def add_repeating(device):
    numbers = device.history.numbers
    zone = ["--zone", numbers.choice(ZONES)] if not device.is_old and numbers.random() < 0.2 else []
    return ["add", word(device), *fields(device), "--repeat", rule(device), *zone], None


def quick(device):
    time = device.history.numbers.choice(["", " 9:00", " 22:15"])
    return ["quick", f"{word(device)} every {device.history.numbers.choice(['day', 'monday', '3 days'])}{time}"], None


def of_one(*command, is_open=None, repeats=None):
    """A command that takes a task and nothing else."""
    def act(device):
        task = device.some(is_open, repeats)
        return task and ([command[0], task["id"], *command[1:]], task["id"])
    act.__name__ = "_".join([command[0], *(option.strip("-") for option in command[1:])])
    return act


def title(device):
    task = device.some(is_open=True)
    return task and (["edit", task["id"], "--title", word(device)], task["id"])


def edit(device):
    task = device.some()
    return task and (["edit", task["id"], *fields(device, is_for_edit=True)], task["id"])


def edit_rule(device):
    task = device.some(is_open=True)
    other = "none" if device.history.numbers.random() < 0.2 else rule(device)
    return task and (["edit", task["id"], "--repeat", other], task["id"])


def edit_series(device):
    task = device.some(is_open=True, repeats=True)
    more = ["--title", word(device)] if device.history.numbers.random() < 0.5 else []
    return task and (["edit", task["id"], "--series", *more, *fields(device, is_for_edit=True)], task["id"])


def zone(device):
    task = device.some(is_open=True, repeats=True)
    return task and (["edit", task["id"], "--zone", device.history.numbers.choice([*ZONES, "none"])], task["id"])


def untag(device):
    task = device.some()
    return task and task["tags"] and (["edit", task["id"], "--untag", task["tags"][0]], task["id"])


def snooze(device):
    task = device.some(is_open=True)
    return task and (["snooze", task["id"], "--until", f"{device.day()} 13:00"], task["id"])


def move(device):
    task = device.some()
    target = device.history.numbers.choice([["--to", device.day()], ["--list", "Home"], ["--to", "inbox"]])
    return task and (["move", task["id"], *target], task["id"])


def undo(device):
    return ["undo"], None


def redo(device):
    return ["redo"], None


def restore(device):
    found = device.json("trash")["items"]
    if not found:
        return None
    item = device.history.numbers.choice(sorted(found, key=lambda item: (item["deletedAt"], item["title"])))
    return ["trash", "restore", item["id"]], item["id"]


done, done_repeating = of_one("done", is_open=True), of_one("done", is_open=True, repeats=True)
OLD_ACTIONS = {
    add: 2, add_part: 1, add_repeating: 3, quick: 1, title: 3, edit: 4, edit_rule: 2, untag: 1, snooze: 1, move: 2,
    done: 3, done_repeating: 8, of_one("reopen", is_open=False): 3, of_one("start", is_open=True): 1,
    of_one("delete"): 2, undo: 4, redo: 1, restore: 1,
}
NEW_ACTIONS = OLD_ACTIONS | {
    edit_series: 5, zone: 1, of_one("skip", is_open=True, repeats=True): 2, of_one("cancel", is_open=True): 2,
    of_one("cancel", is_open=True, repeats=True): 1, of_one("delete", "--only", repeats=True): 2,
}


# MARK: - Histories


class History:
    """What happens on three devices, and what their people know."""

    def __init__(self, seed, directory, new):
        self.seed, self.directory, self.new = seed, directory, new
        self.numbers = random.Random(seed)
        self.now, self.log, self.count = BEGIN, [], 0
        settings = str(directory / "settings")
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(directory), "XDG_CONFIG_HOME": settings, "LC_ALL": "C.UTF-8"}
        # The words that somebody wrote and nobody has removed: the tasks and series where they were written, and how.
        self.written, self.touched, self.words_of_tasks = {}, set(), {}
        # Where the program was before the upgrade; `None` if it is new from the beginning.
        self.upgrade = self.numbers.randint(3, STEPS - 5) if self.numbers.random() < 0.5 else None
        self.devices = [
            Device(self, "upgraded" if self.upgrade else "first", OLD if self.upgrade else new),
            Device(self, "second", new), Device(self, "old", OLD)]

    def word(self):
        self.count += 1
        return f"zq{self.count}q"

    def play(self):
        self.set_up()
        for step in range(STEPS):
            self.now += datetime.timedelta(minutes=self.numbers.choice([1, 7, 50, 400, 1_430, 1_440, 2_900]))
            if step == self.upgrade:
                self.devices[0].program = self.new
            self.step(self.numbers.choice(self.devices))
        self.settle()
        self.check()

    def set_up(self):
        first = self.numbers.choice(self.devices)
        first("lists", "add", "Home")
        for device in self.devices:
            for _ in range(self.numbers.randint(0, 2)):
                self.act(device, self.numbers.choice([add, add_repeating]))
        folder = self.directory / "folder"
        folder.mkdir()
        code = first.json("sync", "setup", folder)["recoveryCode"]
        for device in self.devices:
            if device is not first:
                device("sync", "join", code, "--at", folder, "--name", device.name)
            device.look()

    def step(self, device):
        chance = self.numbers.random()
        if chance < 0.3:
            device.synchronise()
            device.look()
        elif chance < 0.34:
            # A file has the states, as a snapshot does.
            other = self.numbers.choice([other for other in self.devices if other is not device])
            file = self.directory / f"{len(self.log)}.diff"
            other("sync", "diff", file)
            device("sync", "apply", file)
            device.look()
        else:
            actions = OLD_ACTIONS if device.is_old else NEW_ACTIONS
            self.act(device, self.numbers.choices(list(actions), list(actions.values()))[0])

    def act(self, device, action):
        made = action(device)
        if not made:
            return
        arguments, task = made
        before, words = {one["id"]: one for one in device.tasks}, device.words
        if device("--json", *arguments, refusals=REFUSALS) is None:
            return
        device.look()
        for new in set().union(*device.words.values()) - set().union(*words.values()):
            if any(new in argument for argument in arguments):
                places = {place for place, shown in device.words.items() if new in shown}
                self.written[new] = (places, f"{device.name}: {shlex.join(map(str, arguments))}")
        self.note_described(device, device.words.keys() - words.keys())
        if action.__name__ in REMOVING or action is title:
            # A series that the command has described first had the words of its task.
            places = {"series " + one["series"]["id"]: id for id, one in before.items() if one.get("series")}
            described = {place: words[id] for place, id in places.items() if place in device.words}
            self.note_removed(described | words, device.words)
        self.note_words(device, before, action)
        if task:
            self.touched.add(task)
        elif action in (undo, redo):
            self.touched |= {one["id"] for one in device.tasks if before.get(one["id"], one) != one}
        else:
            self.touched |= {one["id"] for one in device.tasks if one["id"] not in before}

    def note_described(self, device, new):
        """A series that no device knew has the words of the task that described it, whatever becomes of the task."""
        known = set().union(*(other.words for other in self.devices if other is not device))
        for place in {place for place in new - known if place.startswith("series ")}:
            for word in device.words[place] & self.written.keys():
                self.written[word][0].add(place)

    def note_removed(self, before, after):
        """Forgets words that people have removed from each place where they were written, maybe on several devices."""
        for place, words in before.items():
            for word in words - after.get(place, set()):
                places, _ = self.written.get(word, (set(), None))
                places.discard(place)
                if not places:
                    self.written.pop(word, None)

    def note_words(self, device, before, action):
        """Follows the words of each task, and forgets those that the old version replaces when it takes back a deletion.

        It writes the former values again, whatever others have written since; so it does when it restores from its trash.
        """
        for task in device.tasks:
            known, shown = self.words_of_tasks.setdefault(task["id"], set()), set(WORD.findall(json.dumps(task)))
            if device.is_old and action in (undo, redo, restore) and task["id"] not in before:
                for word in known - shown:
                    self.written.pop(word, None)
            known |= shown

    def settle(self):
        for _ in range(ROUNDS):
            reports = [device.synchronise() for device in self.devices]
            if not any(report["sent"] or report["received"] for report in reports):
                return
        raise Failure(f"after {ROUNDS} rounds the devices still send or receive: {reports}")

    # MARK: The end

    def check(self):
        documents = [self.document(device) for device in self.devices]
        first, second, old = documents
        for document in (second, old):
            require(first["lists"] == document["lists"], "the lists differ")
        require(
            first["tasks"].keys() == second["tasks"].keys(), f"tasks are on one new device: {first['tasks'].keys() ^ second['tasks'].keys()}")
        for id, task in first["tasks"].items():
            self.compare(task, second["tasks"][id], "new devices differ")
        require(first["tasks"].keys() == old["tasks"].keys(), f"the old device lacks or has {first['tasks'].keys() ^ old['tasks'].keys()}")
        for id, task in old["tasks"].items():
            self.compare(self.as_old(first["tasks"][id], task), task, "the old device differs")
        hashes = set()
        for device in self.devices:
            status = device.json("sync", "status")
            hashes.add(status["stateHash"])
            for key in ("pending", "blocked", "tooLarge", "needsUpgrade"):
                require(not status.get(key), f"{device.name}: {key} is {status.get(key)}")
            found = device.json("verify", statuses=(0, 65))
            require(found["sound"] and not found["faultCount"], f"the store of {device.name} is not sound: {found['faults']}")
        require(len(hashes) == 1, "the hashes of the states differ")
        self.check_views()
        self.check_series(first["tasks"])
        self.check_export(first["tasks"])
        self.check_words()

    def document(self, device):
        exported = json.loads(device("export", "-o", "-"))
        kinds = ("tasks", "lists")
        return {
            kind: {one["id"]: {key: value for key, value in one.items() if key != "updatedAt"} for one in exported[kind]}
            for kind in kinds}

    @staticmethod
    def compare(one, other, what):
        for key in one.keys() | other.keys():
            require(one.get(key) == other.get(key), f"{what}: {key} of {one['id']} ({one['text']}): {one.get(key)} and {other.get(key)}")

    @staticmethod
    def as_old(task, old):
        """What a device with the old version can know of a task."""
        known = {key: task.get(key) for key in old}
        if task["state"] == "cancelled":
            # The task is open there, and may have been started.
            known["state"] = old["state"] if old["state"] == "active" else "notStarted"
        if NEW_RULE.search(task.get("recurrence") or ""):
            known["recurrence"] = known["series"] = None
        return known

    def check_export(self, tasks):
        """The old version reads an export of the new one as it is, or refuses it and imports nothing of it."""
        file, reader = self.directory / "export.json", Device(self, "reader", OLD)
        self.devices[0]("export", "-o", file)
        is_read = reader("--json", "import", file, refusals={"unknownKey", "invalidState", "invalidRecurrence"}) is not None
        has_later = json.loads(file.read_text()).get("series") or any(
            task.keys() - OLD_KEYS or task["state"] == "cancelled" or NEW_RULE.search(task.get("recurrence") or "")
            for task in tasks.values())
        require(is_read or has_later, "the old version refuses an export that has nothing later")
        if not is_read:
            return require(not reader.store.exists(), "the old version has imported a part of an export that it refuses")
        reader.look()
        require(len(reader.tasks) == len(tasks), f"the old version has read {len(reader.tasks)} of {len(tasks)} tasks")
        for task in reader.tasks:
            known = ({key: one.get(key) for key in OLD_KEYS} for one in (tasks[task["id"]], task))
            self.compare(*known, "the old version has read something else")

    def check_views(self):
        now = self.now + datetime.timedelta(minutes=3)
        for view in (["agenda"], ["upcoming"], ["next"], ["reminders"], ["stats"]):
            answers = [device.json(*view, now=now, zone="Europe/Berlin") for device in self.devices[:2]]
            require(self.timeless(answers[0]) == self.timeless(answers[1]), f"{view[0]} differs: {answers}")

    def timeless(self, value):
        if isinstance(value, dict):
            return {key: self.timeless(one) for key, one in value.items() if key not in ("updatedAt", "sequence")}
        return [self.timeless(one) for one in value] if isinstance(value, list) else value

    def check_series(self, tasks):
        untouched = {}
        parents = {task["parentID"] for task in tasks.values()}
        for task in tasks.values():
            if task.get("series") and task["state"] not in CLOSED and task["id"] not in self.touched | parents:
                untouched.setdefault(task["series"]["id"], []).append(task["id"])
        for series, ids in untouched.items():
            require(len(ids) < 2, f"the series {series} has the untouched open tasks {ids}")

    def check_words(self):
        # A conflict is on the devices of the two who wrote.
        texts = "".join(device("conflicts", "--json") for device in self.devices)
        texts += "".join(device("export", "-o", "-") for device in self.devices[:2])
        lost = self.written.keys() - set(WORD.findall(texts))
        if not lost:
            return
        # What is in the trash shows when everything is restored; an edit that an old version merges into what it has
        # deleted is in the trash of its author.
        for device in self.devices:
            device("trash", "restore", "--since", "2026-01-01T00:00:00Z", refusals=REFUSALS, statuses=(0, 1))
            lost -= set(WORD.findall(device("export", "-o", "-")))
        require(not lost, "lost without a trace: " + "; ".join(f"{one} ({self.written[one][1]})" for one in sorted(lost)))


# MARK: - Runs


def play(seed, new):
    """Plays a history; returns its seed and the failure, `None` if there is none, and how many commands it took."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="check-old-devices-"))
    history = History(seed, directory, new)
    try:
        history.play()
    except Failure as failure:
        (directory / "commands.sh").write_text("\n".join(history.log) + "\n")
        return seed, f"{failure}\n  The stores and commands.sh are in {directory}", len(history.log)
    except Exception as error:
        (directory / "commands.sh").write_text("\n".join(history.log) + "\n")
        return seed, f"{error!r}\n  The stores and commands.sh are in {directory}", len(history.log)
    shutil.rmtree(directory)
    return seed, None, len(history.log)


def build_old():
    """Builds the old version, unless it is there."""
    if OLD.exists():
        return
    print(f"Building {OLD_COMMIT}: minutes, once", flush=True)
    source = OLD_ROOT / "source"
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir(parents=True)
    archive = subprocess.run(["git", "-C", ROOT, "archive", OLD_COMMIT], capture_output=True)
    if archive.returncode:
        sys.exit(f"This clone lacks {OLD_COMMIT}; git fetch --unshallow gets it: {archive.stderr.decode()}")
    subprocess.run(["tar", "-x", "-C", source], input=archive.stdout, check=True)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("TALLY_")}
    command = ["swift", "build", "-c", "release", "--product", "tally", "--package-path", source, "--scratch-path", OLD_ROOT / "build"]
    subprocess.run(command, check=True, env=environment)


def main():
    build_old()
    if len(sys.argv) > 1:
        new = pathlib.Path(sys.argv[1]).resolve()
    else:
        subprocess.run(["swift", "build", "-c", "release", "--product", "tally"], check=True, cwd=ROOT)
        new = ROOT / ".build/release/tally"
    print(f"TALLY_SEED={SEED} TALLY_HISTORIES={HISTORIES}", flush=True)
    failures = commands = 0
    with concurrent.futures.ProcessPoolExecutor(PROCESSES) as pool:
        for number, (seed, failure, count) in enumerate(pool.map(play, range(SEED, SEED + HISTORIES), [new] * HISTORIES), 1):
            commands += count
            if failure:
                failures += 1
                print(f"TALLY_SEED={seed} TALLY_HISTORIES=1: {failure}", flush=True)
            elif number % 100 == 0:
                print(f"{number} histories, {commands} commands, {failures} failures", flush=True)
    if failures:
        sys.exit(f"check-old-devices: {failures} of {HISTORIES} histories failed (TALLY_SEED={SEED})")
    print(f"check-old-devices: {HISTORIES} histories of {commands} commands end equal (TALLY_SEED={SEED})")


if __name__ == "__main__":
    main()
