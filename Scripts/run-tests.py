#!/usr/bin/env python3
"""Runs the built tests, each suite in a process of its own, with a line per suite; a crash takes one suite along.

usage: run-tests.py [--build DIRECTORY] [--workers COUNT] [--record] [PATTERN ...]

Without a pattern all suites run but those of the hub and of the screens, which need more; with some, those whose
`Module.Suite` has one of these regular expressions in it. DIRECTORY is what the build has written, .build/debug unless
given. There is a worker more than there are processors, as some tests wait, or TALLY_WORKERS. A suite that took long the
last time begins early; --record writes these times to Scripts/test-seconds.txt, by which a new clone begins.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECORDED = ROOT / "Scripts/test-seconds.txt"
ELSEWHERE = re.compile("^(HubTests|WebTests)[.]")
NEEDED_MEMORY_IN_BYTES = 4 << 30
# The time without a line after which one says what is running.
SILENCE_IN_SECONDS = 8


def environment():
    """A person's own settings do not change the tests; their stores are in memory, if it has room, as the disk is slow."""
    memory = pathlib.Path("/dev/shm")
    has_room = os.access(memory, os.W_OK) and shutil.disk_usage(memory).free >= NEEDED_MEMORY_IN_BYTES
    places = {"TMPDIR": str(memory)} if has_room and "TMPDIR" not in os.environ else {}
    return os.environ | places | {"XDG_CONFIG_HOME": str(ROOT / ".build/no-settings")}


def listed(bundle, patterns):
    """The number of tests of each suite that is wanted."""
    done = subprocess.run(
        [bundle, "--testing-library", "swift-testing", "--list-tests"], stdout=subprocess.PIPE, text=True, cwd=ROOT,
        env=environment())
    if done.returncode:
        sys.exit(f"run-tests: {bundle} does not list its tests: status {done.returncode}")
    suites = {}
    for line in filter(None, done.stdout.split("\n")):
        suite = line.split("/")[0]
        if any(re.search(pattern, suite) for pattern in patterns) if patterns else not ELSEWHERE.search(suite):
            suites[suite] = suites.get(suite, 0) + 1
    if not suites:
        sys.exit(f"run-tests: no suite has {' or '.join(patterns)} in its name")
    return suites


def seconds_of_last_time(file):
    """How long each suite took, by this build or as recorded."""
    for place in [file, RECORDED]:
        if place.exists():
            return {line.split()[1]: float(line.split()[0]) for line in place.read_text().splitlines()}
    return {}


def counted(count, noun):
    return f"{count} {noun}{'' if count == 1 else 's'}"


class Run:
    """The suites that wait and those that run, shared by the workers."""

    def __init__(self, bundle, suites, known):
        self.bundle, self.suites, self.known = bundle, suites, known
        self.waiting = sorted(suites, key=lambda suite: known.get(suite, 0))
        self.lock, self.running, self.processes = threading.Lock(), {}, {}
        self.seconds, self.failed, self.last_line = {}, [], time.monotonic()

    def say(self, text):
        print(text, flush=True)
        self.last_line = time.monotonic()

    def work(self):
        while True:
            with self.lock:
                if not self.waiting:
                    return
                suite = self.waiting.pop()
                self.running[suite] = time.monotonic()
            with tempfile.TemporaryFile() as log:
                status = self.run(suite, log)
                log.seek(0)
                text = log.read().decode(errors="replace")
            with self.lock:
                self.end(suite, status, text)

    def run(self, suite, log):
        # From the beginning to the end of the name: others may have it within theirs.
        command = [self.bundle, "--testing-library", "swift-testing", "--no-parallel", "--filter", f"^{re.escape(suite)}/"]
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, cwd=ROOT, env=environment())
        self.processes[suite] = process
        return process.wait()

    def end(self, suite, status, text):
        """Says how a suite ended; the numbers of its tests must agree, or some have not run."""
        self.seconds[suite] = time.monotonic() - self.running.pop(suite)
        count = re.findall(r"Test run with (\d+) tests? in \d+ suites? passed", text)
        reason = None
        if status:
            reason = f"FAILED with status {status}" if status > 0 else f"CRASHED with signal {-status}"
        elif count[-1:] != [str(self.suites[suite])]:
            reason = f"FAILED: {count[-1] if count else 'none'} of its {self.suites[suite]} tests have run"
        if reason:
            self.failed.append(suite)
            self.say(text.rstrip("\n"))
        number = f"[{len(self.seconds):3}/{len(self.suites)}]"
        self.say(f"{number} {suite}: {counted(self.suites[suite], 'test')}, {self.seconds[suite]:.1f} s{f': {reason}' if reason else ''}")

    def watch(self):
        """Says what is running if nothing else is said."""
        with self.lock:
            if time.monotonic() - self.last_line > SILENCE_IN_SECONDS:
                now = time.monotonic()
                self.say("  still: " + ", ".join(f"{suite} {now - start:.0f} s" for suite, start in self.running.items()))

    def summarize(self, started):
        used = os.times()
        slowest = sorted(self.seconds, key=self.seconds.get, reverse=True)[:10]
        self.say("slowest: " + ", ".join(f"{suite} {self.seconds[suite]:.1f} s" for suite in slowest))
        count = sum(self.suites[suite] for suite in self.seconds)
        self.say(
            f"{counted(count, 'test')} in {counted(len(self.seconds), 'suite')}, {len(self.failed)} failed, {time.monotonic() - started:.0f} s, "
            f"{used.children_user + used.children_system:.0f} s of processor")
        for suite in self.suites.keys() - self.seconds.keys():
            self.failed.append(suite)
        for suite in self.failed:
            self.say(f"failed: {suite}; again: Scripts/run-tests.py '^{suite}$'")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / ".build/debug")
    parser.add_argument("--workers", type=int, default=int(os.environ.get("TALLY_WORKERS") or os.cpu_count() + 1))
    parser.add_argument("--record", action="store_true")
    parser.add_argument("patterns", nargs="*", metavar="PATTERN")
    arguments = parser.parse_args()
    bundle = arguments.build.resolve() / "tallyPackageTests.xctest"
    if bundle.is_dir():
        # Apple's systems have no program there, but a bundle that SwiftPM opens.
        words = ["swift", "test", "--skip-build", "--disable-xctest", "--scratch-path", arguments.build.resolve().parent.parent]
        words += [word for pattern in arguments.patterns for word in ["--filter", pattern]]
        sys.exit(subprocess.run(words, cwd=ROOT, env=environment()).returncode)
    started, file = time.monotonic(), bundle.parent / "test-seconds.txt"
    run = Run(bundle, listed(bundle, arguments.patterns), seconds_of_last_time(file))
    workers = [threading.Thread(target=run.work, daemon=True) for _ in range(max(1, arguments.workers))]
    for worker in workers:
        worker.start()
    try:
        while any(worker.is_alive() for worker in workers):
            run.watch()
            time.sleep(0.2)
    finally:
        # Control-C reaches the suites by itself; this is for everything else that ends the workers.
        for process in run.processes.values():
            if process.poll() is None:
                process.terminate()
    times = sorted((run.known | run.seconds).items(), key=lambda item: -item[1])
    file.write_text("".join(f"{seconds:.1f} {suite}\n" for suite, seconds in times))
    if arguments.record:
        RECORDED.write_text("".join(f"{seconds:.0f} {suite}\n" for suite, seconds in times if seconds >= 2))
    run.summarize(started)
    sys.exit(1 if run.failed else 0)


if __name__ == "__main__":
    main()
