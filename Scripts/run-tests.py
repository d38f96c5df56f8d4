#!/usr/bin/env python3
"""Runs the built tests, each suite in a process of its own, with a line per suite; a crash takes one suite along.

usage: run-tests.py [--build DIRECTORY] [--workers COUNT] [--record] [PATTERN ...]

Without a pattern all suites run but those of the hub and of the screens, which need more; with some, those whose
`Module.Suite` has one of these regular expressions in it. DIRECTORY is what the build has written, .build/debug unless
given. There is a worker more than there are processors, as some tests wait, or TALLY_WORKERS. Temporary files are in
memory if it has room, unless TMPDIR is set. A suite that took long the last time begins early; --record writes these times
to Scripts/test-seconds.txt, by which a new clone begins.
"""

import argparse
import contextlib
import os
import pathlib
import re
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


def environment(scratch=None):
    """A person's own settings do not change the tests."""
    return os.environ | {"XDG_CONFIG_HOME": str(ROOT / ".build/no-settings")} | ({"TMPDIR": scratch} if scratch else {})


@contextlib.contextmanager
def scratch_in_memory():
    """A directory for temporary files in memory, as flushes to a disk are slow; `None` if TMPDIR is set, or memory is short."""
    memory = pathlib.Path("/dev/shm")
    if "TMPDIR" in os.environ or not os.access(memory, os.W_OK) or not has_room(memory):
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="tally-tests-", dir=memory, ignore_cleanup_errors=True) as scratch:
        # Some tests go there as another user.
        os.chmod(scratch, 0o755)
        yield scratch


def has_room(memory):
    """Whether a filesystem in memory, and memory itself, have enough room, and programs may be run there."""
    system = os.statvfs(memory)
    available = re.search(r"MemAvailable: *(\d+) kB", pathlib.Path("/proc/meminfo").read_text())
    return (not system.f_flag & os.ST_NOEXEC and system.f_bavail * system.f_frsize >= NEEDED_MEMORY_IN_BYTES
            and available is not None and int(available[1]) << 10 >= NEEDED_MEMORY_IN_BYTES)


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

    def __init__(self, bundle, suites, known, scratch):
        self.bundle, self.suites, self.known, self.scratch = bundle, suites, known, scratch
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
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, cwd=ROOT,
            env=environment(self.scratch))
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

    def all(self, worker_count):
        """Runs all suites."""
        workers = [threading.Thread(target=self.work, daemon=True) for _ in range(worker_count)]
        for worker in workers:
            worker.start()
        try:
            while any(worker.is_alive() for worker in workers):
                self.watch()
                time.sleep(0.2)
        finally:
            # Control-C reaches the suites by itself; this is for everything else that ends the workers.
            for process in self.processes.values():
                if process.poll() is None:
                    process.terminate()

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
    with scratch_in_memory() as scratch:
        run = Run(bundle, listed(bundle, arguments.patterns), seconds_of_last_time(file), scratch)
        run.all(max(1, arguments.workers))
    times = sorted((run.known | run.seconds).items(), key=lambda item: -item[1])
    file.write_text("".join(f"{seconds:.1f} {suite}\n" for suite, seconds in times))
    if arguments.record:
        RECORDED.write_text("".join(f"{seconds:.0f} {suite}\n" for suite, seconds in times if seconds >= 2))
    run.summarize(started)
    sys.exit(1 if run.failed else 0)


if __name__ == "__main__":
    main()
