#!/usr/bin/env python3
"""Compares the public surface of both libraries with docs/api.txt, and demands documentation of all of it.

usage: check-api.py [--record]

Reads the symbol graphs that Scripts/build-docs.sh has the compiler write; `--record` writes the surface down instead.
"""

import difflib
import json
import pathlib
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
RECORDED = REPOSITORY / "docs" / "api.txt"
MODULES = ["LMDB", "Tally"]
# What a type has without being asked; the graph does not tell where it was suppressed, as by `~Copyable`.
IMPLICIT_CONFORMANCES = {"Copyable", "Escapable", "SendableMetatype", "BitwiseCopyable"}
TYPE_KINDS = {"swift.struct", "swift.enum", "swift.class"}


def graphs(module):
    """The graphs of a module: its own, and one for each module whose types it extends."""
    found = sorted(REPOSITORY.glob(f".build/*/extracted-symbols/{REPOSITORY.name.lower()}/{module}/*.symbols.json"))
    # `Tally.symbols.json` before `Tally@Swift.symbols.json`, which names what is in it.
    found.sort(key=lambda path: "@" in path.name)
    if not found:
        sys.exit(f"check-api: no symbol graph of {module}: run Scripts/build-docs.sh first")
    return [json.loads(path.read_text()) for path in found]


def is_written(symbol):
    """Whether somebody wrote the symbol; the compiler makes `!=`, `hashValue` and the like."""
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
    """The constraints of a generic type, or of the extension in which a member stands."""
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
    """The declarations, a line each, and the lines of those without documentation."""
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


def main():
    lines, undocumented = surface()
    for line in undocumented:
        print(f"check-api: without documentation: {line}", file=sys.stderr)
    actual = [line + "\n" for line in lines]
    if "--record" in sys.argv[1:]:
        RECORDED.write_text("".join(actual))
        print(f"check-api: recorded {len(actual)} public declarations in docs/api.txt")
        return 1 if undocumented else 0
    recorded = RECORDED.read_text().splitlines(keepends=True)
    changes = list(difflib.unified_diff(recorded, actual, "docs/api.txt", "the public surface", n=0))
    if changes:
        sys.stderr.writelines(changes)
        print("check-api: the public surface has changed; if that is meant, run `make api`", file=sys.stderr)
    if changes or undocumented:
        return 1
    print(f"check-api: {len(actual)} public declarations, all documented and as docs/api.txt has them")
    return 0


sys.exit(main())
