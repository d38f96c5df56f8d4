#!/usr/bin/env python3
"""Sends thousands of requests, valid and invalid, to a hub, as Hub/openapi.json describes them (schemathesis, from PyPI).

No answer may be an error of the server, and each must be one that the description has. Half of the requests name a space of the
asking member, so that they reach the store. --seconds limits the time.
"""

import argparse
import json
import pathlib
import secrets
import subprocess
import sys
import tempfile
import urllib.request
import venv

import postgresql

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HUB = ROOT / ".build/debug/tally-hub"
TOOLS = ROOT / ".build/schemathesis"
VERSION = "4.32.5"
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


def install():
    program = TOOLS / "bin/schemathesis"
    if not program.exists():
        venv.create(TOOLS, with_pip=True)
        subprocess.run([TOOLS / "bin/pip", "-q", "install", f"schemathesis=={VERSION}"], check=True)
    return program


def post(address, path, body=None, token=None):
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    request = urllib.request.Request(address + path, json.dumps(body or {}).encode(), headers, method="POST")
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def description(folder, space):
    """The description with one space that exists."""
    api = json.loads((ROOT / "Hub/openapi.json").read_text())
    for methods in api["paths"].values():
        for operation in methods.values():
            for parameter in operation.get("parameters", []):
                if parameter["name"] == "space":
                    parameter["schema"] = {"type": "string", "enum": [space]}
    file = folder / "openapi.json"
    file.write_text(json.dumps(api))
    return file


def check(program, address, folder, seconds):
    account = post(address, "/v1/accounts")["token"]
    space = secrets.token_hex(16)
    member = post(address, "/v1/spaces", {"space": space}, account)["token"]
    for file in [ROOT / "Hub/openapi.json", description(folder, space)]:
        done = subprocess.run([
            program, "run", file, "--url", address, "-H", f"Authorization: Bearer {member}", "--phases", "coverage,fuzzing",
            "-c", CHECKS, "--continue-on-failure", "--max-time", str(seconds // 2), "--warnings", "off", "--no-color",
        ], cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(done.stdout + done.stderr)
        print(next(line.strip() for line in done.stdout.splitlines() if "generated" in line))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--database", action="store_true", help="let the hub use a PostgreSQL server, which is started")
    arguments = parser.parse_args()
    program = install()
    with tempfile.TemporaryDirectory() as folder:
        place = ["--data", pathlib.Path(folder) / "hub"]
        if not arguments.database:
            return serve(program, place, arguments.seconds)
    with postgresql.directory() as folder:
        server = postgresql.Server(folder / "server").create().start()
        try:
            place = ["--database", server.database("hub")]
            subprocess.run([HUB, "migrate", *place], check=True, stdout=subprocess.DEVNULL)
            serve(program, place, arguments.seconds)
        finally:
            server.stop()


def serve(program, place, seconds):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        hub = subprocess.Popen(
            [HUB, "serve", *place, "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True)
        try:
            line = next(line for line in hub.stdout if line.startswith("listening on port "))
            check(program, f"http://127.0.0.1:{line.split()[-1]}", folder, seconds)
            if hub.poll() is not None:
                sys.exit(f"check-api: the hub ended with {hub.returncode}")
        finally:
            hub.terminate()
            hub.wait(timeout=60)


if __name__ == "__main__":
    main()
