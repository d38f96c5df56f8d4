#!/usr/bin/env python3
"""Types the spellings of quick entry and filters into real shells, without quotation marks.

bash, zsh and fish must pass `+home`, `@garden`, `p:high` and `due.before:friday` on as they are, interactively: there a shell
also knows history (`!`), comments (`#`), globs and redirections. Of `find #home` nothing arrives, and the answer says so.
"""

import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
spec = importlib.util.spec_from_file_location("completions", HERE / "check-completions.py")
completions = importlib.util.module_from_spec(spec)
spec.loader.exec_module(completions)

PLAIN = "--plain --columns title,scheduledDate,dueDay,priority,tags"
CASES = [
    # A command, and what one line of its answer must be.
    (f"tally find +home {PLAIN}", "Rent\t2026-11-22\t\thigh\thome"),
    (f"tally find @garden {PLAIN}", "Weed\t\t2026-11-27\tlow\tgarden"),
    (f"tally find p:high {PLAIN}", "Rent\t2026-11-22\t\thigh\thome"),
    (f"tally find due.before:2026-12-01 {PLAIN}", "Weed\t\t2026-11-27\tlow\tgarden"),
    (f"tally find due.after:2026-11-01 p.below:high {PLAIN}", "Weed\t\t2026-11-27\tlow\tgarden"),
    (f"tally find scheduled.by:2026-11-22 -is:done {PLAIN}", "Rent\t2026-11-22\t\thigh\thome"),
    (f"tally find created.since:2026-11-01 +garden {PLAIN}", "Weed\t\t2026-11-27\tlow\tgarden"),
    ("tally count p.above:low", "1"),
    ("tally find #home", "No filter was given. A shell drops what follows #"),
]
QUICK = ["tally quick Rent tomorrow +home p:high", "tally quick Weed @garden p:low deadline 2026-11-27"]


def check(shell):
    with tempfile.TemporaryDirectory() as directory:
        place = pathlib.Path(directory).resolve()
        (place / "bin").mkdir()
        (place / "bin/tally").write_text(
            f'#!/bin/sh\nexec "{completions.PROGRAM}" --now 2026-11-21T12:00:00Z --time-zone UTC "$@"\n')
        (place / "bin/tally").chmod(0o755)
        (place / "script").write_text("")
        environment = {
            "PATH": f"{place}/bin:/usr/bin:/bin", "HOME": directory, "TALLY_STORE": f"{directory}/store",
            "TERM": "dumb", "LC_ALL": "C.UTF-8", "COLUMNS": "200",
        }
        lines = QUICK + [f"echo CASE {number}; {line}" for number, (line, _) in enumerate(CASES)] + ["exit", ""]
        # Interactive, so that history and comments are in force, but without a terminal: what is typed is not echoed.
        start = completions.START[shell]
        answer = subprocess.run(
            start, input="\n".join((["setopt interactivecomments"] if shell == "zsh" else []) + lines), cwd=place,
            env=environment, capture_output=True, encoding="utf-8", timeout=120)
        output = answer.stdout + answer.stderr
        # Each answer by itself; a title too many means that a condition was lost.
        parts = dict(re.findall(r"CASE (\d+)\r?\n(.*?)(?=CASE \d|\Z)", answer.stdout, re.S))
        faults = []
        for number, (line, wanted) in enumerate(CASES):
            part = parts.get(str(number), "")
            others = {"Rent", "Weed"} - {wanted.split("\t")[0]}
            found = wanted in (answer.stderr if line.endswith("#home") else part)
            if not found or any(f"{title}\t" in part for title in others):
                faults.append(line)
        strays = sorted(path.name for path in place.iterdir() if path.name not in {"bin", "script", "store"} and not
                        path.name.startswith("."))
        for line in faults:
            print(f"{shell}: {line} did not give what it should:\n{output}")
        if strays:
            print(f"{shell}: files were written: {strays}")
        return not faults and not strays


def main():
    required = "--require" in sys.argv
    fine = True
    for shell in completions.START:
        if shutil.which(shell) is None:
            print(f"{shell} is not installed" + ("" if required else ", skipped"))
            fine = fine and not required
            continue
        passed = check(shell)
        print(f"{shell}: {'all spellings arrive' if passed else 'FAILED'}")
        fine = fine and passed
    sys.exit(0 if fine else 1)


main()
