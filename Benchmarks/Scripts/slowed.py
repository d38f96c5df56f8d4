#!/usr/bin/env python3
"""Slows paths of the library down on purpose, one after another, and ensures that the rows that name them fail.

  Benchmarks/Scripts/slowed.py [--only NAME]…

Benchmarks/Suites/slowdowns.json lists the paths. A copy of this checkout in .build/slowed wastes time there, as the variable
TALLY_SLOWED says: 1.5 times what the path takes, or 2.5 times where the row waits for the disk. First its rows are measured
unslowed and must pass. A row of a slowed path that passes ends the run with status 1.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
import figures

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TREE = ROOT / ".build/slowed"
SLOWDOWNS = ROOT / "Benchmarks/Suites/slowdowns.json"
SWITCH = """import Foundation

/// Wastes time at the end of a path, if TALLY_SLOWED names it: `search=1.5`.
struct Slowdown {
  private static let chosen = ProcessInfo.processInfo.environment["TALLY_SLOWED"]?.split(separator: "=") ?? []
  private let start: ContinuousClock.Instant?

  init(_ name: String) {
    start = Self.chosen.first.map(String.init) == name ? ContinuousClock.now : nil
  }

  func spend() {
    guard let start, let factor = Self.chosen.last.flatMap({ Double($0) }) else { return }
    let end = start + (ContinuousClock.now - start) * factor
    while ContinuousClock.now < end {}
  }
}
"""


def fail(text):
    sys.exit(f"slowed: {text}")


def make_tree(slowdowns):
    """Copies what git knows of, each path with its switch; a file that is the same stays, so that little is built again."""
    names = subprocess.check_output(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, text=True).split("\0")
    contents = {name: (ROOT / name).read_bytes() for name in names if name and (ROOT / name).is_file()}
    for each in slowdowns:
        line, text = each["after"] + "\n", contents[each["file"]].decode()
        if line not in text:
            fail(f"{each['file']} has no line {each['after'].strip()}")
        name = each["name"].replace("-", "")
        indentation = line[:len(line) - len(line.lstrip())] + ("  " if line.rstrip().endswith(("{", " in")) else "")
        switch = f"{indentation}let {name}Slowdown = Slowdown(\"{each['name']}\")\n"
        switch += f"{indentation}defer {{ {name}Slowdown.spend() }}\n"
        # The only expression of a function was its result.
        old = line + indentation if each.get("isExpression") else line
        new = f"{line}{switch}" + (f"{indentation}return " if each.get("isExpression") else "")
        contents[each["file"]] = text.replace(old, new).encode()
        module = "/".join(each["file"].split("/")[:2])
        contents[f"{module}/Slowdown.swift"] = SWITCH.encode()
    for name, data in contents.items():
        file = TREE / name
        if not file.exists() or file.read_bytes() != data:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
            shutil.copymode(ROOT / name, file) if (ROOT / name).exists() else None


def run(suite, rows, slowdown=None):
    """The rows of a suite in the copy; whether they pass, and what was printed."""
    scripts = [["work.py", "times"], ["work.py", "counts"]] if suite == "work" else [["bench.py", suite]]
    environment = os.environ | ({"TALLY_SLOWED": f"{slowdown['name']}={slowdown['factor']}"} if slowdown else {})
    passes, output = True, ""
    for script in scripts:
        command = [TREE / "Benchmarks/Scripts" / script[0], *script[1:]]
        for row in rows:
            command += ["--row", row]
        result = subprocess.run(
            command, cwd=TREE, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        passes, output = passes and result.returncode == 0, output + result.stdout
    return passes, output


def is_named(row, output):
    """Whether the verdicts at the end of a failed run name the row."""
    return any(line.strip().startswith(f"{row}: ") for line in output.splitlines())


def by_suite(slowdowns):
    found = {}
    for each in slowdowns:
        for row in each["rows"]:
            suite, _, name = row.partition(" ")
            found.setdefault(suite, []).append((name, each))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[])
    arguments = parser.parse_args()
    slowdowns = json.loads(SLOWDOWNS.read_text())
    make_tree(slowdowns)
    try:
        slowdowns = figures.chosen(slowdowns, arguments.only)
    except ValueError as error:
        fail(str(error))
    wrong = []
    for suite, pairs in by_suite(slowdowns).items():
        passes, output = run(suite, list(dict.fromkeys(name for name, _ in pairs)))
        if not passes:
            wrong.append(f"{suite} fails though nothing is slowed:\n{output[-1500:]}")
            continue
        for name, slowdown in pairs:
            passes, output = run(suite, [name], slowdown)
            caught = not passes and is_named(name, output)
            print(f"{'caught' if caught else 'passed'}  {slowdown['name']} × {slowdown['factor']}: {suite} {name}", flush=True)
            if not caught:
                wrong.append(f"{slowdown['name']}: {suite} {name} does not name it\n{output[-800:]}")
    if wrong:
        fail("\n".join(wrong))
    print(f"all {len(slowdowns)} slowed paths are named")


if __name__ == "__main__":
    main()
