#!/usr/bin/env python3
"""Builds the documentation of the libraries and compares their public surface with docs/api.txt.

usage: check-docs.py [--record]

The documentation goes to .build/documentation; a link to a symbol that does not exist is an error, and so is a
public symbol without documentation. Both are made from the symbol graphs of the modules that `swift build` has written;
`--record` writes the surface to docs/api.txt instead of comparing it.
"""

import difflib
import json
import pathlib
import re
import shutil
import subprocess
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
DOCUMENTATION = REPOSITORY / ".build/documentation"
GRAPHS = DOCUMENTATION / "symbols"
RECORDED = REPOSITORY / "docs" / "api.txt"
MODULES = ["LMDB", "TallyEngine", "Tally", "TallyFormats", "TallySync", "TallySyncConformance"]
# The conformances of every type; the graph does not show where one is suppressed, as by `~Copyable`.
IMPLICIT_CONFORMANCES = {"Copyable", "Escapable", "SendableMetatype", "BitwiseCopyable"}
TYPE_KINDS = {"swift.struct", "swift.enum", "swift.class"}


def run(*command):
    result = subprocess.run(command, cwd=REPOSITORY)
    if result.returncode:
        sys.exit(f"check-docs: {command[0]} ends with status {result.returncode}")


def importing(module):
    """The compiler's arguments about other modules when it built one: their directories and their C headers."""
    for line in (REPOSITORY / ".build/debug.yaml").read_text().splitlines():
        if f'"-module-name","{module}",' in line and '"-emit-module"' in line:
            found = json.loads(line.partition("args: ")[2])
            pairs = zip(found, found[1:])
            return [word for pair in pairs if pair[0] in ("-I", "-target") or pair[0] == "-Xcc" and pair[1] != "-Xcc" for word in pair]
    sys.exit(f"check-docs: {module} has not been built: make build")


def extract(module):
    """Writes the graphs of a module."""
    folder = GRAPHS / module
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    run("swift", "symbolgraph-extract", "-module-name", module, "-minimum-access-level", "public", "-emit-extension-block-symbols",
        "-output-dir", str(folder), *importing(module))


def graphs(module):
    """The graphs of a module: its own, and one for each module whose types it extends."""
    # `Tally.symbols.json` before `Tally@Swift.symbols.json`, which refers to its symbols.
    found = sorted((GRAPHS / module).glob("*.symbols.json"), key=lambda path: ("@" in path.name, path))
    return [json.loads(path.read_text()) for path in found]


def is_written(symbol):
    """Whether the symbol is in the source; the compiler generates `!=`, `hashValue` and the like."""
    return "location" in symbol and symbol["kind"]["identifier"] != "swift.extension"


def conformances(graph, names):
    """The protocols of each type, by the type's identifier."""
    found = {}
    for relation in graph["relationships"]:
        if relation["kind"] == "conformsTo":
            name = names.get(relation["target"]) or relation["targetFallback"].split(".")[-1]
            found.setdefault(relation["source"], set()).add(name)
    return found


def bounds(symbol, key):
    """The constraints of a generic type, or of the extension that declares a member."""
    return [
        f"{bound['lhs']} {'==' if bound['kind'] == 'sameType' else ':'} {bound['rhs']}"
        for bound in symbol.get(key, {}).get("constraints", [])
    ]


def declaration(symbol, protocols, bounds_of_owner):
    text = " ".join("".join(fragment["spelling"] for fragment in symbol["declarationFragments"]).split())
    if symbol["kind"]["identifier"] in TYPE_KINDS:
        shown = sorted(protocols - IMPLICIT_CONFORMANCES)
        text += " : " + ", ".join(shown) if shown else ""
    extra = [bound for bound in bounds(symbol, "swiftExtension") if bound not in bounds_of_owner]
    return text + (" where " + ", ".join(extra) if extra else "")


def surface():
    """The declarations, one per line, and the lines of those without documentation."""
    lines, undocumented, names = set(), [], {}
    for module in MODULES:
        for graph in graphs(module):
            names |= {symbol["identifier"]["precise"]: symbol["names"]["title"] for symbol in graph["symbols"]}
            protocols = conformances(graph, names)
            generics = {tuple(symbol["pathComponents"]): bounds(symbol, "swiftGenerics") for symbol in graph["symbols"]}
            for symbol in filter(is_written, graph["symbols"]):
                owner = symbol["pathComponents"][:-1]
                text = declaration(
                    symbol, protocols.get(symbol["identifier"]["precise"], set()), generics.get(tuple(owner), []))
                line = f"{'.'.join([module] + owner)}: {text}"
                lines.add(line)
                if not any(text["text"].strip() for text in symbol.get("docComment", {}).get("lines", [])):
                    undocumented.append(line)
    return sorted(lines), sorted(undocumented)


def adopt(module, other, exports):
    """Adds the symbols that a module exports of another one to its graph, so that its documentation has them, too."""
    names = set(re.findall(r"^@_exported public import \w+ \w+\.(\w+)$", (REPOSITORY / exports).read_text(), re.MULTILINE))
    file = GRAPHS / module / f"{module}.symbols.json"
    own = json.loads(file.read_text())
    # The module's own additions to those types are in a graph of their own, below the extensions of each type.
    added = GRAPHS / module / f"{module}@{other}.symbols.json"
    extensions = json.loads(added.read_text())
    types = {each["source"]: each["target"] for each in extensions["relationships"] if each["kind"] == "extensionTo"}
    for graph in [*graphs(other), extensions]:
        taken = [each for each in graph["symbols"] if each["pathComponents"][0] in names]
        taken = [each for each in taken if each["kind"]["identifier"] != "swift.extension"]
        ids = {each["identifier"]["precise"] for each in taken}
        own["symbols"] += taken
        own["relationships"] += [
            each | {"target": types.get(each["target"], each["target"])} for each in graph["relationships"] if each["source"] in ids]
    added.unlink()
    file.write_text(json.dumps(own))


def build(module):
    """Writes the documentation of a module; a warning fails."""
    articles = REPOSITORY / f"Sources/{module}/{module}.docc"
    run("docc", "convert", *([str(articles)] if articles.exists() else []), "--additional-symbol-graph-dir", str(GRAPHS / module),
        "--fallback-display-name", module, "--fallback-bundle-identifier", module, "--warnings-as-errors",
        "--output-path", str(DOCUMENTATION / f"{module}.doccarchive"))


def main():
    for module in MODULES:
        extract(module)
    lines, undocumented = surface()
    adopt("Tally", "TallyEngine", "Sources/Tally/Exports.swift")
    for module in MODULES:
        build(module)
    for line in undocumented:
        print(f"check-docs: without documentation: {line}", file=sys.stderr)
    actual = [line + "\n" for line in lines]
    if "--record" in sys.argv[1:]:
        RECORDED.write_text("".join(actual))
        print(f"check-docs: recorded {len(actual)} public declarations in docs/api.txt")
        return 1 if undocumented else 0
    recorded = RECORDED.read_text().splitlines(keepends=True)
    changes = list(difflib.unified_diff(recorded, actual, "docs/api.txt", "the public surface", n=0))
    if changes:
        sys.stderr.writelines(changes)
        print("check-docs: the public surface has changed; if that is intended, run `make api`", file=sys.stderr)
    if changes or undocumented:
        return 1
    print(f"check-docs: {len(actual)} public declarations, all documented and equal to docs/api.txt")
    return 0


sys.exit(main())
