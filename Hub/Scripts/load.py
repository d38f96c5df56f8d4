#!/usr/bin/env python3
"""Measures a hub on LMDB and on PostgreSQL, beside pgbench, and puts the figures into Hub/README.md.

Everything runs on one machine: the hub, the database and the clients share its processors. --seconds is the time of each load.
"""

import argparse
import http.client
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

import postgresql
from devices import ROOT, Hub, require

RELEASE = ROOT / ".build/release"
README = ROOT / "Hub/README.md"
CLIENTS = [32, 128]
SPACES = 1_024
BATCH = 16
BODY = 256
# A segment has a header of 120 bytes, the body, and a tag and a signature.
SEGMENT = 120 + BODY + 64


def load(kind, *arguments, **options):
    """The figures of the generator of load."""
    words = [RELEASE / "HubLoad", kind, *map(str, arguments)]
    return json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True, **options).stdout)


def account(place):
    words = [RELEASE / "tally-hub", "account", "create", *place]
    return json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout)["token"]


def serve(place, *options):
    return Hub(*place, *options, "--requests-per-second", "1000000", "--burst", "1000000", "--spaces-per-account", "100000", program=RELEASE / "tally-hub")


def spaces(hub, account):
    """Creates spaces: a line for each, with its id and the token of its member."""
    connection = http.client.HTTPConnection(hub.host, hub.port)
    lines = []
    for _ in range(SPACES):
        space = secrets.token_hex(16)
        connection.request("POST", "/v1/spaces", json.dumps({"space": space}), {"Authorization": f"Bearer {account}"})
        lines.append(f"{space} {json.load(connection.getresponse())['token']}\n")
    connection.close()
    return "".join(lines)


def processor_seconds(process):
    """The processor time of a process and of its children that run."""
    ticks = 0
    children = subprocess.run(["pgrep", "-P", str(process)], capture_output=True, text=True).stdout.split()
    for number in [str(process), *children]:
        fields = pathlib.Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def append(place, server, clients, batch, seconds):
    """Devices append, each to a space of its own: requests a second, p50 and p99 in ms, and the processor time for one in µs: client, hub, database."""
    token, hub = account(place), serve(place)
    try:
        lines = spaces(hub, token)

        def processor():
            return [processor_seconds(hub.process.pid), processor_seconds(server.process.pid)]

        before = processor()
        result = load("append", "--port", hub.port, "--clients", clients, "--batch", batch, "--body", BODY, "--seconds", seconds, input=lines)
        requests = result["rate"] * seconds
        costs = [result["processor"], *((now - then) / requests * 1e6 for now, then in zip(processor(), before))]
        return result["rate"], result["p50"], result["p99"], costs
    finally:
        hub.stop()


def answers(place, clients, seconds):
    """Requests that need no store, a second."""
    hub = serve(place)
    try:
        return load("health", "--port", hub.port, "--clients", clients, "--seconds", seconds)["rate"]
    finally:
        hub.stop()


def pgbench(server, clients, seconds):
    """Plain inserts of the same bytes, by as many clients."""
    server.query("bench", "DROP TABLE IF EXISTS plain")
    server.query("bench", "CREATE TABLE plain (id bigserial PRIMARY KEY, body bytea NOT NULL)")
    script = server.directory / "insert.sql"
    script.write_text(f"INSERT INTO plain (body) VALUES (decode(repeat('5a', {SEGMENT}), 'hex'));\n")
    words = [postgresql.programs() / "pgbench", "-n", "-M", "prepared", "-c", clients, "-j", 2, "-T", int(seconds), "-f", script]
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
        return load(
            "devices", "--url", hub.address, "--account", token, "--directory", folder, "--tasks", tasks, "--changes", changes,
            "--metrics", f"http://127.0.0.1:{metrics}/metrics")
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
            plain, appends, empty, batches = {}, {}, {}, {}
            for clients in CLIENTS:
                # Once before the hub and once after it, since the machine may be busier at one time than at another.
                plain[clients] = [said("inserts", pgbench(server, clients, seconds))]
                appends[clients] = [said("appends", append(place, server, clients, 1, seconds)) for place in places]
                batches[clients] = [said("batches", append(place, server, clients, BATCH, seconds)) for place in places]
                empty[clients] = [said("empty", answers(place, clients, seconds)) for place in places]
                plain[clients].append(said("inserts", pgbench(server, clients, seconds)))
            memories = [said("waiting", waiting(place, waiters)) for place in places]
            relays = []
            for number, place in enumerate(places):
                with tempfile.TemporaryDirectory(dir=folder) as stores:
                    relays.append(said("devices", devices(place, stores, tasks, changes)))
        finally:
            server.stop()
    rows = []
    for clients in CLIENTS:
        plain_rate = sum(plain[clients]) / len(plain[clients])
        times = [[f"{p50:.1f}, {p99:.1f}" for _, p50, p99, _ in loads[clients]] for loads in [appends, batches]]
        rows += [
            (f"**{clients} connections**: durable appends a second, {SEGMENT} bytes each", [f"{rate:,.0f}" for rate, *_ in appends[clients]]),
            (f"÷ plain `INSERT`s of pgbench, {plain_rate:,.0f} a second", [f"{rate / plain_rate:.2f}" for rate, *_ in appends[clients]]),
            ("p50 and p99 of an append, ms", times[0]),
            ("processor for an append, µs: client, hub, database", [", ".join(f"{cost:.0f}" for cost in costs) for *_, costs in appends[clients]]),
            ("requests a second that store nothing (`/health`)", [f"{rate:,.0f}" for rate in empty[clients]]),
            (f"with {BATCH} segments in a request: segments a second", [f"{rate * BATCH:,.0f}" for rate, *_ in batches[clients]]),
            ("p50 and p99 of such a request, ms", times[1]),
            ("÷ plain `INSERT`s of pgbench, of one row each", [f"{rate * BATCH / plain_rate:.2f}" for rate, *_ in batches[clients]]),
        ]
    return rows + [
        (f"memory with {waiters:,} waiting clients, MB (without)", [f"{after:.0f} ({before:.0f})" for before, after in memories]),
        (f"uploading {tasks:,} tasks, s (requests)", [f"{r['uploadSeconds']:.2f} ({r['uploadRequests']:.0f})" for r in relays]),
        (f"joining with {tasks:,} tasks, s", [f"{r['joinSeconds']:.2f}" for r in relays]),
        (f"a change from device to device, {tasks:,} tasks each, without the 150 ms before sending, p50 and p99, ms", [f"{r['p50']:.0f}, {r['p99']:.0f}" for r in relays]),
    ]


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
