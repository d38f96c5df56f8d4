#!/usr/bin/env python3
"""Changes tasks at random on several devices that share a folder, and checks that all of them end up the same.

A device is a store, a folder of its own and a clock, which may be wrong by years. The service that copies the folders delays,
reorders and duplicates files, leaves parts of them under their final names, and makes conflict copies; with --syncthing it is
Syncthing itself. Commands are killed at random moments, and the next ones must work. In the end all devices must have equal
hashes, exports and statistics, sound stores and nothing that waits; and no task or completion may be lost that nobody removed.

The processes take turns as they like, so that a seed gives the same kinds of changes, not the same run. After a failure the
directory stays, with all commands in commands.log.
"""

import argparse
import concurrent.futures
import datetime
import heapq
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
import uuid
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = pathlib.Path(os.environ.get("TALLY_PROGRAM", ROOT / ".build/debug/tally")).resolve()
NOW = datetime.datetime(2026, 11, 23, 12, tzinfo=datetime.timezone.utc)
# The error of each device's clock.
SKEWS = [
    datetime.timedelta(), datetime.timedelta(hours=1), datetime.timedelta(days=-365),
    datetime.datetime(2099, 1, 1, tzinfo=datetime.timezone.utc) - NOW, datetime.timedelta(seconds=-2),
]
ZONES = [
    "UTC", "Europe/Istanbul", "America/New_York", "America/Sao_Paulo", "Asia/Kolkata", "Asia/Kathmandu", "Asia/Tokyo",
    "Australia/Lord_Howe", "Pacific/Apia", "Pacific/Marquesas", "Africa/Casablanca", "America/St_Johns",
]
WORDS = ["milk", "Büro", "電話", "plan", "tax", "e\u0301té", "🏳️‍🌈", "\u202eleft", "call", "back\\slash", "\"quoted\"", "café"]
TAGS = ["home", "work", "garden", "größe", "later", "x"]
RULES = ["every day", "every 2 weeks", "every monday", "3 days after completion", "every month on the last friday", "none"]
PRIORITIES = ["low", "medium", "high", "none"]
# The reasons for which a change may be refused: a task or list is gone, there is nothing to change, a task cannot be
# below itself.
REFUSALS = {
    "taskNotFound", "listNotFound", "unknownList", "nothingFound", "nothingToUndo", "nothingToRedo", "undoConflict",
    "invalidParent", "differentPlaces",
}
MOST_FILES = 200
LIMIT = 120


class Failure(Exception):
    """The failure, as a sentence."""


def require(condition, message):
    if not condition:
        raise Failure(message)


# MARK: - Data that must not get lost


class Memory:
    """The tasks and completions that some device had, and those that a user removed on some device."""

    def __init__(self):
        self.tasks, self.deleted, self.completed, self.reopened = set(), set(), set(), set()

    def see(self, before, after):
        """Notes the tasks of a device, and what only its user can have removed since the time before."""
        self.tasks |= set(after)
        self.completed |= {name for name, task in after.items() if task["state"] == "completed"}
        for name, task in (before or {}).items():
            if name not in after:
                self.deleted.add(name)
            elif task["state"] == "completed" and after[name]["state"] != "completed":
                self.reopened.add(name)

    def check(self, tasks):
        lost = self.tasks - self.deleted - set(tasks)
        require(not lost, f"{len(lost)} tasks are lost that nobody deleted, such as {sorted(lost)[:3]}")
        undone = {
            name for name in self.completed - self.reopened - self.deleted if tasks[name]["state"] != "completed"
        }
        require(not undone, f"{len(undone)} completions are lost that nobody reopened, such as {sorted(undone)[:3]}")


# MARK: - Devices


# The folder does not have everything yet that others have written.
MISSING = ("syncIncomplete",)


class Device:
    """A store, a folder that something copies to other devices, and a clock."""

    def __init__(self, number, directory, numbers, memory):
        self.number, self.numbers, self.memory = number, numbers, memory
        self.store, self.folder = directory / f"store{number}", directory / f"folder{number}"
        self.log = directory / "commands.log"
        self.folder.mkdir()
        self.time = NOW + SKEWS[number]
        # The tasks at the last look, and whether a later change may have removed something.
        self.tasks, self.lists, self.is_changed = None, [], False
        self.running, self.changes, self.kills = None, 0, 0

    def tick(self):
        """The time by the device's clock: it goes on, and is sometimes set back."""
        seconds = self.numbers.expovariate(1 / 90) if self.numbers.random() < 0.95 else -3_600
        self.time += datetime.timedelta(seconds=seconds, microseconds=self.numbers.randrange(1_000_000))
        return self.time.isoformat().replace("+00:00", "Z")

    def start(self, *arguments, now=None):
        command = [PROGRAM, "--store", self.store, "--now", now or self.tick(), "--time-zone", "UTC", *arguments]
        environment = {**os.environ, "LC_ALL": "C.UTF-8", "TZ": "UTC"}
        with self.log.open("a", encoding="utf-8") as log:
            log.write(json.dumps([time.monotonic(), self.number, *map(str, command[1:])], ensure_ascii=False) + "\n")
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(command, encoding="utf-8", env=environment, **pipes)

    def finish(self, process, arguments, text="", statuses=(0,), refusals=()):
        try:
            output, errors = process.communicate(text, timeout=LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            raise Failure(f"device {self.number}: {' '.join(arguments)[:200]} takes more than {LIMIT} s") from None
        code = re.search(r'"error":\{"code":"(\w+)"', errors + output)
        require(
            process.returncode in statuses or code and code[1] in refusals,
            f"device {self.number}: {' '.join(map(str, arguments))[:300]}: {process.returncode} {errors[:2000]}{output[:300]}")
        return process.returncode, output

    def __call__(self, *arguments, text="", statuses=(0,), refusals=(), now=None):
        return self.finish(self.start(*arguments, now=now), arguments, text, statuses, refusals)

    def json(self, *arguments, now=None, statuses=(0,)):
        return json.loads(self(*arguments, "--json", now=now, statuses=statuses)[1])

    def kill(self, *arguments, text="", longest=0.06):
        """Starts a command and ends it at a random moment, most often while it does its work."""
        process = self.start(*arguments)
        try:
            process.stdin.write(text)
            process.stdin.close()
        except BrokenPipeError:
            pass
        process.stdin = None
        time.sleep(self.numbers.uniform(0.5 * START_SECONDS, START_SECONDS + longest))
        process.kill()
        process.communicate()
        self.kills += process.returncode == -signal.SIGKILL

    def look(self):
        """Reads all tasks and lists; notes those that a change on this device has removed."""
        _, output = self("export", "-o", "-", "--format", "ndjson")
        objects = [json.loads(line) for line in output.splitlines()]
        tasks = {task["id"]: task for task in objects if "text" in task}
        self.memory.see(self.tasks, tasks)
        self.tasks, self.is_changed = tasks, False
        self.lists = [one["list"]["id"] for one in objects if isinstance(one.get("list"), dict)]

    # MARK: Synchronising

    def prepare(self):
        """Looks at what the user has done, as after synchronising others may have done it."""
        self.wait()
        if self.is_changed:
            self.look()
        self.tasks = None

    def wait(self):
        """Waits for a synchronisation that runs beside changes."""
        if self.running:
            process, self.running = self.running, None
            self.finish(process, ["sync", "now"], refusals=MISSING)
            self.tasks = None

    def synchronise(self):
        self.prepare()
        return json.loads(self("sync", "now", "--json", refusals=MISSING)[1])

    def synchronise_beside(self):
        self.prepare()
        # Only changes that remove nothing may follow: the look cannot distinguish them from those of others.
        self.running = self.start("sync", "now", "--json")

    def synchronise_killed(self):
        self.prepare()
        # The kill must hit all of the work, not only its beginning.
        self.kill("sync", "now", longest=self.numbers.choice([0.06, 0.06, 0.3]))

    # MARK: Changes

    def change(self, most, killed=False):
        """Makes one random change, of some tasks at once; returns how many it has changed."""
        if self.tasks is None and not self.running:
            self.look()
        changes = ADDITIONS if self.running or not self.tasks else CHANGES
        make = self.numbers.choices(list(changes), list(changes.values()))[0]
        made = make(self, most)
        if made is None:
            return 0
        arguments, text = made
        self.is_changed = self.is_changed or make not in ADDITIONS
        if killed:
            self.kill(*arguments, text=text)
            return 0
        status, output = self("--json", *arguments, text=text, refusals=REFUSALS)
        count = changed_count(json.loads(output)) if status == 0 else 0
        self.changes += count
        return count

    def some(self, most):
        """The ids of some tasks."""
        count = min(self.numbers.randint(1, max(1, most)), len(self.tasks))
        return self.numbers.sample(sorted(self.tasks), count)

    def one(self):
        return self.numbers.choice(sorted(self.tasks))

    def title(self):
        return " ".join(self.numbers.choices(WORDS, k=self.numbers.randint(1, 5))) + f" {self.numbers.getrandbits(24):x}"

    def day(self):
        return (self.time + datetime.timedelta(days=self.numbers.randint(-30, 60))).date().isoformat()

    def options(self):
        """Some of the options that `add` and `edit` both take."""
        numbers = self.numbers
        choices = [
            ["--on", numbers.choice([self.day(), "none"])],
            ["--due", numbers.choice([self.day(), self.day() + "T17:00:00Z", "none"])],
            ["--remind", numbers.choice(["2h", "none"])],
            ["--notes", numbers.choice([self.title() * numbers.randint(1, 20), "none"])],
            ["--tag", numbers.choice(TAGS)],
            ["--priority", numbers.choice(PRIORITIES)],
            ["--repeat", numbers.choice(RULES), "--on", self.day()],
            ["--set", f"{numbers.choice(['effort', 'größe'])}={numbers.choice(['90', 'xl', 'none'])}"],
        ]
        if self.lists:
            choices.append(["--list", numbers.choice([*self.lists, "none"])])
        chosen = numbers.sample(choices, numbers.randint(1, 3))
        # A day is given only once.
        result = []
        for option in chosen:
            if not set(option) & set(result) & {"--on"}:
                result += option
        return result


def changed_count(answer):
    """How many tasks and lists a command says that it has changed."""
    if "changed" in answer and isinstance(answer["changed"], int):
        return answer["added"] + answer["changed"]
    return sum(len(value) for key, value in answer.items() if key in ("changed", "deleted", "lists") and isinstance(value, list))


# Each gives the arguments and the input, or `None` if there is nothing to change.


def add_many(device, most):
    text = "\n".join(device.title() for _ in range(device.numbers.randint(1, most)))
    return ["add", "-", "--tag", device.numbers.choice(TAGS)], text


def add_one(device, _):
    return ["add", *device.options(), "--", device.title()], ""


def import_new(device, most):
    lines = [json.dumps(new_document(device)) for _ in range(device.numbers.randint(1, most))]
    return ["import", "-", "--format", "ndjson"], "\n".join(lines)


def new_document(device):
    document = {"id": str(uuid.UUID(int=device.numbers.getrandbits(128), version=4)), "text": device.title()}
    if device.numbers.random() < 0.4:
        document |= {"state": "completed", "completedAt": device.day() + "T08:30:00+03:00"}
    if device.numbers.random() < 0.5:
        document |= {"scheduledDate": device.day(), "tags": device.numbers.sample(TAGS, 2)}
    return document


def import_changed(device, most):
    """Changes many tasks in one step, each in its own way."""
    lines = []
    for name in device.some(most):
        task = dict(device.tasks[name])
        for key, value in device.numbers.sample([
            ("text", device.title()), ("notes", device.title()), ("priority", device.numbers.choice(["low", "high", None])),
            ("tags", device.numbers.sample(TAGS, device.numbers.randint(1, 3))), ("scheduledDate", device.day()),
            ("attributes", {"effort": device.numbers.randint(1, 99)}),
        ], 2):
            if key in task:
                task[key] = value
        lines.append(json.dumps({key: value for key, value in task.items() if key != "updatedAt"}))
    return ["import", "-", "--format", "ndjson", "--overwrite"], "\n".join(lines)


def edit(device, most):
    if device.numbers.random() < 0.5:
        return ["edit", device.one(), "--title", device.title(), *device.options()], ""
    return ["edit", *device.some(most), *device.options()], ""


def edit_found(device, _):
    found = device.numbers.choice(TAGS)
    return ["edit", "--where", f"#{found} is:open", "--untag", found, *device.options()], ""


def complete(device, most):
    only = ["--only"] if device.numbers.random() < 0.3 else []
    at = ["--at", "2 hours ago"] if device.numbers.random() < 0.3 else []
    return ["done", *device.some(most // 2), *only, *at], ""


def complete_found(device, _):
    return ["done", "--where", f"#{device.numbers.choice(TAGS)} is:open priority>=medium"], ""


def reopen(device, most):
    done = sorted(name for name, task in device.tasks.items() if task["state"] == "completed")
    chosen = device.numbers.sample(done, min(len(done), max(1, most // 3)))
    return (["reopen", *chosen], "") if chosen else None


def begin(device, most):
    return ["start", *device.some(most // 3)], ""


def delete(device, most):
    return ["delete", *device.some(most // 3)], ""


def delete_done(device, _):
    return ["delete", "--where", f"is:done #{device.numbers.choice(TAGS)}"], ""


def undo(device, _):
    return ["undo", str(device.numbers.choice([1, 1, 1, 2, 3]))], ""


def redo(device, _):
    return ["redo"], ""


def move(device, most):
    kind = device.numbers.randrange(3)
    if kind == 0:
        return ["move", *device.some(most), "--to", device.numbers.choice(["today", "tomorrow", "inbox", device.day()])], ""
    if kind == 1:
        if len(device.tasks) < 2:
            return None
        first, second = device.numbers.sample(sorted(device.tasks), 2)
        return ["move", first, "--list", "none", "--to", "today", device.numbers.choice(["--before", "--after"]), second], ""
    return (["move", *device.some(most), "--list", device.numbers.choice(device.lists)], "") if device.lists else None


def put_below(device, most):
    """Makes sub-tasks; a task above itself, or one that is too deep, is refused."""
    return ["edit", *device.some(min(most, 4)), "--parent", device.numbers.choice([device.one(), "none"])], ""


def add_below(device, _):
    return ["add", "--parent", device.one(), "--", device.title()], ""


def add_list(device, _):
    return ["lists", "add", "--force", device.title()], ""


def rename_list(device, _):
    return (["lists", "rename", "--force", device.numbers.choice(device.lists), device.title()], "") if device.lists else None


def move_list(device, _):
    if len(device.lists) < 2:
        return None
    first, second = device.numbers.sample(device.lists, 2)
    return ["lists", "move", first, "--before", second], ""


def delete_list(device, _):
    return (["lists", "delete", "--force", device.numbers.choice(device.lists)], "") if device.lists else None


# How often each change is made.
ADDITIONS = {add_many: 8, import_new: 5, add_one: 8, add_list: 2}
CHANGES = {
    **ADDITIONS, import_changed: 8, edit: 16, edit_found: 4, complete: 12, complete_found: 3, reopen: 5, begin: 2, delete: 6,
    delete_done: 2, undo: 6, redo: 2, move: 8, put_below: 6, add_below: 3, rename_list: 2, move_list: 1, delete_list: 1,
}


# MARK: - The copier of the folders


class Copier(threading.Thread):
    """Copies files between folders as a synchronisation service does on a bad day.

    Each file has a version at each device; plans for an older one are dropped, as services do.
    """

    PACE = 0.02

    def __init__(self, folders, numbers, delay):
        super().__init__(daemon=True)
        self.folders, self.numbers, self.delay = folders, numbers, delay
        # The known files of each folder: others were written by a device.
        self.known = [{} for _ in folders]
        self.versions, self.plans, self.count = {}, [], itertools.count()
        self.lock, self.ends, self.error = threading.Lock(), threading.Event(), None
        self.copied = self.parts = self.doubles = self.removed = 0

    def run(self):
        while not self.ends.wait(self.PACE):
            try:
                with self.lock:
                    self.scan()
                    while self.plans and self.plans[0][0] <= time.monotonic():
                        self.do(heapq.heappop(self.plans))
            except Exception as error:  # The main thread reports it.
                self.error = error
                return

    def stop(self):
        self.ends.set()
        self.join()

    def settle(self):
        """Copies all that is left at once, in any order; returns whether there was anything."""
        require(self.error is None, f"the copier failed: {self.error!r}")
        with self.lock:
            done = 0
            while self.scan() or self.plans:
                plans, self.plans = self.plans, []
                self.numbers.shuffle(plans)
                for plan in plans:
                    self.do(plan, at_once=True)
                    done += 1
            return done > 0

    def plan(self, device, path, kind, source=None, version=None, details=None):
        if version is None:
            version = self.versions[device, path] = self.versions.get((device, path), 0) + 1
        # Most files come soon, some much later.
        delay = self.numbers.expovariate(1 / self.delay) * (8 if self.numbers.random() < 0.05 else 1)
        heapq.heappush(self.plans, (time.monotonic() + delay, next(self.count), device, path, kind, source, version, details))

    def scan(self):
        """Plans copies of what devices have written and removed; returns whether there was anything."""
        count = 0
        for device, folder in enumerate(self.folders):
            found, directories = self.files(folder)
            known = self.known[device]
            for path in directories - {path for path, mark in known.items() if mark is None}:
                known[path] = None
                count += self.announce(device, path, "folder")
            for path, mark in found.items():
                if known.get(path) != mark:
                    known[path] = mark
                    count += self.announce(device, path, "copy")
            for path in [path for path, mark in known.items() if mark is not None and path not in found]:
                del known[path]
                count += self.announce(device, path, "remove")
        return count > 0

    def announce(self, source, path, kind):
        others = [device for device in range(len(self.folders)) if device != source]
        for device in others:
            self.plan(device, path, kind, source)
        return 1

    @staticmethod
    def files(folder):
        found, directories = {}, set()
        for place, names, files in os.walk(folder):
            relative = pathlib.PurePath(os.path.relpath(place, folder))
            directories |= {str(relative / name) for name in names}
            for name in files:
                try:
                    found[str(relative / name)] = Copier.mark(os.path.join(place, name))
                except FileNotFoundError:
                    pass
        return found, directories

    @staticmethod
    def mark(path):
        status = os.stat(path)
        return status.st_ino, status.st_size, status.st_mtime_ns

    def do(self, plan, at_once=False):
        _, _, device, path, kind, source, version, details = plan
        if kind == "forget":
            return self.remove(device, path)
        if self.versions[device, path] != version:
            return None
        if kind == "folder":
            (self.folders[device] / path).mkdir(parents=True, exist_ok=True)
            return self.know_folders(device, path)
        if kind == "remove":
            self.removed += 1
            return self.remove(device, path)
        try:
            content = (self.folders[source] / path).read_bytes()
        except FileNotFoundError:
            # The file is gone by now, which the next scan finds.
            return None
        target = self.folders[device] / path
        target.parent.mkdir(parents=True, exist_ok=True)
        self.know_folders(device, str(pathlib.PurePath(path).parent))
        if kind == "complete" or at_once:
            return self.complete(device, path, content, in_place=details == "in place" and self.numbers.random() < 0.5)
        return self.begin(device, path, content, source, version)

    def begin(self, device, path, content, source, version):
        """Begins a copy in one of several ways."""
        way = self.numbers.choices(["whole", "temporary", "part", "zeros", "double"], [50, 15, 15, 8, 12])[0]
        name = pathlib.PurePath(path)
        part = content[: self.numbers.randrange(len(content))] if content else b""
        if way == "whole":
            return self.complete(device, path, content)
        self.parts += way in ("part", "zeros")
        if way == "temporary":
            self.write(device, str(name.with_name(f".syncthing.{name.name}.tmp")), part)
        elif way == "part":
            self.write(device, path, part)
        elif way == "zeros":
            self.write(device, path, bytes(len(content)))
        else:
            self.doubles += 1
            double = name.with_name(f"{name.stem}.sync-conflict-20261123-120000-ABCDEFG{name.suffix}")
            self.write(device, str(double), self.numbers.choice([content, part]))
        self.plan(device, path, "complete", source, version, details="in place" if way in ("part", "zeros") else None)
        return None

    def complete(self, device, path, content, in_place=False):
        name = pathlib.PurePath(path)
        temporary = str(name.with_name(f".syncthing.{name.name}.tmp"))
        if in_place:
            self.write(device, path, content)
        else:
            self.write(device, temporary, content)
            os.rename(self.folders[device] / temporary, self.folders[device] / path)
            self.known[device].pop(temporary, None)
            self.known[device][path] = self.mark(self.folders[device] / path)
        self.copied += 1

    def write(self, device, path, content):
        target = self.folders[device] / path
        # The file is not shortened first, as by a program that writes over a part.
        with open(os.open(target, os.O_WRONLY | os.O_CREAT, 0o666), "wb") as file:
            file.write(content)
            file.truncate()
        self.known[device][path] = self.mark(target)

    def remove(self, device, path):
        (self.folders[device] / path).unlink(missing_ok=True)
        self.known[device].pop(path, None)

    def know_folders(self, device, path):
        for folder in [pathlib.PurePath(path), *pathlib.PurePath(path).parents]:
            if str(folder) != ".":
                self.known[device].setdefault(str(folder), None)


# MARK: - The end


def quiesce(devices, settle, rounds=12):
    """Synchronises until nothing is sent or received."""
    for number in range(rounds):
        moved = settle()
        reports = [device.synchronise() for device in devices]
        if not moved and not any(report["sent"] or report["received"] for report in reports):
            return number
    raise Failure(f"after {rounds} rounds devices still send and receive: {reports}")


def compare(devices, what, values):
    """Requires that a value is the same on all devices; says where the first difference is."""
    for device, value in zip(devices[1:], values[1:]):
        if value != values[0]:
            difference = first_difference(values[0], value)
            raise Failure(f"{what} of device {devices[0].number} and {device.number} differ: {difference}")


def first_difference(left, right, path="$"):
    if isinstance(left, dict) and isinstance(right, dict):
        for key in sorted(left.keys() | right.keys(), key=str):
            if left.get(key, "missing") != right.get(key, "missing"):
                return first_difference(left.get(key, "missing"), right.get(key, "missing"), f"{path}.{key}")
    if isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        for index, (one, other) in enumerate(zip(left, right)):
            if one != other:
                return first_difference(one, other, f"{path}[{index}]")
    if isinstance(left, list) and isinstance(right, list):
        one, other = [value for value in left if value not in right], [value for value in right if value not in left]
        return f"{path}: only one has {json.dumps(one)[:600]}, only the other {json.dumps(other)[:600]}"
    return f"{path}: {json.dumps(left)[:300]} and {json.dumps(right)[:300]}"


def document(device):
    """The export of a device, without the dates that may differ: that of the export, and those of the last changes."""
    exported = json.loads(device("export", "-o", "-")[1])
    del exported["exportDate"]
    for kind in ["tasks", "lists"]:
        exported[kind] = {one["id"]: {key: value for key, value in one.items() if key != "updatedAt"} for one in exported[kind]}
    return exported


def statistics(device, zone, now):
    whole = device.json("stats", "--time-zone", zone, "--by", "month", now=now)
    return {"whole": whole} if zone != "UTC" else {
        "whole": whole, "recorded": device.json("stats", "--as-recorded", "--by", "year", now=now)}


def check_end(devices, memory):
    """Requires that all devices have the same, and that all of them are sound."""
    for device in devices:
        found = device.json("verify", statuses=(0, 65))
        require(found["sound"] and not found["faultCount"], f"the store of device {device.number} is not sound: {found}")
    statuses = [device.json("sync", "status") for device in devices]
    for device, status in zip(devices, statuses):
        for key in ["pending", "blocked", "tooLarge", "needsUpgrade"]:
            require(not status[key], f"device {device.number}: {key} is {status[key]}")
        behind = [member for member in status["replicas"] if member["behind"]]
        require(not behind, f"device {device.number} is behind {behind}")
    # The most useful comparison first.
    documents = [document(device) for device in devices]
    compare(devices, "the exports", documents)
    compare(devices, "the hashes", [status["stateHash"] for status in statuses])
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for now in ["2026-12-31T23:30:00Z", "2099-02-01T00:00:00Z"]:
            for zone in ZONES if now < "2027" else ZONES[:2]:
                answers = list(pool.map(lambda device: statistics(device, zone, now), devices))
                compare(devices, f"the statistics in {zone}", answers)
    for device in devices:
        device.json("conflicts")
        device.json("trash")
    memory.check(documents[0]["tasks"])
    return documents[0]


def check_files(devices):
    """Requires that no replica has too many files, and that all devices have the same ones."""
    most = 0
    for device in devices:
        for replica in device.folder.glob("tally-*/replicas/*"):
            count = sum(1 for name in os.listdir(replica) if re.fullmatch(r"card-\d+\.card|\d+-\d+-[0-9a-f]+\.seg", name))
            most = max(most, count)
    require(most < MOST_FILES, f"a replica has {most} files in the folder of a device, {MOST_FILES} or more")
    return most


# MARK: - Runs


def set_up(devices, settle, numbers):
    """Creates a space on the first device, and joins it on the others."""
    first = devices[0]
    # Those that join have tasks, too.
    for device in devices[: numbers.randint(1, len(devices))]:
        device("add", "-", text="\n".join(device.title() for _ in range(3)))
    setup = first.json("sync", "setup", str(first.folder))
    first.json("sync", "now")
    settle()
    for device in devices[1:]:
        # An invitation is valid for a day of the clock of the device that joins; a code always.
        text = setup["invitation"] if abs(SKEWS[device.number].days) < 1 else setup["recoveryCode"]
        device.json("sync", "join", text, "--at", str(device.folder), "--name", f"device {device.number}")


def run_copied(count, changes, options, numbers, directory):
    """Some devices with a copier between their folders; returns a summary."""
    memory = Memory()
    devices = [Device(number, directory, numbers, memory) for number in range(count)]
    copier = Copier([device.folder for device in devices], random.Random(numbers.random()), options.delay)
    set_up(devices, copier.settle, numbers)
    copier.start()
    try:
        made, most = 0, options.batch or min(200, max(5, changes // 15))
        while made < changes:
            require(copier.error is None, f"the copier failed: {copier.error!r}")
            made += step(numbers.choice(devices), most, numbers, options)
    finally:
        copier.stop()
    rounds = quiesce(devices, copier.settle)
    end = check_end(devices, memory)
    most = check_files(devices)
    return (
        f"{count} devices: {made} changes, {sum(device.kills for device in devices)} kills, {copier.copied} copies "
        f"({copier.parts} partial, {copier.doubles} conflict copies), {copier.removed} removals, {rounds} rounds to the end, "
        f"{len(end['tasks'])} tasks, {len(end['lists'])} lists, at most {most} files a replica")


def step(device, most, numbers, options):
    """One change or one synchronisation; some are killed, and some run beside changes."""
    kind = numbers.random()
    if kind < options.kills / 2:
        device.synchronise_killed()
    elif kind < 0.28:
        device.synchronise()
    elif kind < 0.32:
        device.synchronise_beside()
    else:
        if device.running and numbers.random() < 0.5:
            device.wait()
        return device.change(most, killed=not device.running and numbers.random() < options.kills)
    return 0


# MARK: - Syncthing


class Syncthing:
    """Syncthing for one device, on this machine alone."""

    def __init__(self, home, folder):
        self.home, self.folder, self.process = home, folder, None
        subprocess.run(
            ["syncthing", "generate", "--home", home, "--no-default-folder", "--skip-port-probing"], check=True,
            capture_output=True)
        self.port, self.page_port = free_port(), free_port()
        self.id = subprocess.run(
            ["syncthing", "serve", "--home", home, "--device-id"], check=True, capture_output=True, encoding="utf-8").stdout.strip()

    def configure(self, all_devices):
        """Nothing goes to other machines: no discovery, relays, port mapping, reports or upgrades."""
        path = self.home / "config.xml"
        tree = ElementTree.parse(path)
        root, options = tree.getroot(), tree.getroot().find("options")
        self.key = root.find("gui/apikey").text
        root.find("gui/address").text = f"127.0.0.1:{self.page_port}"
        values = {
            "listenAddress": f"tcp://127.0.0.1:{self.port}", "globalAnnounceEnabled": "false", "localAnnounceEnabled": "false",
            "relaysEnabled": "false", "natEnabled": "false", "urAccepted": "-1", "autoUpgradeIntervalH": "0",
            "crashReportingEnabled": "false", "startBrowser": "false", "reconnectionIntervalS": "1", "stunKeepaliveStartS": "0",
        }
        for name, value in values.items():
            for old in options.findall(name):
                options.remove(old)
            ElementTree.SubElement(options, name).text = value
        for old in root.findall("device"):
            root.remove(old)
        folder = ElementTree.SubElement(root, "folder", {
            "id": "tally", "label": "tally", "path": str(self.folder), "type": "sendreceive", "rescanIntervalS": "5",
            "fsWatcherEnabled": "true", "fsWatcherDelayS": "1"})
        ElementTree.SubElement(folder, "minDiskFree", {"unit": "%"}).text = "0"
        for other in all_devices:
            ElementTree.SubElement(folder, "device", {"id": other.id})
            device = ElementTree.SubElement(root, "device", {"id": other.id, "name": str(other.port), "compression": "never"})
            ElementTree.SubElement(device, "address").text = f"tcp://127.0.0.1:{other.port}"
        tree.write(path)

    def start(self):
        log = (self.home / "log.txt").open("w")
        self.process = subprocess.Popen(
            ["syncthing", "serve", "--home", self.home, "--no-browser", "--no-restart", "--no-upgrade"], stdin=subprocess.DEVNULL,
            stdout=log, stderr=log, start_new_session=True, env={**os.environ, "STNOUPGRADE": "1", "HOME": str(self.home)})

    def ask(self, path):
        request = urllib.request.Request(f"http://127.0.0.1:{self.page_port}/rest/{path}", headers={"X-API-Key": self.key})
        # Without a proxy, which the environment may name.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=5) as answer:
            return json.load(answer)

    def answers(self):
        try:
            return self.ask("system/ping") == {"ping": "pong"}
        except OSError:
            return False

    def is_connected(self, count):
        return sum(1 for one in self.ask("system/connections")["connections"].values() if one["connected"]) >= count

    def end(self):
        """Ends the process that was started, and what it has started."""
        if not self.process:
            return
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_until(condition, seconds, what):
    end = time.monotonic() + seconds
    while not condition():
        require(time.monotonic() < end, f"{what} after {seconds} s")
        time.sleep(0.2)


def has_syncthing():
    """Whether Syncthing is there, or can be installed."""
    if not shutil.which("syncthing"):
        for command in (["apt-get", "update"], ["apt-get", "install", "--yes", "syncthing"]):
            try:
                subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
            except OSError:
                pass
    return shutil.which("syncthing") is not None


def run_syncthing(count, changes, options, numbers, directory):
    """Some devices whose folders Syncthing keeps the same; each is used at the same time. Returns a summary."""
    memory = Memory()
    devices = [Device(number, directory, random.Random(numbers.random()), memory) for number in range(count)]
    services = [Syncthing(directory / f"syncthing{device.number}", device.folder) for device in devices]
    for service in services:
        service.configure(services)
    try:
        for service in services:
            service.start()
        for service in services:
            wait_until(service.answers, 60, "Syncthing does not answer")
        for service in services:
            wait_until(lambda service=service: service.is_connected(count - 1), 60, "Syncthing does not connect")
        set_up(devices, lambda: wait_for_space(devices), numbers)
        began = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(count) as pool:
            made = sum(pool.map(lambda device: use(device, changes, options), devices))
        used = time.monotonic() - began
        seconds = wait_for_equality(devices)
        check_end(devices, memory)
        most = check_files(devices)
    finally:
        for service in services:
            service.end()
    return (
        f"Syncthing, {count} devices: {made} changes in {used:.0f} s, {sum(device.kills for device in devices)} kills, "
        f"equal {seconds:.0f} s later, at most {most} files a replica")


def wait_for_space(devices):
    def has_space(device):
        return any(device.folder.glob("tally-*/replicas/*/*.card"))

    for device in devices:
        wait_until(lambda device=device: has_space(device), 120, f"device {device.number} has not got the folder")


def use(device, changes, options):
    """Changes and synchronises one device."""
    made = 0
    while made < changes:
        made += step(device, options.batch or min(200, max(5, changes // 15)), device.numbers, options)
    device.wait()
    return made


def wait_for_equality(devices, limit=300):
    """Synchronises all devices until nothing moves; returns how long it took."""
    began = time.monotonic()
    while True:
        reports = [device.synchronise() for device in devices]
        statuses = [device.json("sync", "status") for device in devices]
        is_equal = len({status["stateHash"] for status in statuses}) == 1
        if is_equal and not any(status["pending"] or status["blocked"] for status in statuses):
            if not any(report["sent"] or report["received"] for report in reports):
                return time.monotonic() - began
        require(time.monotonic() - began < limit, f"the devices are not equal after {limit} s: {statuses}")
        time.sleep(1)


# MARK: - Main


def measure_start():
    """How long the program takes to begin, so that kills hit its work."""
    times = []
    for _ in range(3):
        began = time.monotonic()
        subprocess.run([PROGRAM, "--version"], check=True, capture_output=True)
        times.append(time.monotonic() - began)
    return min(times)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--short", action="store_true", help="1,000 changes, the default")
    length.add_argument("--long", action="store_true", help="10,000 changes")
    length.add_argument("--changes", type=int, help="as many changes")
    parser.add_argument("--devices", help="how many, separated by commas; by default 2,5, and 2,3 with --syncthing")
    parser.add_argument("--seed", type=int, default=20261123, help="of the random numbers; 0 for a new one")
    parser.add_argument("--kills", type=float, default=0.08, help="how many commands are killed, from 0 to 1")
    parser.add_argument("--batch", type=int, help="how many tasks a step changes at most; few make many small files")
    parser.add_argument("--without", default="", help="changes to leave out, to narrow a failure down, such as undo,repeat")
    parser.add_argument("--delay", type=float, default=0.3, help="seconds that a file takes on average")
    parser.add_argument("--syncthing", action="store_true", help="let Syncthing copy the files")
    parser.add_argument("--if-available", action="store_true", help="succeed where Syncthing cannot be installed")
    parser.add_argument("--keep", action="store_true", help="keep the directory of the run")
    options = parser.parse_args()
    for name in filter(None, options.without.split(",")):
        if name == "repeat":
            RULES[:] = ["none"]
            continue
        found = [change for change in CHANGES if change.__name__ == name]
        if not found:
            parser.error(f"--without {name}: there are repeat, {', '.join(change.__name__ for change in CHANGES)}")
        for changes in (ADDITIONS, CHANGES):
            changes.pop(found[0], None)
    options.seed = options.seed or random.SystemRandom().randrange(1, 1 << 32)
    options.changes = options.changes or (10_000 if options.long else 1_000)
    options.devices = [int(number) for number in (options.devices or ("2,3" if options.syncthing else "2,5")).split(",")]
    if not all(2 <= number <= len(SKEWS) for number in options.devices):
        parser.error(f"there can be 2 to {len(SKEWS)} devices")
    return options


def main():
    global START_SECONDS
    options = parse()
    if options.syncthing and not has_syncthing():
        print("Syncthing is not there and cannot be installed; on Debian: apt-get install syncthing")
        sys.exit(0 if options.if_available else 1)
    START_SECONDS = measure_start()
    print(f"Seed {options.seed}", flush=True)
    summaries = []
    for count in options.devices:
        directory = pathlib.Path(tempfile.mkdtemp(prefix="check-sync-"))
        numbers = random.Random(options.seed * 16 + count)
        try:
            if options.syncthing:
                # One device alone makes as many changes as the others together, so that both directions have the same
                # number.
                summary = run_syncthing(count, options.changes // 2, options, numbers, directory)
            else:
                summary = run_copied(count, options.changes // len(options.devices), options, numbers, directory)
        except Failure as failure:
            sys.exit(f"Seed {options.seed}, {count} devices: {failure}\nThe directory is {directory}")
        summaries.append(summary)
        if options.keep:
            print(f"{count} devices: {directory}")
        else:
            shutil.rmtree(directory)
    print("All devices are the same. " + "; ".join(summaries))


START_SECONDS = 0.0
main()
