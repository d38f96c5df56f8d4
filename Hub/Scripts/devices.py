"""Hubs and devices for checks, with the programs that people use."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TALLY = ROOT / ".build/debug/tally"
PROGRAMS = ROOT / ".build/debug"
UNREACHABLE = 75
# Generous on a busy machine; the demo prints the time that it took.
LIMIT = 60


class Failure(Exception):
    """A promise was not kept."""


def require(condition, message):
    if not condition:
        raise Failure(message)


class Hub:
    """The program tally-hub; `place` has the arguments that name its store."""

    def __init__(self, *place, wrap=(), host="127.0.0.1", port=0, scheme="http", program=PROGRAMS / "tally-hub"):
        self.place, self.wrap, self.host, self.port = place, list(wrap), host, port
        self.program, self.scheme = program, scheme
        # TALLY_HUB_LOG names a file for the logs of all hubs.
        self.log = open(os.environ.get("TALLY_HUB_LOG", os.devnull), "a")
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [*self.wrap, self.program, "serve", *self.place, "--host", self.host, "--port", str(self.port)],
            stdout=subprocess.PIPE, stderr=self.log, text=True, start_new_session=True)
        for line in self.process.stdout:
            if line.startswith("listening on port "):
                self.port = int(line.split()[-1])
                return
        raise Failure(f"the hub did not start: status {self.process.wait()}")

    def stop(self):
        self.process.terminate()
        require(self.process.wait(timeout=LIMIT) == 0, "the hub does not end with status 0")

    def kill(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(timeout=LIMIT)

    def died(self):
        """Whether the process has ended by itself."""
        return self.process.poll() is not None

    @property
    def address(self):
        return f"{self.scheme}://{self.host}:{self.port}"


class Device:
    """A store, and the commands for it."""

    def __init__(self, store, shows=False, wrap=(), **variables):
        self.store, self.shows, self.wrap = store, shows, list(wrap)
        self.environment = dict(os.environ, PATH=f"{PROGRAMS}:{os.environ['PATH']}", **variables)

    def run(self, *arguments, status=0):
        words = [*self.wrap, TALLY, *arguments, "--store", self.store, "--json"]
        done = subprocess.run(words, capture_output=True, text=True, env=self.environment, timeout=LIMIT * 2)
        if self.shows:
            print(f"{self.store.name}$ tally {' '.join(arguments)}")
        require(
            done.returncode == status,
            f"tally {' '.join(arguments)} ended with {done.returncode}, not {status}: {done.stdout}{done.stderr}")
        return json.loads(done.stdout or done.stderr)

    def attempt(self, *arguments):
        """Runs a command that may fail; returns its status."""
        words = [*self.wrap, TALLY, *arguments, "--store", self.store, "--json"]
        return subprocess.run(words, capture_output=True, env=self.environment, timeout=LIMIT * 2).returncode

    def titles(self):
        titles = [task["title"] for section in self.run("inbox")["sections"] for task in section["tasks"]]
        require(len(titles) == len(set(titles)), f"a task is there twice: {titles}")
        return set(titles)

    @contextlib.contextmanager
    def agent(self):
        process = subprocess.Popen(
            [*self.wrap, TALLY, "sync", "run", "--store", self.store], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=self.environment)
        try:
            yield
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(timeout=LIMIT)

    def wait(self, title):
        """Waits for a task, and returns after how many seconds it was there."""
        shows, self.shows, start = self.shows, False, time.monotonic()
        try:
            while title not in self.titles():
                require(time.monotonic() - start < LIMIT, f"'{title}' does not arrive")
                time.sleep(0.05)
        finally:
            self.shows = shows
        return time.monotonic() - start


def require_equal(devices, expected, what):
    """Exchanges until all devices have all, and compares them; nothing may be lost or doubled."""
    for _ in range(2):
        for device in devices:
            device.run("sync", "now")
    for device in devices:
        require(device.titles() == expected, f"{what}: lost or doubled: {device.titles() ^ expected}")
        device.run("verify")
    hashes = {device.run("sync", "status")["stateHash"] for device in devices}
    require(len(hashes) == 1, f"{what}: the states differ")
