#!/usr/bin/env python3
"""Reads and writes the inputs kept from fuzzing: an object of names and Base64 in Tests/FuzzTests/Corpora/TARGET.json.

  Scripts/fuzz-corpora.py unpack TARGET DIRECTORY     writes each input to a file of its name in the directory
  Scripts/fuzz-corpora.py pack TARGET DIRECTORY       replaces the inputs by the files of the directory
"""

import base64
import json
import pathlib
import sys

CORPORA = pathlib.Path(__file__).resolve().parent.parent / "Tests/FuzzTests/Corpora"


def unpack(corpus, directory):
    directory.mkdir(parents=True, exist_ok=True)
    for name, contents in json.loads(corpus.read_text()).items():
        (directory / name).write_bytes(base64.b64decode(contents, validate=True))


def pack(corpus, directory):
    inputs = {path.name: base64.b64encode(path.read_bytes()).decode() for path in directory.iterdir()}
    if not inputs:
        sys.exit(f"fuzz-corpora: {directory} has no files: a corpus without inputs would test nothing")
    corpus.write_text(json.dumps(inputs, indent=2, sort_keys=True) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in ("pack", "unpack"):
        sys.exit(__doc__)
    action = pack if sys.argv[1] == "pack" else unpack
    action(CORPORA / f"{sys.argv[2]}.json", pathlib.Path(sys.argv[3]))
