#!/usr/bin/env python3
"""Uses a server without a pause for some minutes and looks at its memory, which must stay flat: soak.py [--minutes 60].

Screens are loaded, tasks added, changed and deleted, streams opened and left without a word, bad requests sent. The first
third is for warming up; after it the memory may not grow by more than 16 MB.
"""

import argparse
import http.client
import pathlib
import random
import re
import socket
import sys
import tempfile
import time
import urllib.parse

from web import Terminal, Web

GROWTH_IN_MEGABYTES = 16
SEED = 20261124


def memory(web):
    status = pathlib.Path(f"/proc/{web.process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024


class Client:
    """A browser that was let in, without a screen."""

    def __init__(self, web):
        self.host = web.address.removeprefix("http://")
        self.headers = {"Cookie": web.cookie(), "Origin": web.address, "Accept": "application/json"}

    def request(self, method, path, fields=None):
        connection = http.client.HTTPConnection(self.host, timeout=60)
        headers = self.headers | ({"Content-Type": "application/x-www-form-urlencoded"} if fields is not None else {})
        connection.request(method, path, urllib.parse.urlencode(fields) if fields is not None else None, headers)
        answer = connection.getresponse()
        body = answer.read().decode()
        connection.close()
        assert answer.status < 500, f"{method} {path}: {answer.status} {body[:300]}"
        return body

    def leave_stream(self):
        host, port = self.host.split(":")
        connection = socket.create_connection((host, int(port)))
        connection.sendall(f"GET /events?view=today HTTP/1.1\r\nHost: {self.host}\r\nCookie: {self.headers['Cookie']}\r\n\r\n".encode())
        connection.recv(100)
        connection.close()


def step(client, numbers):
    kind = numbers.randrange(8)
    ids = re.findall(r'data-id="([^"]*)"', client.request("GET", numbers.choice(["/today", "/inbox", "/upcoming", "/statistics"])))
    if kind < 2 or not ids:
        client.request("POST", "/capture", {"text": f"task {numbers.random()} #tag{numbers.randrange(9)}", "place": "today"})
    elif kind < 5:
        client.request("POST", "/change", {"action": numbers.choice(["advance", "today", "tomorrow"]), "id": numbers.choice(ids)})
    elif kind == 5:
        client.request("POST", "/change", {"action": "delete", "id": numbers.choice(ids)})
    elif kind == 6:
        client.leave_stream()
    else:
        client.request("GET", "/rows?view=nothing")
        client.request("GET", "/search?q=task")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=3, help="the duration (default: 3)")
    minutes = parser.parse_args().minutes
    numbers = random.Random(SEED)
    with tempfile.TemporaryDirectory(prefix="tally-web-") as folder, Web(f"{folder}/store") as web:
        client = Client(web)
        start = time.monotonic()
        (steps, warm, most) = (0, 0, 0)
        while time.monotonic() - start < 60 * minutes:
            step(client, numbers)
            steps += 1
            if time.monotonic() - start < 20 * minutes:
                warm = max(warm, memory(web))
            else:
                most = max(most, memory(web))
        growth = most - warm
        assert growth <= GROWTH_IN_MEGABYTES, f"the memory grew from {warm:.0f} to {most:.0f} MB in {steps} steps"
        assert Terminal(f"{folder}/store")("verify"), "the store is not sound"
    print(f"soak: {steps} steps in {minutes:g} minutes; memory {warm:.0f} MB, then {most:.0f} MB at most; the store is sound")


if __name__ == "__main__":
    try:
        main()
    except AssertionError as failure:
        sys.exit(f"soak: {failure}")
