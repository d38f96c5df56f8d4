#!/usr/bin/env python3
"""Measures a hub on LMDB and on PostgreSQL, beside pgbench, and puts the figures into Hub/README.md.

Everything runs on one machine: the hub, the database and the clients share its processors. --seconds is the time of each load.
"""

import argparse
import json
import os
import pathlib
import re
import resource
import secrets
import subprocess
import sys
import tempfile
import time
import urllib.request

import postgresql
from devices import ROOT, Hub, require

RELEASE = ROOT / ".build/hub/release"
README = ROOT / "Hub/README.md"
CLIENTS = 32
SPACES = 1_000
BATCH = 16
BODY = 256
# A segment has a header of 120 bytes, the body, and a tag and a signature.
SEGMENT = 120 + BODY + 64


def load(hub, account, kind, *arguments, **options):
    words = [RELEASE / "HubLoad", kind, "--url", hub.address, "--account", account, *map(str, arguments)]
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True, **options)


def figures(done):
    return json.loads(done.stdout)


def account(place):
    words = [RELEASE / "tally-hub", "account", "create", *place]
    return json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout)["token"]


def serve(place, *options):
    return Hub(*place, *options, "--requests-per-second", "1000000", "--burst", "1000000", "--spaces-per-account", "100000", program=RELEASE / "tally-hub")


def post(hub, path, message, token):
    request = urllib.request.Request(
        hub.address + path, json.dumps(message).encode(), {"Authorization": f"Bearer {token}"}, method="POST")
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def processor_seconds(process):
    """The processor time of a process and of its children that run."""
    ticks = 0
    children = subprocess.run(["pgrep", "-P", str(process)], capture_output=True, text=True).stdout.split()
    for number in [str(process), *children]:
        fields = pathlib.Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def client_seconds():
    """The processor time of clients that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def wrk(seconds, *arguments):
    """Requests by wrk: rate, p50 and p99 in ms."""
    command = ["wrk", "-t", 2, "-c", CLIENTS, "-d", seconds, "--latency", *arguments]
    done = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout
    require("Non-2xx" not in done and "Socket errors" not in done, done)
    rate = float(re.search(r"Requests/sec: +([\d.]+)", done)[1])
    return rate, *(milliseconds(re.search(rf" {share}% +([\d.]+\w+)", done)[1]) for share in [50, 99])


def append(place, seconds, server):
    """Appends by wrk, each to one of many spaces: rate, p50 and p99 in ms, and the processor time for one in µs: client, hub, database."""
    token, hub = account(place), serve(place)
    try:
        words = []
        for _ in range(SPACES):
            space = secrets.token_hex(16)
            words += [space, post(hub, "/v1/spaces", {"space": space}, token)["token"]]
        def processor():
            return [client_seconds(), processor_seconds(hub.process.pid), processor_seconds(server.process.pid)]

        before = processor()
        rate, p50, p99 = wrk(seconds, "-s", ROOT / "Hub/Scripts/append.lua", hub.address, "--", BODY, *words)
        costs = [(now - then) / (rate * seconds) * 1e6 for now, then in zip(processor(), before)]
        return rate, p50, p99, costs
    finally:
        hub.stop()


def answers(place, seconds):
    """Requests that need no store, a second."""
    hub = serve(place)
    try:
        return wrk(seconds, f"{hub.address}/health")[0]
    finally:
        hub.stop()


def append_batches(place, seconds):
    """Appends by the own client, several segments with each request: segments a second, p50 and p99 of a request in ms."""
    token, hub = account(place), serve(place)
    try:
        result = figures(load(hub, token, "append", "--clients", CLIENTS, "--batch", BATCH, "--body", BODY, "--seconds", seconds))
        return result["rate"], result["p50"], result["p99"]
    finally:
        hub.stop()


def milliseconds(text):
    value, unit = re.fullmatch(r"([\d.]+)(us|ms|s)", text).groups()
    return float(value) * {"us": 0.001, "ms": 1, "s": 1000}[unit]


def pgbench(server, seconds):
    """Plain inserts of the same bytes, by as many clients."""
    server.query("bench", "CREATE TABLE plain (id bigserial PRIMARY KEY, body bytea NOT NULL)")
    script = server.directory / "insert.sql"
    script.write_text(f"INSERT INTO plain (body) VALUES (decode(repeat('5a', {SEGMENT}), 'hex'));\n")
    words = [postgresql.programs() / "pgbench", "-n", "-M", "prepared", "-c", CLIENTS, "-j", 2, "-T", int(seconds), "-f", script]
    words += ["-h", server.directory, "-p", server.port, "-U", "postgres", "bench"]
    done = subprocess.run(list(map(str, words)), check=True, capture_output=True, text=True)
    return float(re.search(r"tps = ([\d.]+)", done.stdout).group(1))


def connections(hub):
    words = ["ss", "-Htn", "state", "established", f"( sport = :{hub.port} )"]
    return len(subprocess.run(words, capture_output=True, text=True).stdout.splitlines())


def waiting(place, count):
    """The resident memory of a hub for which clients wait, in MB, and before."""
    token, hub = account(place), serve(place)

    def memory():
        status = pathlib.Path(f"/proc/{hub.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) / 1024

    before = memory()
    words = [RELEASE / "HubLoad", "wait", "--url", hub.address, "--account", token, "--clients", str(count)]
    clients = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        line = clients.stdout.readline()
        require(line, "the waiting clients ended")
        start = time.monotonic()
        while (found := connections(hub)) < count:
            require(time.monotonic() - start < 60, f"only {found} connections")
            time.sleep(1)
        return before, memory()
    finally:
        clients.stdin.close()
        clients.kill()
        clients.wait()
        hub.stop()


def devices(place, folder, tasks, changes):
    metrics = postgresql.free_port()
    token, hub = account(place), serve(place, "--metrics-port", str(metrics))
    try:
        return figures(load(
            hub, token, "devices", "--directory", folder, "--tasks", tasks, "--changes", changes,
            "--metrics", f"http://127.0.0.1:{metrics}/metrics"))
    finally:
        hub.stop()


def table(results):
    rows = ["| figure | LMDB | PostgreSQL |", "| --- | --- | --- |"]
    for name, cells in results:
        rows.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(rows)


def said(what, result):
    """Shows a result while the others are measured."""
    print(f"{what}: {result}", file=sys.stderr, flush=True)
    return result


def measure(seconds, waiters, tasks, changes):
    with postgresql.directory() as folder:
        server = postgresql.Server(folder / "server", {"shared_buffers": "256MB"}).create().start()
        try:
            server.database("bench")
            address = server.database("hub")
            subprocess.run([RELEASE / "tally-hub", "migrate", "--database", address], check=True, stdout=subprocess.DEVNULL)
            places = [["--data", str(folder / "hub")], ["--database", address]]
            plain = [said("inserts", pgbench(server, seconds))]
            appends = [said("appends", append(place, seconds, server)) for place in places]
            empty = [said("empty", answers(place, seconds)) for place in places]
            batches = [said("batches", append_batches(place, seconds)) for place in places]
            plain.append(said("inserts", pgbench_again(server, seconds)))
            memories = [said("waiting", waiting(place, waiters)) for place in places]
            relays = []
            for number, place in enumerate(places):
                with tempfile.TemporaryDirectory(dir=folder) as stores:
                    relays.append(said("devices", devices(place, stores, tasks, changes)))
        finally:
            server.stop()
    plain_rate = sum(plain) / 2
    return [
        (f"durable appends a second, {CLIENTS} clients, {SEGMENT} bytes each", [f"{rate:,.0f}" for rate, *_ in appends]),
        ("p50 and p99 of an append, ms", [f"{p50:.1f}, {p99:.1f}" for _, p50, p99, _ in appends]),
        (f"÷ plain `INSERT`s of pgbench, {plain_rate:,.0f} a second", [f"{rate / plain_rate:.2f}" for rate, *_ in appends]),
        ("processor for an append, µs: client, hub, database", [", ".join(f"{cost:.0f}" for cost in costs) for *_, costs in appends]),
        ("requests a second that store nothing (`/health`)", [f"{rate:,.0f}" for rate in empty]),
        (f"the same with {BATCH} segments in a request: segments a second", [f"{rate:,.0f}" for rate, _, _ in batches]),
        ("p50 and p99 of such a request, ms", [f"{p50:.1f}, {p99:.1f}" for _, p50, p99 in batches]),
        ("÷ plain `INSERT`s of pgbench, of one row each", [f"{rate / plain_rate:.2f}" for rate, _, _ in batches]),
        (f"memory with {waiters:,} waiting clients, MB (without)", [f"{after:.0f} ({before:.0f})" for before, after in memories]),
        (f"uploading {tasks:,} tasks, s (requests)", [f"{r['uploadSeconds']:.2f} ({r['uploadRequests']:.0f})" for r in relays]),
        (f"joining with {tasks:,} tasks, s", [f"{r['joinSeconds']:.2f}" for r in relays]),
        (f"a change from device to device, {tasks:,} tasks each, without the 150 ms before sending, p50 and p99, ms", [f"{r['p50']:.0f}, {r['p99']:.0f}" for r in relays]),
    ]


def pgbench_again(server, seconds):
    server.query("bench", "DROP TABLE plain")
    return pgbench(server, seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--waiters", type=int, default=10_000)
    parser.add_argument("--tasks", type=int, default=100_000)
    parser.add_argument("--changes", type=int, default=200)
    arguments = parser.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    require(most > arguments.waiters + 1_000, f"the limit of open files is {most}")
    results = table(measure(arguments.seconds, arguments.waiters, arguments.tasks, arguments.changes))
    print(results)
    text = README.read_text()
    marked = re.sub(r"(?s)(<!-- figures -->\n).*?(<!-- end -->)", lambda found: f"{found[1]}{results}\n{found[2]}", text)
    README.write_text(marked)


if __name__ == "__main__":
    os.environ.pop("TALLY_HUB_DATABASE", None)
    main()
