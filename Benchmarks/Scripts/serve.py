"""Times the screens' server: one client asks the built tally-web for its screens, over one connection."""

import http.client
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import urllib.parse

import load

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "Web/Scripts"))

from web import Web  # noqa: E402

REPETITIONS = 60
WARM_UPS = 10


def run(bench, say, fail):
    """Asks for the screen of each row; returns results as in the other suites."""
    size = bench.sizes[-1]
    folder = bench.folder / "scratch/serve"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copytree(bench.folder / f"data/tally-{size}", folder / "store")
    os.environ["TALLY_WEB"] = build(bench, fail)
    os.sync()
    results = []
    with Web(str(folder / "store"), "--time-zone", "UTC") as web:
        client = Client(web)
        for row in bench.suite["rows"]:
            if "path" not in row:
                continue
            pace = load.pace()
            times = client.times(row["path"], row["shows"], 3 if bench.is_smoke else REPETITIONS)
            results.append({"name": row["benchmark"], "metrics": {"nanoseconds": bench.percentiles(times)},
                            "pace": round(pace, 3)})
            say(f"{row['benchmark']}: {results[-1]['metrics']['nanoseconds']['p50'] / 1e6:.1f} ms")
        memory = {"residentKilobytes": bench.percentiles([web_memory(web)])}
    shutil.rmtree(folder)
    return results + [{"name": "serve-memory", "metrics": memory}]


def build(bench, fail):
    """Builds the server; the path of its program."""
    done = subprocess.run(
        ["swift", "build", "-c", bench.configuration, "--product", "tally-web"], cwd=ROOT,
        env=os.environ | {"TALLY_SERVERS": "1"}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        fail(f"building tally-web failed\n{done.stdout[-3000:]}")
    return str(ROOT / ".build" / bench.configuration / "tally-web")


class Client:
    """A connection that stays open, as a browser's does."""

    def __init__(self, web):
        self.cookie = web.cookie()
        self.connection = http.client.HTTPConnection(urllib.parse.urlsplit(web.address).netloc, timeout=60)

    def get(self, path):
        self.connection.request("GET", path, headers={"Cookie": self.cookie, "Accept": "text/html"})
        answer = self.connection.getresponse()
        body = answer.read()
        assert answer.status == 200, f"{path}: {answer.status} {body[:300]}"
        return body

    def times(self, path, shown, count):
        """How long each of some answers takes, in nanoseconds; each shows at least so many rows."""
        if "LIST" in path:
            path = path.replace("LIST", re.search(rb'href="/lists/([0-9a-f-]{36})', self.get("/lists"))[1].decode())
        for _ in range(min(WARM_UPS, count)):
            rows = self.get(path).count(b'class="row')
            assert rows >= shown, f"{path} shows {rows} rows"
        times = []
        for _ in range(count):
            start = time.perf_counter_ns()
            self.get(path)
            times.append(time.perf_counter_ns() - start)
        return times


def web_memory(web):
    """The server's own memory in kB, without the pages of the store and of the program that the system has cached."""
    with open(f"/proc/{web.process.pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon"))
