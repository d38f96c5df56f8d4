"""The service as a process, and followers of its changes; for the scripts beside this one."""

import http.client
import json
import pathlib
import signal
import subprocess
import sys
import threading
import time

FOLDER = pathlib.Path(__file__).resolve().parent.parent
SCRATCH = FOLDER.parent.parent / ".build" / "service"
LIMIT_IN_SECONDS = 60


def build():
    """Builds the service, optimised, and returns its path."""
    print("building the service; the first build takes minutes", file=sys.stderr)
    subprocess.run(
        ["swift", "build", "--quiet", "-c", "release", "--package-path", FOLDER, "--scratch-path", SCRATCH], check=True)
    return str(SCRATCH / "release" / "Service")


class Service:
    """A running service, which can be killed and started again on the same port and store."""

    def __init__(self, program, store):
        self.program, self.store, self.port = program, store, 0
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [self.program, self.store, "--port", str(self.port)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True)
        line = self.process.stdout.readline()
        assert line.startswith("Listening on 127.0.0.1:"), f"the service did not start: {line!r}"
        self.port = int(line.rsplit(":", 1)[1])

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        """Ends the service as a system does; returns its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(LIMIT_IN_SECONDS)

    def verify(self):
        return subprocess.run([self.program, self.store, "--verify"], capture_output=True, text=True)

    def ask(self, method, path, body=None):
        """The status, the headers and the JSON of an answer; a body is sent as JSON, unless it is bytes."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT_IN_SECONDS)
        try:
            if body is not None and not isinstance(body, bytes):
                body = json.dumps(body).encode()
            connection.request(method, path, body)
            response = connection.getresponse()
            return response.status, response.headers, json.loads(response.read())
        finally:
            connection.close()

    def tasks(self, view="all", limit=1000):
        """The tasks of a view, collected page by page."""
        found, after = [], ""
        while True:
            status, _, page = self.ask("GET", f"/views/{view}?limit={limit}{after}")
            assert status == 200, page
            found += [task for section in page["sections"] for task in section["tasks"]]
            if not page.get("next"):
                return found
            after = f"&after={page['next']}"


class Follower:
    """Follows the changes; connects again, with the last position, whenever the connection ends."""

    def __init__(self, service):
        self.service = service
        self.position = None
        self.tasks = set()
        self.faults = []
        self.connections = 0
        self.isDone = threading.Event()
        threading.Thread(target=self.follow, daemon=True).start()

    def follow(self):
        while not self.isDone.is_set():
            try:
                self.listen()
            except (OSError, http.client.HTTPException):
                time.sleep(0.05)

    def listen(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.service.port, timeout=LIMIT_IN_SECONDS)
        try:
            connection.request("GET", "/changes", headers={"Last-Event-ID": self.position} if self.position else {})
            response = connection.getresponse()
            self.connections += 1
            event = {}
            while line := response.readline():
                name, _, value = line.decode().rstrip("\n").partition(": ")
                if name in ("id", "data"):
                    event[name] = value
                elif line == b"\n" and event:
                    self.note(event)
                    event = {}
        finally:
            connection.close()

    def note(self, event):
        """Takes an event that has arrived as a whole."""
        if "data" in event:
            changes = json.loads(event["data"])
            tasks = changes["tasks"]
            inserted = set(tasks["inserted"])
            if not changes["isComplete"]:
                self.faults.append("changes are missing")
            if twice := inserted & self.tasks:
                self.faults.append(f"{len(twice)} tasks came twice")
            self.tasks |= inserted
            self.tasks.difference_update(tasks["deleted"])
        self.position = event["id"]

    def wait_for(self, position):
        """Whether the follower gets as far as a position."""
        deadline = time.monotonic() + LIMIT_IN_SECONDS
        while self.position != position and time.monotonic() < deadline:
            time.sleep(0.01)
        return self.position == position


def position_of(service):
    """Where the store is: a new follower is given it first."""
    follower = Follower(service)
    deadline = time.monotonic() + LIMIT_IN_SECONDS
    while follower.position is None and time.monotonic() < deadline:
        time.sleep(0.01)
    follower.isDone.set()
    return follower.position
