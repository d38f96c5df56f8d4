"""Times whole processes with hyperfine: tally beside Taskwarrior, on the same tasks."""

import json
import os
import pathlib
import shlex
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# The current time for both. Taskwarrior has no such option, so its rows name the days themselves.
NOW = "2026-11-21T12:00:00Z"


def run(bench, say, fail):
    """Fills both with each data set and times each row's commands in turn; returns results as in the other suites."""
    programs = install(bench, fail)
    # The system would write the new programs while flushes are measured.
    os.sync()
    results = []
    for size in bench.sizes:
        place = Place(bench, size, programs)
        place.fill(say)
        for row in bench.suite["rows"]:
            if size > row.get("largest", size):
                continue
            timed = place.time(row, fail)
            results.append({"name": f"{row['name']}-{size}", "metrics": timed})
            say(f"{row['name']} at {size:,}: tally {timed['tally']['p50'] / 1e6:.1f} ms, "
                f"task {timed['peer']['p50'] / 1e6:.1f} ms")
        shutil.rmtree(place.folder, ignore_errors=True)
    return results


def install(bench, fail):
    """The directory of the program that is timed: the one that `make install` installs, which is linked as no other is.

    It takes minutes to build, so that checking the answers makes do with the one that `make build` has built.
    """
    if bench.is_smoke:
        return ROOT / ".build/debug"
    prefix = bench.folder / "installed"
    done = subprocess.run(
        [ROOT / "Scripts/install.sh", "install", prefix], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        fail(f"installing tally failed\n{done.stdout}")
    return prefix / "bin"


class Place:
    """A scratch folder with one data set for both programs."""

    def __init__(self, bench, size, programs):
        self.bench, self.size = bench, size
        self.folder = bench.folder / f"scratch/cli-{size}"
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "task").mkdir(parents=True)
        # Neither the user's store nor settings. news.version silences the notice of 2.6.
        (self.folder / "taskrc").write_text("confirmation=off\ngc=on\nhooks=off\ncolor=off\nnews.version=9.9.9\n")
        self.environment = bench.environment | {
            "PATH": f"{programs}:{os.environ['PATH']}", "TALLY_STORE": str(self.folder / "tally"),
            "TASKRC": str(self.folder / "taskrc"), "TASKDATA": str(self.folder / "task"), "TZ": "UTC",
            "LC_ALL": "C.UTF-8",
        }

    def output(self, *command):
        return subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True, errors="replace",
            check=True).stdout

    def fill(self, say):
        """Tally gets a copy of the data set; Taskwarrior imports the export of Tally, converted to its own format."""
        shutil.copytree(self.bench.folder / f"data/tally-{self.size}", self.folder / "tally")
        self.output("tally", "export", "-o", "TALLY.json", "--quiet")
        document = json.loads((self.folder / "TALLY.json").read_text())
        lists = {each["id"]: each["name"] for each in document["lists"]}
        tasks = [in_taskwarrior_format(task, lists) for task in document["tasks"]]
        (self.folder / "TASK.json").write_text(json.dumps(tasks))
        self.output("task", "rc.verbose=nothing", "import", "TASK.json")
        self.compare_answers(document["tasks"])
        say(f"filled both with {self.size:,} tasks")

    def compare_answers(self, tasks):
        """Both must have all tasks, and agree on the number of completed ones."""
        done = sum(task["state"] == "completed" for task in tasks)
        counts = [int(self.output("task", "rc.verbose=nothing", *query, "count")) for query in [[], ["+COMPLETED"]]]
        tally = json.loads(self.output("tally", "--now", NOW, "--json", "stats"))["completed"]["allTime"]
        if counts != [self.size, done] or tally != done or len(tasks) != self.size:
            raise SystemExit(f"bench: {self.size} tasks, {done} done; Taskwarrior has {counts}, tally {tally} done")

    def time(self, row, fail):
        """One run of hyperfine with both commands; the times of each, in nanoseconds."""
        smoke = self.bench.is_smoke
        commands = [self.command(row["tally"].replace("tally", f"tally --now {NOW}", 1)), self.command(row["peer"])]
        options = ["--shell=none", "--export-json", "times.json", "--style", "none"]
        options += ["--runs", "1"] if smoke else ["--warmup", "2", "--min-runs", "5", "--max-runs", "50"]
        if "EMPTY" in row["tally"]:
            options = [option for option in options if option != "--shell=none"] + ["--prepare", "rm -rf EMPTY; mkdir EMPTY"]
        done = subprocess.run(
            ["hyperfine", *options, *commands], cwd=self.folder, env=self.environment, capture_output=True, text=True,
            errors="replace")
        if done.returncode:
            fail(f"{row['name']} failed\n{done.stdout}{done.stderr}")
        results = json.loads((self.folder / "times.json").read_text())["results"]
        return {name: self.bench.percentiles([round(time * 1e9) for time in result["times"]])
                for name, result in zip(["tally", "peer"], results)}

    def command(self, words):
        return shlex.join(words.split())


def in_taskwarrior_format(task, lists):
    """A task in the format of Taskwarrior's import."""
    moment = lambda text: text[:19].replace("-", "").replace(":", "") + "Z"
    words = {
        "uuid": task["id"], "description": task["text"], "entry": moment(task["createdAt"]),
        "modified": moment(task["updatedAt"]),
        "status": "completed" if task["state"] == "completed" else "pending",
    }
    if task["state"] == "completed":
        # Both store the instant; the recorded offset is only part of the text.
        words["end"] = moment(task["updatedAt"])
    if task["state"] == "active":
        words["start"] = moment(task["updatedAt"])
    if task["scheduledDate"]:
        words["scheduled"] = task["scheduledDate"].replace("-", "") + "T000000Z"
    if task["dueDate"]:
        words["due"] = moment(task["dueDate"])
    if task["listID"]:
        words["project"] = lists[task["listID"]].replace(" ", "")
    return words
