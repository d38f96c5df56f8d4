#!/usr/bin/env python3
"""Ensures that commits that move or merge files change nothing else.

  Scripts/check-moves.py COMMIT...      these commits
  Scripts/check-moves.py BASE..HEAD     those of the range whose first line says "Move ..." or "Merge the files ..."

Compares each commit with its first parent:
- Sources, and Tests, have the same lines, in any files and order. Imports, blank lines and the modifiers private,
  fileprivate and internal do not count.
- docs/api.txt has the same bytes.
- There are as many tests (`@Test`) and mutants, and a mutant whose text was found in its file still is.

Prints each declaration that lost private or fileprivate: whoever reads the commit judges those. A difference fails.
"""

import collections
import importlib.util
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMPARED = ["Sources", "Tests"]
SAYS_MOVE = re.compile(r"(?:Move|Merge the files)\b")
MOST_LISTED = 20

IMPORT = r"[ \t]*(?:@\w+(?:\([^)\n]*\))?[ \t]+)*(?:(?:public|package|internal|fileprivate|private)[ \t]+)?import[ \t].*\n"
CONDITIONAL_IMPORTS = re.compile(
    rf"^[ \t]*#if .*\n(?:{IMPORT}|[ \t]*#elseif .*\n|[ \t]*#else[ \t]*\n|[ \t]*\n)+[ \t]*#endif[ \t]*\n", re.MULTILINE)
IMPORTS = re.compile(rf"^{IMPORT}", re.MULTILINE)
# At the start of a declaration, after attributes and other modifiers.
MODIFIER = re.compile(
    r"^(\s*(?:(?:@\w+(?:\([^)]*\))?|static|final|nonisolated|mutating|lazy|weak|unsafe|indirect|override) )*)"
    r"(private|fileprivate|internal)(?:\(set\))? ")
HIDDEN = {"private", "fileprivate"}


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout.decode()


def lines_of_file(text):
    """The lines that count, each with the modifier of access that was taken from it, or an empty text."""
    text = text if text.endswith("\n") else text + "\n"
    for pattern in (CONDITIONAL_IMPORTS, IMPORTS):
        text = pattern.sub("", text)
    for line in text.splitlines():
        if line.strip():
            found = MODIFIER.match(line)
            yield (found[1] + line[found.end():], found[2]) if found else (line, "")


class Tree:
    """The parts of a commit that are compared."""

    def __init__(self, commit, directory):
        archive = subprocess.Popen(
            ["git", "archive", commit, "--", *COMPARED, "docs/api.txt"], cwd=ROOT, stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x", "-C", directory], stdin=archive.stdout, check=True)
        if archive.wait() != 0:
            sys.exit(f"check-moves: {commit} cannot be read: see what git wrote above")
        self.root = pathlib.Path(directory)
        self.interface = (self.root / "docs/api.txt").read_bytes()
        self.lines, self.hidden, self.files, self.visible, self.test_count = {}, collections.Counter(), {}, {}, 0
        for part in COMPARED:
            self.lines[part] = collections.Counter()
            for path in sorted((self.root / part).rglob("*.swift")):
                self.add(part, path)
        self.find_mutants()

    def add(self, part, path):
        text = path.read_text()
        for line, modifier in lines_of_file(text):
            self.lines[part][line] += 1
            self.hidden[line] += modifier in HIDDEN
            self.files.setdefault(line, path.relative_to(self.root))
            if modifier not in HIDDEN:
                self.visible.setdefault(line, set()).add(path.relative_to(self.root).as_posix())
        if part == "Tests":
            self.test_count += len(re.findall(r"^\s*@Test\b", text, re.MULTILINE))

    def find_mutants(self):
        """Reads the catalogue of this commit and looks for its mutants in the sources of this commit."""
        specification = importlib.util.spec_from_file_location("mutants", ROOT / "Scripts/mutants.py")
        mutants = importlib.util.module_from_spec(specification)
        sys.modules["mutants"] = mutants
        specification.loader.exec_module(mutants)
        mutants.REPOSITORY, mutants.CATALOGUE = self.root, self.root / "Tests/Mutants"
        mutants.OPEN = mutants.CATALOGUE / "Open.txt"
        catalogue = mutants.read_catalogue(includes_open=True)
        mutants.find_places(catalogue)
        self.mutant_count = len(catalogue)
        # A line is known as soon as the text is found.
        self.found = collections.Counter((mutant.old, mutant.new) for mutant in catalogue if mutant.line > 0)
        self.files_of_mutants = {(mutant.old, mutant.new): mutant.file for mutant in catalogue}


def differences(before, after):
    """The differences that a commit which only moves must not make, a line each."""
    for part in COMPARED:
        for sign, one, other in (("-", before, after), ("+", after, before)):
            for line, count in (one.lines[part] - other.lines[part]).items():
                times = f" ({count} times)" if count > 1 else ""
                yield f"{sign} {one.files[line]}: {line.strip()}{times}"
    if before.interface != after.interface:
        yield "docs/api.txt differs"
    for noun, old, new in (
            ("tests", before.test_count, after.test_count), ("mutants", before.mutant_count, after.mutant_count)):
        if old != new:
            yield f"{old} {noun} became {new}"
    for old, new in before.found - after.found:
        file = after.files_of_mutants.get((old, new), before.files_of_mutants[old, new])
        yield f"the mutant `{old} => {new}` is no longer found in {file}"


def check(commit):
    """Prints the changes of a commit besides moves, and returns whether there are none."""
    with tempfile.TemporaryDirectory() as old, tempfile.TemporaryDirectory() as new:
        before, after = Tree(f"{commit}^", old), Tree(commit, new)
    found = list(differences(before, after))
    print(git("log", "-1", "--format=%h %s", commit).strip() + (": only moves" if not found else f": {len(found)} more"))
    for line in found[:MOST_LISTED]:
        print(f"  {line}")
    if len(found) > MOST_LISTED:
        print(f"  ... and {len(found) - MOST_LISTED} more")
    # A line that is gone lost nothing.
    for line in before.hidden - after.hidden:
        if line in after.visible:
            print(f"  no longer private: {', '.join(sorted(after.visible[line]))}: {line.strip()}")
    return not found


def commits(arguments):
    """The commits to check, oldest first."""
    for argument in arguments:
        if ".." not in argument:
            yield git("rev-parse", "--verify", argument + "^{commit}").strip()
            continue
        for line in reversed(git("log", "--first-parent", "--format=%H %s", argument).splitlines()):
            commit, _, subject = line.partition(" ")
            if SAYS_MOVE.match(subject):
                yield commit


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    results = [check(commit) for commit in commits(sys.argv[1:])]
    if not results:
        sys.exit("check-moves: no commit of that range says that it moves or merges: name the commit itself")
    sys.exit(0 if all(results) else 1)
