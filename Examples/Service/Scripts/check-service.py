#!/usr/bin/env python3
"""Asks the service for everything it offers, and checks each answer, the errors included.

Takes the path of the program, or builds it.
"""

import pathlib
import sys
import tempfile

# The import below would leave a folder behind.
sys.dont_write_bytecode = True

from running import Follower, Service, build, position_of


def expect(what, actual, wanted):
    if actual != wanted:
        raise AssertionError(f"{what}: {actual!r} instead of {wanted!r}")


def expect_problem(service, status, code, method, path, body=None):
    answer = service.ask(method, path, body)
    expect(f"{method} {path}", (answer[0], answer[2].get("code")), (status, code))
    expect(f"{method} {path}, the keys", sorted(answer[2]), ["code", "message", "remedy"])


def check_tasks(service):
    """Adding, changing, completing, undoing; returns the path of a task."""
    status, headers, task = service.ask(
        "POST", "/tasks", {"text": "Repair the fence", "notes": "Oak", "scheduledDate": "2026-11-21"})
    expect("adding", (status, task["text"], task["notes"]), (201, "Repair the fence", "Oak"))
    path, change = headers["Location"], headers["Tally-Change"]
    expect("the location", path, f"/tasks/{task['id']}")
    expect("reading", service.ask("GET", path)[2], task)

    status, headers, task = service.ask("PATCH", path, {"notes": None, "text": "Mend the fence"})
    expect("editing", (status, task["text"], task.get("notes"), task["scheduledDate"]),
           (200, "Mend the fence", None, "2026-11-21"))
    edit = headers["Tally-Change"]
    _, headers, _ = service.ask("PATCH", path, {"text": "Mend the fence"})
    expect("the change of an edit that changes nothing", headers["Tally-Change"], None)

    expect("completing", service.ask("POST", f"{path}/complete")[2]["state"], "completed")
    expect_problem(service, 409, "undoConflict", "POST", f"/undo/{edit}")
    expect("reopening", service.ask("PATCH", path, {"state": "notStarted"})[2]["state"], "notStarted")
    expect_problem(service, 409, "undoConflict", "POST", f"/undo/{change}")

    _, headers, _ = service.ask("DELETE", path)
    expect_problem(service, 404, "taskNotFound", "GET", path)
    status, _, undone = service.ask("POST", f"/undo/{headers['Tally-Change']}")
    expect("undoing", (status, [task["text"] for task in undone["tasks"]]), (200, ["Mend the fence"]))
    expect("the task after undoing", service.ask("GET", path)[0], 200)
    return path


def check_views(service):
    status, _, garden = service.ask("POST", "/lists", {"name": "Garden"})
    expect("adding a list", status, 201)
    expect("the lists", service.ask("GET", "/lists")[2], [garden])
    for number in range(7):
        service.ask("POST", "/tasks", {"text": f"Tree {number}", "listID": garden["id"]})
    texts = [task["text"] for task in service.tasks(f"list/{garden['id']}", limit=2)]
    expect("the list, two by two", texts, [f"Tree {number}" for number in range(7)])


def check_problems(service, task):
    expect_problem(service, 400, "malformedBody", "POST", "/tasks", b"{")
    expect_problem(service, 400, "malformedBody", "POST", "/tasks", b"\xff")
    expect_problem(service, 400, "malformedBody", "POST", "/tasks", {"text": 7})
    expect_problem(service, 400, "malformedBody", "POST", "/tasks")
    expect_problem(service, 400, "blankTitle", "POST", "/tasks", {})
    expect_problem(service, 400, "invalidDay", "PATCH", task, {"scheduledDate": "2026-02-30"})
    expect_problem(service, 400, "invalidInstant", "PATCH", task, {"dueDate": "soon"})
    expect_problem(service, 404, "listNotFound", "PATCH", task, {"listID": "00000000-0000-0000-0000-000000000000"})
    expect_problem(service, 404, "taskNotFound", "PATCH", "/tasks/00000000-0000-0000-0000-000000000000", {})
    expect_problem(service, 400, "http400", "GET", "/tasks/7")
    expect_problem(service, 400, "invalidToken", "GET", "/views/nonsense")
    expect_problem(service, 400, "invalidToken", "GET", "/views/all?after=nonsense")
    expect_problem(service, 400, "valueOutOfRange", "GET", "/views/all?limit=0")
    expect_problem(service, 400, "http400", "GET", "/views/all?limit=many")
    expect_problem(service, 400, "invalidToken", "GET", "/changes?since=nonsense")
    expect_problem(service, 400, "invalidToken", "POST", "/undo/nonsense")
    expect_problem(service, 409, "nothingToUndo", "POST", "/undo/1.7")
    expect_problem(service, 404, "http404", "GET", "/nothing")


def check_following(service, follower):
    """The stream ends with the service, and goes on with the next one where it ended."""
    stored = {task["id"] for task in service.tasks()}
    expect("following", (follower.wait_for(position_of(service)), follower.tasks, follower.faults), (True, stored, []))
    expect("the exit code after SIGTERM", service.stop(), 0)
    service.start()
    _, _, task = service.ask("POST", "/tasks", {"text": "After the restart"})
    arrived = follower.wait_for(position_of(service))
    expect("following on", (arrived, follower.tasks, follower.faults), (True, stored | {task["id"]}, []))


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else build()
    with tempfile.TemporaryDirectory() as folder:
        service = Service(program, str(pathlib.Path(folder) / "store"))
        try:
            follower = Follower(service)
            while follower.position is None:
                follower.isDone.wait(0.01)
            task = check_tasks(service)
            check_views(service)
            check_problems(service, task)
            check_following(service, follower)
            follower.isDone.set()
            expect("the exit code", service.stop(), 0)
        finally:
            if service.process.poll() is None:
                service.kill()
        expect("verifying", service.verify().returncode, 0)
    print("check-service: every request gets the answer that the README promises")


if __name__ == "__main__":
    main()
