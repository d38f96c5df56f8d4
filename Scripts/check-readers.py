#!/usr/bin/env python3
"""Lets other programs read files with a journal: mdb_stat, mdb_dump and py-lmdb.

A file that was closed is a plain one. A file that processes are writing can be read: each commit is visible at once, a
snapshot stays what it is, and after a kill nothing is missing. A store that was closed can be read on media that cannot be
written; one that was not is refused there.
"""

import argparse
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

import environment

environment.enter()

import lmdb

PROGRAM = environment.ROOT / ".build/debug/TallyFaults"
TALLY = environment.ROOT / ".build/debug/tally"
COUNT = 400


def fail(message):
    sys.exit(f"check-readers: {message}")


def work(directory, count, seed):
    """Starts a process that makes transactions; each stores a number one higher than the last one in `salts`."""
    return subprocess.Popen(
        [PROGRAM, "act", "journal-work", directory / "store", directory / "acknowledged", str(count), str(seed),
         "durable", "0", "plain"])


def acknowledged(directory):
    """The number of the last transaction that has returned."""
    try:
        words = [line.split() for line in (directory / "acknowledged").read_text().splitlines()]
    except FileNotFoundError:
        return 0
    return max((int(word[1]) for word in words if len(word) == 3 and word[0] == "durable"), default=0)


def opened(directory, **options):
    return lmdb.open(str(directory / "store"), max_dbs=16, map_size=1 << 26, **options)


def salts(transaction, database):
    """All numbers of a snapshot, which must be the first ones."""
    numbers = [int.from_bytes(key, "big") for key, _ in transaction.cursor(db=database)]
    if numbers != list(range(1, len(numbers) + 1)):
        fail(f"a snapshot has the numbers {numbers}")
    return len(numbers)


def entries(directory):
    """What mdb_stat says of the table of numbers."""
    output = subprocess.run(["mdb_stat", "-s", "salts", directory / "store"], check=True, capture_output=True, text=True)
    return int(output.stdout.split("Entries:")[1].split()[0])


def check_closed(directory):
    """A closed file: the same for mdb_stat, mdb_dump, py-lmdb, and without the journal."""
    last = acknowledged(directory)
    if entries(directory) != last:
        fail(f"mdb_stat counts {entries(directory)} of {last}")
    dump = subprocess.run(["mdb_dump", "-a", directory / "store"], check=True, capture_output=True).stdout
    with opened(directory, readonly=True) as file:
        table = file.open_db(b"salts")
        with file.begin() as transaction:
            if salts(transaction, table) != last:
                fail("py-lmdb finds other numbers")
    copy = directory / "copy"
    copy.mkdir()
    shutil.copy(directory / "store/data.mdb", copy)
    if subprocess.run(["mdb_dump", "-a", copy], check=True, capture_output=True).stdout != dump:
        fail("a copy of the data file alone differs")
    shutil.rmtree(copy)


def check_ended(writer, count):
    """A writer beside which something was done some times has ended without an error."""
    if writer.returncode:
        fail("the writer failed")
    if not count:
        fail("the writer ended before anything was done beside it")


def check_open(directory):
    """While a process writes: everything that has returned is visible at once, and a snapshot does not change."""
    writer = work(directory, COUNT, 2)
    with opened(directory, readonly=True) as file:
        table = file.open_db(b"salts")
        with file.begin() as old:
            first = salts(old, table)
            rounds = 0
            while writer.poll() is None:
                last = acknowledged(directory)
                with file.begin() as transaction:
                    if salts(transaction, table) < last:
                        fail(f"{last} has returned and cannot be seen")
                if rounds % 20 == 0 and entries(directory) < last:
                    fail(f"{last} has returned, and mdb_stat does not see it")
                rounds += 1
            if salts(old, table) != first:
                fail("a snapshot has changed")
    check_ended(writer, rounds)
    check_closed(directory)
    return rounds


def check_killed(directory):
    """After a kill nothing is missing; the process that opens the file next lets a reader keep its snapshot."""
    start = acknowledged(directory)
    writer = work(directory, 100_000, 3)
    while acknowledged(directory) < start + 30:
        if writer.poll() is not None:
            fail("the writer ended")
        time.sleep(0.01)
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    last = acknowledged(directory)
    if entries(directory) < last:
        fail("a killed process's commit is missing")
    with opened(directory, readonly=True) as file:
        table = file.open_db(b"salts")
        with file.begin() as transaction:
            found = salts(transaction, table)
            if found < last:
                fail("py-lmdb misses a killed process's commit")
            if work(directory, 50, 4).wait():
                fail("the file could not be opened beside a reader")
            if salts(transaction, table) != found:
                fail("recovery has changed a reader's snapshot")
    if work(directory, 1, 5).wait():
        fail("the file could not be opened")
    check_closed(directory)


def check_other_writer(directory):
    """A commit of another program in an open file is kept where the system does not crash: the next writer flushes it."""
    writer = work(directory, COUNT, 6)
    with opened(directory) as file:
        table = file.open_db(b"others")
        number = 0
        while writer.poll() is None:
            number += 1
            with file.begin(write=True, db=table) as transaction:
                transaction.put(b"%08d" % number, b"other")
            # A writer gives up if another program commits before each of its 16 attempts.
            time.sleep(0.05)
    check_ended(writer, number)
    if work(directory, 1, 7).wait():
        fail("the file could not be opened")
    with opened(directory, readonly=True) as file:
        table = file.open_db(b"others")
        with file.begin() as transaction:
            if transaction.stat(table)["entries"] != number:
                fail("another program's commits are missing")
    check_closed(directory)
    return number


def is_dirty(store):
    """Whether the newest header of the journal says that the file was not closed."""
    blocks = (store / "journal").read_bytes()[:8192]
    headers = [struct.unpack_from("<3Q", blocks, offset) for offset in (0, 4096)]
    return max(headers, key=lambda header: header[1])[2] == 2


def check_media(directory):
    """Media that cannot be written: a store that was closed can be read there, one that was not is refused."""
    store = directory / "tasks"
    mounting = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" "$0"', directory]
    if os.geteuid() or not shutil.which("unshare") or subprocess.run(mounting, capture_output=True).returncode:
        print("check-readers: read-only media are skipped, as mounting is not permitted here", file=sys.stderr)
        return
    workload = [PROGRAM, "act", "workload", store, directory / "tasks-acknowledged", "7"]
    mount = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'

    def count():
        return subprocess.run(
            ["unshare", "--mount", "sh", "-c", mount, store, TALLY, "--store", store, "count"],
            capture_output=True, text=True)

    subprocess.run([*workload, "30", "durable", "0"], check=True)
    closed = count()
    expected = subprocess.run([TALLY, "--store", store, "count"], check=True, capture_output=True, text=True).stdout
    if closed.returncode or closed.stdout != expected:
        fail(f"a closed store cannot be read on read-only media: {closed.stdout}{closed.stderr}")
    for _ in range(20):
        writer = subprocess.Popen([*workload, "100000", "durable", "0"])
        deadline = time.monotonic() + 10
        while not is_dirty(store) and writer.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        writer.kill()
        writer.wait()
        if is_dirty(store):
            break
    else:
        fail("a killed writer never leaves the file open")
    crashed = count()
    if crashed.returncode == 0 or "was not closed" not in crashed.stderr:
        fail(f"a store that was not closed is not refused: {crashed.stdout}{crashed.stderr}")
    subprocess.run([TALLY, "--store", store, "verify"], check=True, stdout=subprocess.DEVNULL)
    recovered = count()
    if recovered.returncode:
        fail(f"a recovered store cannot be read on read-only media: {recovered.stderr}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.parse_args()
    if not shutil.which("mdb_stat"):
        print("check-readers: skipped: there is no mdb_stat (Debian: lmdb-utils)", file=sys.stderr)
        return
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        if work(directory, 40, 1).wait():
            fail("the writer failed")
        check_closed(directory)
        rounds = check_open(directory)
        check_killed(directory)
        others = check_other_writer(directory)
        check_media(directory)
    print(f"check-readers: closed, open and killed files are read as they are, {rounds} snapshots beside a writer, "
          f"{others} commits of another program")


main()
