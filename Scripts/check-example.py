#!/usr/bin/env python3
"""Runs the example application, adds tasks from another process, and checks its screen.

Takes the path of the application and that of `tally`. The content is asserted; the delay is only
printed, as it depends on the load of the machine.
"""

import pathlib
import subprocess
import sys
import tempfile
import threading
import time

# Far more than necessary: after this long the text will never come.
LIMIT_IN_SECONDS = 10


class Example:
    """The application, and the lines it has drawn so far."""

    def __init__(self, program, store):
        self.process = subprocess.Popen(
            [program, store], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.lines = []
        self.changed = threading.Condition()
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        for line in self.process.stdout:
            with self.changed:
                self.lines.append(line.rstrip("\n"))
                self.changed.notify()

    def wait_for(self, text):
        """The moment at which a line with the text is there."""
        with self.changed:
            if not self.changed.wait_for(lambda: any(text in line for line in self.lines), LIMIT_IN_SECONDS):
                self.process.kill()
                sys.exit(f"check-example: `{text}` does not appear; on the screen:\n" + "\n".join(self.lines))
            return time.monotonic()

    def type(self, line):
        self.process.stdin.write(line + "\n")


def main():
    program, tally = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        store = str(pathlib.Path(folder) / "store")
        example = Example(program, store)
        example.wait_for("Nothing to do.")
        delays = []
        for number in range(1, 6):
            subprocess.run([tally, "--store", store, "add", f"Errand {number}", "--today"], check=True, capture_output=True)
            added = time.monotonic()
            delays.append(max(0, example.wait_for(f"{number}. [ ] Errand {number}") - added))
        example.type("Typed here")
        example.wait_for("6. [ ] Typed here")
        example.type("2")
        example.wait_for("1. [~] Errand 2")
        example.type("")
        summary = example.wait_for("Views read:") and example.lines[-1]
        if example.process.wait(LIMIT_IN_SECONDS) != 0:
            sys.exit("check-example: the application failed")
        # The view was read once; the number of changes depends on how many were merged.
        if not summary.startswith("Views read: 1."):
            sys.exit(f"check-example: the view was read again to follow the changes: {summary}")
    print(f"check-example: tasks of another process appeared {max(delays) * 1_000:.0f} ms after it had ended, at most")
    print(f"check-example: {summary}")


main()
