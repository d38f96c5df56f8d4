#!/usr/bin/env python3
"""Uses a server without a pause for some minutes and looks at its memory, which must stay flat: soak.py [--minutes 60].

Screens are loaded, tasks added, changed and deleted, bad requests sent; streams are followed and connect again where they
stopped, others are left without a word. The number of tasks stays about the same. The first third is for warming up; after
it the memory may not grow by more than 16 MB.
"""

import argparse
import http.client
import pathlib
import random
import re
import socket
import sys
import tempfile
import threading
import time
import urllib.parse

from web import Terminal, Web

GROWTH_IN_MEGABYTES = 16
FOLLOWER_COUNT = 6
LARGEST_TASK_COUNT = 300
SEED = 20261124
SCREENS = ["/inbox", "/upcoming", "/past", "/all", "/lists", "/tags", "/filters", "/search?q=task", "/statistics", "/history", "/sync",
           "/transfer", "/find?q=tag:tag1", "/export?format=csv", "/rows?view=nothing", "/tasks/nothing"]


def memory(web):
    """What the server occupies, in megabytes: all of it, and the part that is not of files, as the pages of a store are."""
    status = pathlib.Path(f"/proc/{web.process.pid}/status").read_text()
    return [int(re.search(rf"{name}:\s+(\d+)", status)[1]) / 1024 for name in ["VmRSS", "RssAnon"]]


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

    def change(self, **fields):
        self.request("POST", "/change", fields)

    def leave_stream(self):
        host, port = self.host.split(":")
        connection = socket.create_connection((host, int(port)))
        connection.sendall(f"GET /events?view=today HTTP/1.1\r\nHost: {self.host}\r\nCookie: {self.headers['Cookie']}\r\n\r\n".encode())
        connection.recv(100)
        connection.close()

    def follow(self, view, seconds, version):
        """Reads a stream from a version on for some time; returns the last version, and how many events came."""
        connection = http.client.HTTPConnection(self.host, timeout=60)
        connection.request("GET", f"/events?view={view}&after={version}&places=", None, self.headers)
        (answer, end, count) = (connection.getresponse(), time.monotonic() + seconds, 0)
        assert answer.status == 200, f"a stream of {view}: {answer.status}"
        while time.monotonic() < end and (line := answer.readline()):
            if line.startswith(b"id: "):
                (version, count) = (line[4:].decode().strip(), count + 1)
        connection.close()
        return version, count


class Follower(threading.Thread):
    """A browser that follows a view, and whose connection breaks every few seconds."""

    def __init__(self, client, number):
        super().__init__(daemon=True)
        self.client = client
        self.view = ["today", "all", "upcoming"][number % 3]
        self.numbers = random.Random(SEED + number)
        self.is_ending = threading.Event()
        (self.connections, self.events, self.failure) = (0, 0, None)

    def run(self):
        version = ""
        try:
            while not self.is_ending.is_set():
                version, count = self.client.follow(self.view, self.numbers.uniform(0, 8), version)
                self.connections += 1
                self.events += count
        except (AssertionError, OSError, http.client.HTTPException) as failure:
            self.failure = self.is_ending.is_set() or failure


def step(client, numbers):
    screen = client.request("GET", "/today")
    ids = re.findall(r'data-id="([^"]*)"', screen)
    count = int(re.search(r'data-count="(\d+)" data-first', screen)[1])
    kind = numbers.randrange(10)
    if not ids or kind < 3 and count < LARGEST_TASK_COUNT:
        client.request("POST", "/capture", {"text": f"task {numbers.random()} #tag{numbers.randrange(9)}", "place": "today"})
    elif kind < 6:
        client.change(action=numbers.choice(["advance", "today"]), id=numbers.choice(ids))
    elif kind < 8:
        client.change(action="delete", id=numbers.choice(ids))
    elif kind == 8:
        client.leave_stream()
    else:
        client.request("GET", numbers.choice(SCREENS))


def use(web, client, minutes, rate):
    """Takes steps for some minutes; returns their number, and the most memory in the first third and later."""
    numbers = random.Random(SEED)
    start = time.monotonic()
    (steps, warm, most, minute) = (0, 0, 0, 0)
    while (elapsed := time.monotonic() - start) < 60 * minutes:
        step(client, numbers)
        steps += 1
        total, own = memory(web)
        if elapsed < 20 * minutes:
            warm = max(warm, total)
        else:
            most = max(most, total)
        if elapsed >= 60 * minute:
            print(f"minute {minute}: {steps} steps, {total:.1f} MB, {own:.1f} MB of them its own", flush=True)
            minute += max(1, round(minutes / 12))
        if rate:
            time.sleep(max(0, steps / rate - (time.monotonic() - start)))
    return steps, warm, most


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=3, help="the duration (default: 3)")
    parser.add_argument("--rate", type=float, help="the most steps in a second (default: as many as it can)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tally-web-") as folder, Web(f"{folder}/store") as web:
        client = Client(web)
        followers = [Follower(client, number) for number in range(FOLLOWER_COUNT)]
        for follower in followers:
            follower.start()
        steps, warm, most = use(web, client, arguments.minutes, arguments.rate)
        for follower in followers:
            assert follower.failure is None, f"a stream of {follower.view} failed: {follower.failure!r}"
            assert follower.connections and follower.events, f"a stream of {follower.view} had no events"
            follower.is_ending.set()
        assert most - warm <= GROWTH_IN_MEGABYTES, f"the memory grew from {warm:.0f} to {most:.0f} MB in {steps} steps"
        assert Terminal(f"{folder}/store")("verify"), "the store is not sound"
    streams = sum(follower.connections for follower in followers)
    events = sum(follower.events for follower in followers)
    print(f"soak: {steps} steps, {streams} connections of streams with {events} events in {arguments.minutes:g} minutes; "
          f"memory {warm:.0f} MB, then {most:.0f} MB at most; the store is sound")


if __name__ == "__main__":
    try:
        main()
    except AssertionError as failure:
        sys.exit(f"soak: {failure}")
