#!/usr/bin/env python3
"""Holds a hub's memory to a limit while members and strangers do their worst, and lets good devices in meanwhile.

A space gets as many cards as it may have, of 64 KB each, and a part and a segment of 8 MB. Then many connections ask for all of that and
read nothing of the answers; others send bodies without an end, with tokens and without. The hub must stay below 200 MB, and answer
a good device all the while. Last, strangers try wrong invitations and recovery codes as fast as they can: every good join succeeds.
"""

import argparse
import concurrent.futures
import contextlib
import http.client
import json
import os
import pathlib
import secrets
import socket
import struct
import sys
import tempfile
import threading
import time

import postgresql
from devices import Failure, Hub, PROGRAMS, require

LIMIT_IN_MB = 200


class Client:
    """Requests of one device, over one connection."""

    def __init__(self, port, token=None):
        self.port, self.token = port, token
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def send(self, method, path, body=None):
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        self.connection.request(method, path, body, headers)
        answer = self.connection.getresponse()
        return answer.status, answer.read()

    def post(self, path, body=None):
        status, answer = self.send("POST", path, body or {})
        require(status in (200, 201), f"POST {path}: {status} {answer}")
        return json.loads(answer)


def envelope(kind, space, replica, number, byte_count):
    """A sealed object that nobody can open, of a size."""
    body = byte_count - 184
    head = b"TLYS" + bytes([1, kind, 1, 0]) + bytes.fromhex(space) + bytes.fromhex(replica)
    head += struct.pack(">IQ", 1, number) + bytes(32) + bytes(32) + struct.pack(">I", body)
    return head + os.urandom(body + 64)


class Memory:
    """Watches how much memory a process has, from a thread of its own."""

    def __init__(self, process):
        self.process, self.most, self.isOver = process, 0, threading.Event()
        threading.Thread(target=self.watch, daemon=True).start()

    def now(self):
        text = pathlib.Path(f"/proc/{self.process}/status").read_text()
        return int(next(line.split()[1] for line in text.splitlines() if line.startswith("VmRSS"))) // 1024

    def watch(self):
        with contextlib.suppress(OSError, StopIteration):
            while not self.isOver.wait(0.05):
                self.most = max(self.most, self.now())


def unread(port, method, path, token, body=b"", length=None):
    """Sends a request on a connection of its own, and reads nothing of the answer."""
    connection = socket.create_connection(("127.0.0.1", port))
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    head = f"{method} {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body) if length is None else length}\r\n"
    if token:
        head += f"Authorization: Bearer {token}\r\n"
    connection.sendall((head + "\r\n").encode())
    connection.setblocking(False)
    with contextlib.suppress(OSError):
        while body:
            body = body[connection.send(body):]
            time.sleep(0)
    return connection


def fill(port, folder, cards):
    """A space with cards and large objects, and a member to ask for them."""
    account = Client(port).post("/v1/accounts")["token"]
    space = secrets.token_hex(16)
    owner = Client(port, Client(port, account).post("/v1/spaces", {"space": space})["token"])
    left = cards
    while left > 0:
        invitation = owner.post(f"/v1/spaces/{space}/invitations", {"role": "reader"})
        member = Client(port, Client(port).post(f"/v1/spaces/{space}/members", invitation)["token"])
        for _ in range(min(left, 50)):
            replica = secrets.token_hex(16)
            status, answer = member.send(
                "PUT", f"/v1/spaces/{space}/replicas/{replica}/cards/1", envelope(3, space, replica, 1, 65_000))
            require(status == 204, f"a card: {status} {answer}")
        left -= 50
    replica = secrets.token_hex(16)
    stream = f"/v1/spaces/{space}/replicas/{replica}"
    status, answer = owner.send("POST", f"{stream}/segments", envelope(1, space, replica, 1, 8_000_000))
    require(status == 200, f"a segment: {status} {answer}")
    part = f"{stream}/snapshots/1/0102030405060708/1/0"
    status, answer = owner.send("PUT", part, envelope(2, space, replica, 0, 8_000_000))
    require(status == 204, f"a part: {status} {answer}")
    return space, owner, {
        "cards": f"/v1/spaces/{space}/cards", "parts": part, "streams": f"{stream}/segments?bytes=8388608",
        "segments": f"/v1/spaces/{space}/segments?bytes=8388608", "heads": f"/v1/spaces/{space}/heads",
        "snapshots": f"/v1/spaces/{space}/snapshots"}


def attack(memory, what, connections, owner, space):
    """Waits until the hub has done what it can for the connections; a good device is answered meanwhile."""
    # Beside so many bytes the hub may ask even an owner to come back later.
    status, _ = owner.send("POST", f"/v1/spaces/{space}/invitations", {"role": "owner"})
    require(status in (200, 201, 429), f"an invitation beside {what}: {status}")
    good = Client(owner.port, owner.token)
    for _ in range(5):
        start = time.monotonic()
        status, _ = good.send("GET", f"/v1/spaces/{space}/heads")
        require(status in (200, 429), f"heads beside {what}: {status}")
        stranger, _ = Client(owner.port).send("GET", "/ready")
        require(stranger == 200, f"/ready beside {what}: {stranger}")
        require(time.monotonic() - start < 15, f"the hub does not answer beside {what}")
        time.sleep(0.2)
    require(memory.most < LIMIT_IN_MB, f"{memory.most} MB with {len(connections)} {what}")
    print(f"check-memory: {len(connections)} {what}: at most {memory.most} MB so far", flush=True)
    for connection in connections:
        connection.close()


def joins(port, space, owner, count):
    """Strangers with wrong invitations and codes do not keep good ones out."""
    invitations = [owner.post(f"/v1/spaces/{space}/invitations") for _ in range(count)]
    isOver = threading.Event()

    def wrong(number):
        client, refused = Client(port), 0
        while not isOver.is_set():
            if number % 2:
                body = {"verifier": secrets.token_hex(32), "tokenHash": secrets.token_hex(32), "signature": secrets.token_hex(64)}
                status, _ = client.send("POST", "/v1/recoveries", body)
            else:
                status, _ = client.send(
                    "POST", f"/v1/spaces/{space}/members", {"invitation": secrets.token_hex(32)})
            require(status in (401, 429), f"a wrong invitation or code: {status}")
            refused += status == 429
        return refused

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        strangers = [pool.submit(wrong, number) for number in range(4)]
        time.sleep(1)
        statuses = [Client(port).send("POST", f"/v1/spaces/{space}/members", invitation)[0] for invitation in invitations]
        isOver.set()
        limited = sum(stranger.result() for stranger in strangers)
    require(statuses == [201] * count, f"good joins beside strangers: {statuses}")
    require(limited > 0, "strangers are not limited")
    print(f"check-memory: {count} of {count} good joins beside strangers, of whom {limited} requests were limited")


def check(hub, folder, full):
    memory, port = Memory(hub.process.pid), hub.port
    space, owner, paths = fill(port, folder, 1_000 if full else 300)
    print(f"check-memory: {memory.now()} MB with the space alone", flush=True)
    for what, count in {"cards": 30, "parts": 100, "streams": 100, "segments": 100, "heads": 100, "snapshots": 100}.items():
        count = count if full else min(count, 40)
        attack(
            memory, f"unread {what}", [unread(port, "GET", paths[what], owner.token) for _ in range(count)], owner, space)
    body = b"[" + b" " * ((1 << 20) - 2)
    for what, token in {"no token": None, "a wrong token": secrets.token_hex(32), "a token": owner.token}.items():
        connections = [unread(port, "POST", "/v1/wait", token, body, 1 << 20) for _ in range(150 if full else 60)]
        attack(memory, f"unfinished waits with {what}", connections, owner, space)
    replica = secrets.token_hex(16)
    path, body = f"/v1/spaces/{space}/replicas/{replica}/segments", bytes(8 << 20)
    connections = [unread(port, "POST", path, owner.token, body, 16 << 20) for _ in range(40 if full else 12)]
    attack(memory, "unfinished segments", connections, owner, space)
    joins(port, space, owner, 20)
    memory.isOver.set()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="1,000 cards and all connections; a minute")
    parser.add_argument("--database", action="store_true", help="let the hub use a PostgreSQL server, which is started")
    arguments = parser.parse_args()
    if arguments.database:
        with postgresql.directory() as folder:
            server = postgresql.Server(folder / "server", {"fsync": "off"}).create().start()
            try:
                address = server.database("hub")
                require(os.spawnv(os.P_WAIT, PROGRAMS / "tally-hub", ["tally-hub", "migrate", "--database", address]) == 0,
                        "the tables cannot be made")
                serve(["--database", address], folder, arguments.full)
            finally:
                server.stop()
    else:
        with tempfile.TemporaryDirectory() as folder:
            serve(["--data", pathlib.Path(folder) / "hub"], folder, arguments.full)


def serve(place, folder, full):
    hub = Hub(*place)
    try:
        check(hub, folder, full)
    finally:
        hub.kill()


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"check-memory: {failure}")
