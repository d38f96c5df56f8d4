#!/usr/bin/env python3
"""Leaves out or changes one checked step of the sources at a time, and demands that a test notices.

usage: mutants.py [--list] [--only N[,N]] [--file NAME] [--narrow] [--open]
                  [--jobs N]

The changes, called mutants, are listed in Tests/Mutants. One build in .build/mutants/tree contains all of them: each
place there reads `(mutant(17) ? changed : original)`, and the variable TALLY_MUTANT chooses the number. The checks
named in the catalogue run first; if none of them fails, every test runs, and then a few faults of each kind. A mutant
that nothing notices fails the run, and so does an entry whose text its file does not contain.
"""

import argparse
import concurrent.futures
import dataclasses
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
CATALOGUE = REPOSITORY / "Tests" / "Mutants"
# The mutants that no check is known to notice.
OPEN = CATALOGUE / "Open.txt"
SCRATCH = REPOSITORY / ".build" / "mutants"
TREE = SCRATCH / "tree"
LEFT_OUT = "left out"
# A mutant may wait for ever.
SHORTEST_LIMIT = 25
LIMIT_OF_STAGE = 1_500
FAILURE = r"^\S+ +Test (.+?) (?:recorded an issue|failed)"
# A narrower check would be better.
SLOW = 15

SWITCH = """\
#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

private let chosen = unsafe getenv("TALLY_MUTANT").flatMap { unsafe Int(String(cString: $0)) } ?? 0

@usableFromInline
func mutant(_ number: Int) -> Bool { number == chosen }
"""


@dataclasses.dataclass
class Mutant:
    """An entry of the catalogue."""

    number: int
    file: str
    old: str
    occurrence: int  # 0 if the text must be there only once
    new: str
    checks: list
    place: str  # of the entry, for messages
    equivalent: str = ""
    start: int = 0
    line: int = 0

    def __str__(self):
        # A text may contain several spaces or a line end where the source has one.
        return f"{self.number:>4}  {self.file}:{self.line}  {self.old} => {self.new}"


class Stale(Exception):
    """An entry that does not fit the sources."""


# Reading the catalogue


def read_catalogue(includes_open):
    """Every mutant, in the order of the files and lines of the catalogue, the open ones last."""
    mutants = []
    paths = [path for path in sorted(CATALOGUE.glob("*.txt")) if path != OPEN]
    for path in paths + ([OPEN] if includes_open else []):
        file, checks, target = None, [], None
        for number, line in enumerate(path.read_text().splitlines(), 1):
            place = f"{path.relative_to(REPOSITORY)}:{number}"
            text = line.strip()
            if not text or text == "#" or text.startswith("# "):
                continue
            if not line.startswith(" "):
                file, checks, target = text, [], None
            elif text.startswith("tests: "):
                named = [check.strip() for check in text.removeprefix("tests: ").split(",")]
                if target:
                    target.checks = named
                else:
                    checks = named
            elif text.startswith("equivalent: ") and target:
                target.equivalent = text.removeprefix("equivalent: ")
            else:
                target = entry(text, file, checks, place, len(mutants) + 1)
                mutants.append(target)
    return mutants


def entry(text, file, checks, place, number):
    """A mutant from its line, `[#2 ]old => new`."""
    old, arrow, new = text.partition(" => ")
    if not arrow or not file:
        raise Stale(f"{place}: an entry is `old => new`, below the path of a file")
    nth = re.match(r"#(\d+) ", old)
    if nth:
        old = old[nth.end():]
    return Mutant(number, file, old, int(nth[1]) if nth else 0, new, checks, place)


def find_places(mutants):
    """Looks up where each mutant stands in the sources, and returns the complaints."""
    complaints = []
    for mutant in mutants:
        path = REPOSITORY / mutant.file
        source = path.read_text() if path.is_file() else ""
        # Words must be whole, comments do not count.
        edges = (r"(?<!\w)" if mutant.old[0].isalnum() else "", r"(?!\w)" if mutant.old[-1].isalnum() else "")
        found = [
            match.start()
            for match in re.finditer(edges[0] + re.escape(mutant.old) + edges[1], source)
            if "//" not in source[source.rfind("\n", 0, match.start()) + 1:match.start()]
        ]
        if len(found) < max(1, mutant.occurrence) or (mutant.occurrence == 0 and len(found) > 1):
            complaints.append(f"{mutant.place}: {mutant.file} contains `{mutant.old}` {len(found)} times")
            continue
        mutant.start = found[max(0, mutant.occurrence - 1)]
        mutant.line = source.count("\n", 0, mutant.start) + 1
        if not mutant.checks:
            complaints.append(f"{mutant.place}: no line `tests:` names the checks")
    return complaints


# Writing the sources with all mutants


def mutated(source, mutants):
    """The text of a file with every mutant in it, chosen at run time."""
    spans = {}
    for mutant in mutants:
        spans.setdefault((mutant.start, mutant.start + len(mutant.old)), []).append(mutant)
    # An outer span comes before those inside it.
    ordered = sorted(spans, key=lambda span: (span[0], -span[1]))
    return rendered(source, 0, len(source), ordered, spans)


def rendered(source, start, end, ordered, spans):
    """The part of a file from start to end, with the spans inside it."""
    text, position = "", start
    inside = [span for span in ordered if start <= span[0] and span[1] <= end and span != (start, end)]
    for span in inside:
        if span[0] < position:
            if span[1] > position:
                raise Stale(f"{spans[span][0].place}: the text overlaps that of another entry")
            continue
        text += source[position:span[0]]
        text += switched(rendered(source, *span, inside, spans), spans[span])
        position = span[1]
    return text + source[position:end]


def switched(old, mutants):
    """An expression or statement that each mutant replaces."""
    for mutant in mutants:
        if mutant.new == LEFT_OUT:
            old = f"if !mutant({mutant.number}) {{ {old} }}"
        else:
            old = f"(mutant({mutant.number}) ? ({mutant.new}) : ({old}))"
    return old


def write_tree(mutants):
    """Copies the sources and puts the mutants in; only files that change are written, so that builds are short."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=REPOSITORY, check=True, stdout=subprocess.PIPE).stdout.decode().split("\0")
    wanted = {}
    for name in filter(None, listed):
        if (REPOSITORY / name).is_file():
            wanted[name] = (REPOSITORY / name).read_bytes()
    for module in sorted({mutant.file.split("/")[1] for mutant in mutants}):
        wanted[f"Sources/{module}/Mutant.swift"] = SWITCH.encode()
    for file in sorted({mutant.file for mutant in mutants}):
        own = [mutant for mutant in mutants if mutant.file == file]
        wanted[file] = mutated(wanted[file].decode(), own).encode()
    for path in list(TREE.glob("[!.]*")):
        for old in [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]:
            if str(old.relative_to(TREE)) not in wanted and old.name != "Package.resolved":
                old.unlink()
    for name, contents in wanted.items():
        path = TREE / name
        if not path.is_file() or path.read_bytes() != contents:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(contents)
            path.chmod((REPOSITORY / name).stat().st_mode if (REPOSITORY / name).exists() else 0o644)


def build():
    """Builds the copy and the libraries that the faults preload."""
    environment = {key: value for key, value in os.environ.items() if key != "TALLY_STRICT"}
    log = SCRATCH / "build.log"
    with log.open("wb") as output:
        for command in (["swift", "build", "--build-tests"], ["Scripts/test-faults.sh", "--short", "maps"]):
            result = subprocess.run(command, cwd=TREE, env=environment, stdout=output, stderr=subprocess.STDOUT)
            if result.returncode != 0:
                found = r"^.*?/tree/(.*(?:error: |expanded code originates).*)$"
                lines = re.findall(found, log.read_text(errors="replace"), re.MULTILINE)
                sys.exit("\n".join(list(dict.fromkeys(lines))[:20]) + f"\nmutants: the copy does not build: see {log}")


# Running the checks


@dataclasses.dataclass
class Outcome:
    """How a check ended: the test that failed, if one did."""

    failed: str
    seconds: float
    count: int


def run(check, number, limit):
    """Runs a check, `faults NAME` or a filter of tests, with a mutant or, with 0, without."""
    # The end of a link, so that paths in messages stay short.
    products = (TREE / ".build" / "debug").resolve()
    faults = check.split()[1:] if check.split()[0] == "faults" else None
    if faults is None:
        command = [products / "tallyPackageTests.xctest", "--testing-library", "swift-testing"]
        command += ["--skip", "StyleTests"] if check == "all tests" else ["--filter", check]
    else:
        command = [products / "TallyFaults", "--short", *faults]
    start = time.monotonic()
    # The folder is in memory, because flushes would take most of the time.
    memory = pathlib.Path("/dev/shm")
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="tally-", dir=memory if os.access(memory, os.W_OK) else SCRATCH))
    # Some tests go there as another user.
    scratch.chmod(0o755)
    environment = os.environ | {
        "TALLY_MUTANT": str(number), "TALLY_LONG": "1", "TALLY_PRELOADS": str(TREE / ".build" / "faults"), "TMPDIR": str(scratch),
        "SWIFT_BACKTRACE": "enable=no",
    }
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command, cwd=TREE, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
            start_new_session=True)
        code = ending(process, output, start + limit)
        # The processes that the tests have started and not ended.
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        output.seek(0)
        text = output.read().decode(errors="replace")
    shutil.rmtree(scratch, ignore_errors=True)
    counted = re.search(r"Test run with (\d+) test", text)
    count = 1 if faults is not None else int(counted[1]) if counted else 0
    return Outcome(blamed(text, code, check), time.monotonic() - start, count)


def ending(process, output, deadline):
    """The status of a check that has ended, or nothing after the deadline; the first failure is enough."""
    while time.monotonic() < deadline:
        try:
            return process.wait(0.1)
        except subprocess.TimeoutExpired:
            # Beside the position at which the process writes.
            if re.search(FAILURE, os.pread(output.fileno(), 1 << 24, 0).decode(errors="replace"), re.MULTILINE):
                return 1
    return None


def blamed(text, code, check):
    """The first failure in the output; nothing if there was none."""
    if code == 0:
        return ""
    failed = re.search(FAILURE, text, re.MULTILINE)
    if failed:
        return failed[1]
    if code is None:
        return f"{check}, which did not end"
    fault = re.search(r"FAILED: (.*)", text)
    if fault:
        return f"{check}: {fault[1][:70]}"
    return f"{check}, which ended with status {code}"


def limit_of(seconds):
    """How long a check may take that took so long without a mutant."""
    return SHORTEST_LIMIT + 6 * seconds


def run_without(checks, jobs):
    """Runs every check without a mutant, and returns how long each took; all must succeed."""
    durations = {}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for check, outcome in zip(checks, pool.map(lambda check: run(check, 0, LIMIT_OF_STAGE), checks)):
            if outcome.failed or outcome.count == 0:
                reason = outcome.failed or "the filter names no test"
                sys.exit(f"mutants: without a mutant, {check} fails: {reason}")
            durations[check] = outcome.seconds
            if outcome.seconds > SLOW:
                print(f"mutants: {check} took {outcome.seconds:.0f} s", flush=True)
    return durations


def run_mutant(mutant, durations, is_narrow):
    """Runs the checks of a mutant until one fails; returns that failure and the time."""
    seconds = 0
    for check in mutant.checks:
        outcome = run(check, mutant.number, limit_of(durations[check]))
        seconds += outcome.seconds
        if outcome.failed:
            return outcome.failed, seconds
    if not mutant.equivalent and not is_narrow:
        for check in ("all tests", "faults"):
            outcome = run(check, mutant.number, LIMIT_OF_STAGE)
            seconds += outcome.seconds
            if outcome.failed:
                return f"{outcome.failed} (name it in the catalogue)", seconds
    return "", seconds


def report(mutants, jobs, is_narrow):
    """Runs all mutants and prints a line for each; returns whether all is well."""
    checks = sorted({check for mutant in mutants for check in mutant.checks})
    print(f"mutants: {len(checks)} checks without a mutant", flush=True)
    durations = run_without(checks, jobs)
    (killed, survived, wrong) = (0, [], [])
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        runs = {pool.submit(run_mutant, mutant, durations, is_narrow): mutant for mutant in mutants}
        for done in concurrent.futures.as_completed(runs):
            mutant, (failed, seconds) = runs[done], done.result()
            if failed and mutant.equivalent:
                words, _ = f"is not equivalent: killed by {failed}", wrong.append(mutant)
            elif failed:
                words, killed = f"killed by {failed}", killed + 1
            elif mutant.equivalent:
                words = f"equivalent: {mutant.equivalent}"
            else:
                words, _ = "SURVIVED", survived.append(mutant)
            print(f"{mutant}  {words}  ({seconds:.0f} s)", flush=True)
    for mutant in survived + wrong:
        print(f"{mutant.place}: {mutant}  {'SURVIVED' if mutant in survived else 'is not equivalent'}")
    equivalent = len(mutants) - killed - len(survived)
    print(f"{len(mutants)} mutants: {killed} killed, {equivalent} equivalent, {len(survived)} survived")
    return not survived and not wrong


def main():
    parser = argparse.ArgumentParser(description="Changes the sources step by step; a test must notice each change.")
    parser.add_argument("--list", action="store_true", help="list the mutants and run nothing")
    parser.add_argument("--only", help="run only the mutants with these numbers, as in 3,17 or 20-29")
    parser.add_argument("--file", help="run only the mutants of files whose path contains this")
    parser.add_argument("--open", action="store_true", help="run also those that nothing is known to notice")
    parser.add_argument("--narrow", action="store_true", help="run only the checks that the catalogue names")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many mutants run at once")
    options = parser.parse_args()
    mutants = read_catalogue(True)
    complaints = find_places(mutants)
    if complaints:
        sys.exit("\n".join(complaints) + "\nmutants: correct the catalogue, which must follow the sources")
    open_count = len(mutants)
    if not options.open:
        mutants = read_catalogue(False)
        find_places(mutants)
    open_count -= len(mutants)
    numbers = set()
    for part in (options.only or f"1-{len(mutants)}").split(","):
        first, _, last = part.partition("-")
        numbers |= set(range(int(first), int(last or first) + 1))
    chosen = [
        mutant for mutant in mutants if mutant.number in numbers and (options.file or "") in mutant.file
    ]
    if options.list:
        for mutant in chosen:
            print(mutant, f"(equivalent: {mutant.equivalent})" if mutant.equivalent else "")
        return
    start = time.monotonic()
    SCRATCH.mkdir(parents=True, exist_ok=True)
    write_tree(mutants)
    build()
    print(f"mutants: built in {time.monotonic() - start:.0f} s", flush=True)
    is_well = report(chosen, options.jobs, options.narrow)
    print(f"mutants: {(time.monotonic() - start) / 60:.0f} minutes")
    if open_count > 0:
        print(f"mutants: {open_count} more are open: nothing is known to notice them (--open runs them)")
    if not is_well:
        sys.exit(1)


if __name__ == "__main__":
    try:
        main()
    except Stale as error:
        sys.exit(str(error))
