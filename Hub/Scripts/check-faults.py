#!/usr/bin/env python3
"""Causes faults around a hub while two devices write: at the end each has every task once, and both have the same state.

Without an argument all of them; the names of faults choose some. --rounds repeats each. The seed is printed; TALLY_SEED repeats it.
"""

import argparse
import contextlib
import os
import random
import shutil
import socket
import subprocess
import sys
import threading
import time

import postgresql
from devices import LIMIT, PROGRAMS, Device, Failure, Hub, require, require_equal


class Space:
    """Two devices in one space, and the tasks that were added on either."""

    def __init__(self, folder, hub, generator, wraps=((), ())):
        self.folder, self.generator, self.expected, self.count = folder, generator, set(), 0
        self.devices = [Device(folder / name, wrap=wrap) for name, wrap in zip(["laptop", "phone"], wraps)]
        self.add(self.devices[0])
        self.invitation = self.devices[0].run("sync", "setup", hub.address, "--insecure")["invitation"]

    def join(self, address=None):
        """Lets the second device join, perhaps by another hub of the same database."""
        behind = self.invitation.split("#", 1)[1]
        self.devices[1].run("sync", "join", f"{address}/#{behind}" if address else self.invitation, "--insecure")
        return self

    def add(self, device=None):
        self.count += 1
        title = f"task {self.count}"
        (device or self.generator.choice(self.devices)).run("add", title)
        self.expected.add(title)

    def write(self, seconds, meanwhile=lambda: None):
        """Adds tasks on either device, whose agents run, while something happens."""
        with self.devices[0].agent(), self.devices[1].agent():
            failures = []

            def happen():
                try:
                    meanwhile()
                except BaseException as failure:  # pylint: disable=broad-except
                    failures.append(failure)

            thread = threading.Thread(target=happen)
            thread.start()
            end = time.monotonic() + seconds
            while time.monotonic() < end or thread.is_alive():
                self.add()
                time.sleep(self.generator.uniform(0, 0.2))
            thread.join()
            if failures:
                raise failures[0]

    def finish(self, what):
        require_equal(self.devices, self.expected, what)
        return len(self.expected)


@contextlib.contextmanager
def database(folder, name="server", **options):
    server = postgresql.Server(folder / name, **options).create().start()
    try:
        yield server
    finally:
        if server.process:
            server.stop()


def migrated(server, name="hub"):
    address = server.database(name)
    migrate(address)
    return address


def migrate(address):
    subprocess.run([PROGRAMS / "tally-hub", "migrate", "--database", address], check=True, stdout=subprocess.DEVNULL)


def killed_at_each_step(folder, generator, rounds, place):
    """The hub is killed at its n-th system call, at a random n of each of its threads."""
    require(shutil.which("strace"), "strace is missing: apt-get install strace")
    calls = "pwrite64,pwritev,write,writev,fdatasync,sendto,sendmsg,epoll_ctl"
    # First without a kill, so that the hub has its tables.
    hub = Hub(*place)
    space = Space(folder, hub, generator).join()
    hub.stop()
    port, kills = hub.port, 0
    for _ in range(rounds * 12):
        wrap = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={calls}"]
        wrap += ["-e", f"inject={calls}:signal=SIGKILL:when={generator.randint(1, 15)}"]
        with contextlib.suppress(Failure):
            hub = Hub(*place, wrap=wrap, port=port)
            for device in space.devices:
                space.add(device)
                # It may answer, or be killed in between.
                device.attempt("sync", "now")
        kills += hub.died()
        hub.kill()
    hub = Hub(*place, port=port)
    count = space.finish("killed at each step")
    hub.stop()
    return f"killed {kills} times at a system call, {count} tasks"


def steps_on_lmdb(folder, generator, rounds):
    return killed_at_each_step(folder, generator, rounds, ["--data", folder / "hub"])


def steps_on_postgresql(folder, generator, rounds):
    with database(folder) as server:
        return killed_at_each_step(folder, generator, rounds, ["--database", migrated(server)])


def database_killed(folder, generator, rounds):
    with database(folder) as server:
        hub = Hub("--database", migrated(server))
        space = Space(folder, hub, generator).join()

        def kill():
            for _ in range(rounds):
                time.sleep(generator.uniform(0.2, 1.5))
                server.kill()
                time.sleep(generator.uniform(0, 1))
                server.start()

        space.write(1, kill)
        count = space.finish("a killed database")
        hub.stop()
        return f"killed {rounds} times, {count} tasks"


def primary_lost(folder, generator, rounds):
    """The primary is killed and its standby promoted, which may lack its last commits."""
    for number in range(rounds):
        part = folder / f"round-{number}"
        part.mkdir()
        part.chmod(0o755)
        with database(part, "primary") as primary:
            migrated(primary)
            standby = postgresql.Server(part / "standby").copy_of(primary).start()
            try:
                both = f"postgresql://postgres@127.0.0.1:{primary.port},127.0.0.1:{standby.port}/hub"
                hub = Hub("--database", f"{both}?target_session_attrs=read-write")
                space = Space(part, hub, generator).join()

                def fail_over():
                    time.sleep(generator.uniform(0.5, 2))
                    # What the standby does not get any more is lost with the primary.
                    standby.cut_off()
                    time.sleep(generator.uniform(0, 0.5))
                    primary.kill()
                    time.sleep(generator.uniform(0, 0.5))
                    standby.promote()

                space.write(4, fail_over)
                count = space.finish("a lost primary")
                hub.stop()
            finally:
                standby.stop()
    return f"{rounds} times, {count} tasks in the last one"


def database_restored(folder, generator, rounds):
    with database(folder) as server:
        hub = Hub("--database", migrated(server))
        space = Space(folder, hub, generator).join()
        for _ in range(rounds):
            space.write(1)
            server.stop()
            shutil.rmtree(folder / "backup", ignore_errors=True)
            shutil.copytree(server.data, folder / "backup", copy_function=shutil.copy2)
            server.start()
            space.write(2)
            server.kill()
            shutil.rmtree(server.data)
            shutil.copytree(folder / "backup", server.data)
            subprocess.run(["chown", "-R", "--reference", server.directory, server.data], check=True)
            server.data.chmod(0o700)
            server.start()
            space.write(1)
        count = space.finish("a restored database")
        hub.stop()
        return f"{rounds} times, {count} tasks"


def database_wiped(folder, generator, _):
    """Nobody has a token any more: a new space is set up, and nothing that a device has is lost."""
    with database(folder) as server:
        hub = Hub("--database", migrated(server))
        space = Space(folder, hub, generator).join()
        space.write(1)
        hub.stop()
        server.query("hub", "DROP SCHEMA tally_hub CASCADE")
        migrate(server.address("hub"))
        hub = Hub("--database", server.address("hub"), port=hub.port)
        laptop, phone = space.devices
        for device in space.devices:
            space.add(device)
            device.run("sync", "now", status=device.attempt("sync", "now"))
            device.run("sync", "leave")
        phone.run("sync", "join", laptop.run("sync", "setup", hub.address)["invitation"])
        count = space.finish("a wiped database")
        hub.stop()
        return f"{count} tasks"


def two_hubs(folder, generator, rounds):
    """Each device has its own hub; announcements are cut off again and again, and the hubs are killed by turns."""
    with database(folder) as server:
        address = migrated(server)
        hubs = [Hub("--database", address) for _ in range(2)]
        space = Space(folder, hubs[0], generator).join(hubs[1].address)

        def disturb():
            for number in range(rounds):
                time.sleep(generator.uniform(0.2, 1))
                server.query(
                    "postgres", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%tally_hub%' "
                    "AND pid <> pg_backend_pid()")
                hubs[number % 2].kill()
                time.sleep(generator.uniform(0, 0.5))
                hubs[number % 2].start()

        space.write(2, disturb)
        count = space.finish("two hubs")
        for hub in hubs:
            hub.stop()
        return f"killed {rounds} times, {count} tasks"


def three_servers(folder, generator, rounds):
    """A map divides spaces among three servers; one moves from server to server while it is written, and one server is killed."""
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(database(folder, f"server-{number}")) for number in range(3)]
        addresses, rules = [migrated(server) for server in servers], {"-": 0, **dict.fromkeys("56789", 1), **dict.fromkeys("abcdef", 2)}

        def write_rules():
            lines = [f"{prefix} {addresses[number]}" for prefix, number in rules.items()]
            (folder / "map").write_text("\n".join(lines) + "\n")

        write_rules()
        hub = Hub("--databases", folder / "map")
        spaces = {}
        while len(spaces) < 3:
            place = folder / f"space-{len(spaces)}-{generator.randrange(1 << 32):x}"
            place.mkdir()
            space = Space(place, hub, generator).join()
            space.id = space.devices[0].run("sync", "status")["space"]
            spaces.setdefault(rules.get(space.id[0], 0), space)
        moved = spaces[0]

        def move():
            for number in range(rounds):
                source, target = addresses[number % 3], addresses[(number + 1) % 3]
                words = [PROGRAMS / "tally-hub", "move", moved.id, "--from", source, "--to", target]
                subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
                rules[moved.id] = (number + 1) % 3
                write_rules()
                hub.stop()
                hub.start()
                subprocess.run([*words, "--finish"], check=True, stdout=subprocess.DEVNULL)
                count = sum(int(server.query("hub", f"SELECT count(*) FROM tally_hub.space WHERE id = '{moved.id}'")) for server in servers)
                require(count == 1, f"{count} databases have the space that was moved")

        moved.write(1, move)
        # A server that is lost stops its own spaces only.
        servers[1].kill()
        for number in [1, 2]:
            spaces[number].add()
            status = spaces[number].devices[0].attempt("sync", "now")
            require((status == 0) == (number == 2), f"server 1 is lost: a space of server {number} ends with {status}")
        servers[1].start()
        count = sum(space.finish("three servers") for space in spaces.values())
        hub.stop()
        return f"a space moved {rounds} times, a server killed, {count} tasks"


@contextlib.contextmanager
def network():
    """A network namespace that reaches this one through a pair of devices; needs root."""
    def ip(*words):
        subprocess.run(["ip", *words], check=True)

    name = f"tally-{os.getpid()}"
    outer, inner = f"t{os.getpid()}a", f"t{os.getpid()}b"
    ip("netns", "add", name)
    try:
        ip("link", "add", outer, "type", "veth", "peer", "name", inner, "netns", name)
        ip("addr", "add", "10.213.7.1/24", "dev", outer)
        ip("link", "set", outer, "up")
        ip("-n", name, "addr", "add", "10.213.7.2/24", "dev", inner)
        ip("-n", name, "link", "set", inner, "up")
        ip("-n", name, "link", "set", "lo", "up")
        yield name, outer
    finally:
        ip("netns", "del", name)


def network_cut(folder, generator, rounds):
    """One device is behind a network that is cut without a word, and comes back."""
    with network() as (name, link):
        hub = Hub("--data", folder / "hub", host="10.213.7.1")
        space = Space(folder, hub, generator, wraps=[(), ("ip", "netns", "exec", name)]).join()

        def cut():
            for _ in range(rounds):
                time.sleep(generator.uniform(0.2, 1))
                subprocess.run(["ip", "link", "set", link, "down"], check=True)
                time.sleep(generator.uniform(0.5, 3))
                subprocess.run(["ip", "link", "set", link, "up"], check=True)

        space.write(1, cut)
        count = space.finish("a cut network")
        hub.stop()
        return f"cut {rounds} times, {count} tasks"


def slow_connections(folder, generator, rounds):
    """Hundreds of connections send a request byte by byte, or nothing at all."""
    hub = Hub("--data", folder / "hub")
    space = Space(folder, hub, generator).join()
    request = b"POST /v1/accounts HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"
    connections = [socket.create_connection(("127.0.0.1", hub.port)) for _ in range(300)]

    def dawdle():
        for number in range(20 * rounds):
            for index, connection in enumerate(connections):
                if index % 3:
                    with contextlib.suppress(OSError):
                        connection.send(request[number % len(request):][:1])
            time.sleep(0.05)

    space.write(1, dawdle)
    count = space.finish("slow connections")
    for connection in connections:
        connection.close()
    hub.stop()
    return f"300 connections, {count} tasks"


def clock_off(folder, generator, _):
    """The clock of the hub is a year ahead, then a year behind."""
    require(shutil.which("faketime"), "faketime is missing: apt-get install faketime")
    count = 0
    for offset in ["+365d", "-365d"]:
        part = folder / offset[1:] / ("ahead" if offset[0] == "+" else "behind")
        part.mkdir(parents=True)
        hub = Hub("--data", part / "hub", wrap=["faketime", "-f", offset])
        space = Space(part, hub, generator).join()
        space.write(2)
        count += space.finish(f"a clock off by {offset}")
        # Under this program the hub's timers are off, too: it does not end by itself.
        hub.kill()
    return f"{count} tasks"


FAULTS = [
    steps_on_lmdb, steps_on_postgresql, database_killed, primary_lost, database_restored, database_wiped, two_hubs, three_servers,
    network_cut, slow_connections, clock_off,
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("faults", nargs="*", metavar="FAULT", help=", ".join(fault.__name__ for fault in FAULTS))
    parser.add_argument("--rounds", type=int, default=3, help="how often each")
    arguments = parser.parse_args()
    seed = int(os.environ.get("TALLY_SEED", random.randrange(1 << 32)))
    print(f"check-faults: TALLY_SEED={seed}", flush=True)
    unknown = set(arguments.faults) - {fault.__name__ for fault in FAULTS}
    require(not unknown, f"there is no fault {', '.join(unknown)}")
    for fault in FAULTS:
        if arguments.faults and fault.__name__ not in arguments.faults:
            continue
        start = time.monotonic()
        with postgresql.directory() as folder:
            done = fault(folder, random.Random(seed), arguments.rounds)
        print(f"{fault.__name__.replace('_', ' ')}: {done}; 0 lost, 0 doubled ({time.monotonic() - start:.0f} s)", flush=True)


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"check-faults: {failure}")
