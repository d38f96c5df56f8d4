#!/usr/bin/env python3
"""Slows rows of everyday work down on purpose, one after another, and ensures that each is seen to fail, and it alone.

  Benchmarks/Scripts/slowed.py times|counts [--row NAME]…

A row becomes 1.5 times slower, or 2.5 times where it waits for the disk (TALLY_BENCH_SLOWED, read by the benchmarks). First
the rows are measured unchanged and must pass. A slowed row that passes ends the run with status 1.
"""

import argparse
import os
import sys

sys.dont_write_bytecode = True
import figures
import work

FACTOR, FACTOR_OF_DISK = 1.5, 2.5


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=["times", "counts"])
    parser.add_argument("--row", action="append", default=[])
    arguments = parser.parse_args()
    rows, recorded = work.read_suite()
    try:
        rows = figures.chosen(rows, arguments.row)
    except ValueError as error:
        work.fail(str(error))
    path = work.program()
    passed = [f"{verdict} (unchanged)" for verdict in work.compare(arguments.kind, path, rows, recorded)]
    for row in rows:
        factor = FACTOR_OF_DISK if row.get("waitsForDisk") else FACTOR
        os.environ["TALLY_BENCH_SLOWED"] = f"{row['name']}={factor}"
        if not work.compare(arguments.kind, path, [row], recorded):
            passed.append(f"{row['name']}, {factor} times slower, passes")
    if passed:
        work.fail("\n  ".join(["a benchmark that should fail passes, or the reverse:", *passed]))
    print(f"all {len(rows)} slowed rows fail")


if __name__ == "__main__":
    main()
