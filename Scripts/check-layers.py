#!/usr/bin/env python3
"""Ensures that the folders of each module use only layers below them, and that no function has more than 70 lines.

Reads the compiler's index of the last debug build. Sources/layers.txt has the folders of each module, lowest first. A
reference against that order fails.
"""

import argparse
import collections
import ctypes
import pathlib
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LAYERS = ROOT / "Sources/layers.txt"
LONGEST_FUNCTION = 70

# Values of the enumerations in indexstore.h of LLVM.
DEFINITION, REFERENCE, IMPLICIT = 1 << 1, 1 << 2, 1 << 8
RECORD = 2
EXTENSION = 9
# Functions, methods, initializers, deinitializers and properties that are computed.
FUNCTIONS = {12, 13, 16, 17, 18, 19, 20, 21, 22, 23}


class Text(ctypes.Structure):
    """indexstore_string_ref_t"""
    _fields_ = [("data", ctypes.c_void_p), ("length", ctypes.c_size_t)]

    def __str__(self):
        return ctypes.string_at(self.data, self.length).decode(errors="replace") if self.length else ""


Pointer = ctypes.c_void_p
VisitName = ctypes.CFUNCTYPE(ctypes.c_bool, Pointer, Text)
VisitObject = ctypes.CFUNCTYPE(ctypes.c_bool, Pointer, Pointer)
FUNCTIONS_OF_INDEX = {
    "store_create": (Pointer, [ctypes.c_char_p, Pointer]),
    "store_units_apply_f": (ctypes.c_bool, [Pointer, ctypes.c_uint, Pointer, VisitName]),
    "unit_reader_create": (Pointer, [Pointer, ctypes.c_char_p, Pointer]),
    "unit_reader_dispose": (None, [Pointer]),
    "unit_reader_dependencies_apply_f": (ctypes.c_bool, [Pointer, Pointer, VisitObject]),
    "unit_dependency_get_kind": (ctypes.c_int, [Pointer]),
    "unit_dependency_get_name": (Text, [Pointer]),
    "unit_dependency_get_filepath": (Text, [Pointer]),
    "record_reader_create": (Pointer, [Pointer, ctypes.c_char_p, Pointer]),
    "record_reader_dispose": (None, [Pointer]),
    "record_reader_occurrences_apply_f": (ctypes.c_bool, [Pointer, Pointer, VisitObject]),
    "occurrence_get_symbol": (Pointer, [Pointer]),
    "occurrence_get_roles": (ctypes.c_uint64, [Pointer]),
    "occurrence_get_line_col": (None, [Pointer, Pointer, Pointer]),
    "symbol_get_kind": (ctypes.c_int, [Pointer]),
    "symbol_get_name": (Text, [Pointer]),
    "symbol_get_usr": (Text, [Pointer]),
}


class Index:
    """The compiler's index of the files of Sources: definitions by symbol, and references to them."""

    def __init__(self, store):
        compiler = pathlib.Path(shutil.which("swiftc") or fail("there is no swiftc")).resolve()
        library = next(iter(sorted((compiler.parent.parent / "lib").glob("libIndexStore.*"))), None)
        self.library = ctypes.CDLL(str(library or fail("the tool chain has no libIndexStore")))
        for name, (result, arguments) in FUNCTIONS_OF_INDEX.items():
            function = getattr(self.library, f"indexstore_{name}")
            function.restype, function.argtypes = result, arguments
        self.store = self("store_create", str(store).encode(), None)
        if not self.store:
            fail(f"there is no index in {store}: swift build --build-tests")
        self.definitions, self.references = {}, collections.defaultdict(set)
        self.records = {}
        self("store_units_apply_f", self.store, 1, None, VisitName(self.visit_unit))
        for path, record in sorted(self.records.items()):
            self.read(path, record)

    def __call__(self, name, *arguments):
        return getattr(self.library, f"indexstore_{name}")(*arguments)

    def visit_unit(self, _, name):
        unit = self("unit_reader_create", self.store, str(name).encode(), None)
        if unit:
            self("unit_reader_dependencies_apply_f", unit, None, VisitObject(self.visit_dependency))
            self("unit_reader_dispose", unit)
        return True

    def visit_dependency(self, _, dependency):
        if self("unit_dependency_get_kind", dependency) == RECORD:
            path = pathlib.Path(str(self("unit_dependency_get_filepath", dependency)))
            if path.is_relative_to(ROOT / "Sources") and path.suffix == ".swift" and path.exists():
                record = str(self("unit_dependency_get_name", dependency))
                # Of several builds of a file, the last.
                self.records[path] = newer(self.records.get(path), record, self.record_file)
        return True

    def record_file(self, record):
        return STORE / "v5/records" / record[-2:] / record

    def read(self, path, record):
        reader = self("record_reader_create", self.store, record.encode(), None)
        if not reader:
            return
        line, column = ctypes.c_uint(), ctypes.c_uint()

        def visit(_, occurrence):
            roles = self("occurrence_get_roles", occurrence)
            if not roles & (DEFINITION | REFERENCE) or roles & IMPLICIT and roles & DEFINITION:
                return True
            symbol = self("occurrence_get_symbol", occurrence)
            usr = str(self("symbol_get_usr", symbol))
            self("occurrence_get_line_col", occurrence, ctypes.byref(line), ctypes.byref(column))
            if roles & REFERENCE:
                self.references[usr].add((path, line.value, column.value))
            elif (kind := self("symbol_get_kind", symbol)) != EXTENSION:
                name = str(self("symbol_get_name", symbol))
                self.definitions[usr] = (path, line.value, name, kind)
            return True

        self("record_reader_occurrences_apply_f", reader, None, VisitObject(visit))
        self("record_reader_dispose", reader)


def newer(left, right, file):
    """The record that was written last."""
    if left is None or left == right:
        return right
    return max(left, right, key=lambda record: file(record).stat().st_mtime if file(record).exists() else 0)


def fail(text):
    sys.exit(f"check-layers: {text}")


def read_layers():
    """By module: its folders, lowest first."""
    layers, module = {}, None
    for line in LAYERS.read_text().splitlines():
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if words[0].startswith("["):
            module = words[0].strip("[]")
            layers[module] = []
        else:
            layers[module].append(words[0])
    return layers


def place(path):
    """The module and the folder of a file; a file beside the folders is in the highest layer."""
    parts = path.relative_to(ROOT / "Sources").parts
    return parts[0], parts[1] if len(parts) > 2 else None


def against(index, layers):
    """References that point up, as texts."""
    found = []
    for usr, (target, line, name, _) in index.definitions.items():
        module, folder = place(target)
        order = layers.get(module)
        if order is None:
            continue
        for path, at, _ in index.references.get(usr, ()):
            from_module, from_folder = place(path)
            if from_module == module and from_folder and rank(order, folder) > rank(order, from_folder):
                found.append(
                    f"{path.relative_to(ROOT)}:{at} uses {name}, of {target.relative_to(ROOT)}:{line}, which is a higher layer")
    return sorted(found)


def rank(order, folder):
    return order.index(folder) if folder in order else len(order)


def unlisted(layers):
    """Folders that the list lacks or that do not exist."""
    wrong = []
    for module, order in layers.items():
        folders = {path.name for path in (ROOT / "Sources" / module).iterdir()
                   if path.is_dir() and any(path.rglob("*.swift"))}
        wrong += [f"Sources/{module}/{name} is not in {LAYERS.name}" for name in sorted(folders - set(order))]
        wrong += [f"{LAYERS.name}: there is no Sources/{module}/{name}" for name in order if name not in folders]
    return wrong


def long_functions(index):
    """Functions of more than 70 lines, from the line of the name to the brace that closes it, as the formatter sets it."""
    wrong, texts = [], {}
    for path, start, name, kind in index.definitions.values():
        if kind not in FUNCTIONS or name.startswith(("getter:", "setter:")):
            continue
        lines = texts.setdefault(path, path.read_text().splitlines())
        if start > len(lines):
            continue
        count = line_count(lines, start)
        if count > LONGEST_FUNCTION:
            wrong.append(f"{path.relative_to(ROOT)}:{start} {name} has {count} lines: at most {LONGEST_FUNCTION}")
    return sorted(wrong)


def line_count(lines, start):
    """The lines of a declaration: up to the next line at its indentation that is neither deeper nor the end of its signature."""
    first = lines[start - 1]
    if " = " in first and not first.endswith("{"):
        return 1
    indentation = len(first) - len(first.lstrip())
    for number in range(start, len(lines)):
        line = lines[number]
        if line.strip() and len(line) - len(line.lstrip()) <= indentation and not line.lstrip().startswith((")", "#", "where")):
            return number - start + 2 if line.lstrip().startswith("}") else 1
    return 1


def main():
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    layers = read_layers()
    index = Index(STORE)
    wrong = unlisted(layers) + long_functions(index) + against(index, layers)
    if wrong:
        fail("\n".join(wrong))
    print(f"layers: {len(index.records)} files; no reference points up, no function is too long")


STORE = ROOT / ".build/debug/index/store"

if __name__ == "__main__":
    main()
