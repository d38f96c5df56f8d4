#!/usr/bin/env python3
"""Adds tasks as fast as wrk can, kills the service in the middle, and looks for every acknowledged task.

Each one must be in the store and must have reached every follower of the changes, exactly once.
`--seconds 10` makes it short. Nothing leaves this machine.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

# The import below would leave a folder behind.
sys.dont_write_bytecode = True

from running import FOLDER, Follower, Service, build, position_of


def load(service, folder, options):
    """Runs wrk, kills the service half-way and starts it again; returns what wrk printed."""
    wrk = subprocess.Popen(
        ["wrk", "--threads", "2", "--connections", str(options.connections), "--duration", f"{options.seconds}s",
         "--timeout", "10s", "--latency", "--script", str(FOLDER / "Scripts/add-tasks.lua"),
         f"http://127.0.0.1:{service.port}", "--", str(folder)], stdout=subprocess.PIPE, text=True)
    try:
        time.sleep(options.seconds / 2)
        before = acknowledged(folder)
        service.kill()
        killed = time.monotonic()
        service.start()
        print(f"killed after {len(before):,} acknowledged tasks, back after {time.monotonic() - killed:.2f} s")
        output, _ = wrk.communicate(timeout=options.seconds + 60)
    except BaseException:
        wrk.kill()
        raise
    if len(acknowledged(folder)) <= len(before) or not before:
        sys.exit("load-test: nothing was acknowledged before or after the kill, so nothing was tested")
    return output


def acknowledged(folder):
    """The texts of the acknowledged tasks by id; a line that wrk has not finished does not count."""
    lines = [
        line for file in folder.glob("acknowledged-*")
        for line in file.read_text().splitlines(keepends=True) if line.endswith("\n")]
    return dict(line.rstrip("\n").split(" ", 1) for line in lines)


def compare(service, followers, promised):
    """The faults, each as a sentence."""
    stored = {task["id"]: task["text"] for task in service.tasks()}
    lost = [id for id, text in promised.items() if stored.get(id) != text]
    print(f"{len(promised):,} acknowledged, {len(stored):,} stored, {len(lost)} lost")
    faults = [f"{len(lost)} acknowledged tasks are lost"] if lost else []
    end = position_of(service)
    for number, follower in enumerate(followers, start=1):
        if not follower.wait_for(end):
            faults.append(f"follower {number} has not arrived at {end}")
        if follower.tasks != stored.keys():
            faults.append(f"follower {number} saw {len(follower.tasks):,} tasks, not those of the store")
        if follower.connections < 2:
            faults.append(f"follower {number} did not come back after the kill")
        faults += [f"follower {number}: {fault}" for fault in follower.faults]
    print(f"{len(followers)} followers, {sum(follower.tasks == stored.keys() for follower in followers)} saw all of it")
    return faults


def report(output):
    """The figures of wrk."""
    def figure(pattern):
        found = re.search(pattern + " *(.*)", output)
        return found.group(1).strip() if found else "none"
    print(f"{figure('Requests/sec:')} requests per second, p50 {figure(' 50%')}, p99 {figure(' 99%')}")
    print(f"socket errors: {figure('Socket errors:')}; other answers: {figure('Non-2xx or 3xx responses:')}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", nargs="?", help="built if it is missing")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--followers", type=int, default=10)
    options = parser.parse_args()
    if not shutil.which("wrk"):
        sys.exit("load-test: wrk is missing: apt-get install wrk")
    program = options.program or build()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        service = Service(program, str(folder / "store"))
        try:
            followers = [Follower(service) for _ in range(options.followers)]
            for follower in followers:
                while follower.position is None:
                    time.sleep(0.01)
            report(load(service, folder, options))
            faults = compare(service, followers, acknowledged(folder))
            for follower in followers:
                follower.isDone.set()
            if code := service.stop():
                faults.append(f"the service ended with {code}")
        finally:
            if service.process.poll() is None:
                service.kill()
        verification = service.verify()
        print(f"verification: {verification.stdout.strip() or verification.stderr.strip()}")
        if verification.returncode != 0:
            faults.append("the store is not sound")
    for fault in faults:
        print(f"load-test: {fault}", file=sys.stderr)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
