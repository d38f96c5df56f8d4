#!/usr/bin/env python3
"""Builds the documentation of the libraries and compares their public surface with docs/api.txt.

usage: check-docs.py [--record]

The documentation goes to .build/documentation; a link to a symbol that does not exist is an error, and so is a
public symbol without documentation. The surface is read from the symbol graphs of that build; `--record` writes it to
docs/api.txt instead of comparing it.
"""

import difflib
import json
import os
import pathlib
import subprocess
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
RECORDED = REPOSITORY / "docs" / "api.txt"
MODULES = ["LMDB", "Tally", "TallyFormats", "TallySync", "TallySyncConformance"]
# The conformances of every type; the graph does not show where one is suppressed, as by `~Copyable`.
IMPLICIT_CONFORMANCES = {"Copyable", "Escapable", "SendableMetatype", "BitwiseCopyable"}
TYPE_KINDS = {"swift.struct", "swift.enum", "swift.class"}


def graphs(module):
    """The graphs of a module: its own, and one for each module whose types it extends."""
    found = sorted(REPOSITORY.glob(f".build/*/extracted-symbols/{REPOSITORY.name.lower()}/{module}/*.symbols.json"))
    # `Tally.symbols.json` before `Tally@Swift.symbols.json`, which refers to its symbols.
    found.sort(key=lambda path: "@" in path.name)
    if not found:
        sys.exit(f"check-docs: the build has written no symbol graph of {module}")
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


def build():
    folder = REPOSITORY / ".build/documentation"
    folder.mkdir(parents=True, exist_ok=True)
    for module in MODULES:
        result = subprocess.run(
            ["swift", "package", "--allow-writing-to-directory", str(folder), "generate-documentation", "--target", module,
             "--warnings-as-errors", "--output-path", str(folder / f"{module}.doccarchive")],
            cwd=REPOSITORY, env={**os.environ, "TALLY_DOCUMENTATION": "1"})
        if result.returncode:
            sys.exit(result.returncode)


def main():
    build()
    lines, undocumented = surface()
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
