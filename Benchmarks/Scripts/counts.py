"""Counts the cost of a piece of work, whatever else the machine does: instructions, system calls, flushes, bytes written.

A program that is counted calls counting_begin and counting_end around each piece (see CRawLMDB/counting.h): callgrind then
writes the instructions of all threads under the piece's name, and a list of system calls has a mark at both ends.
"""

import os
import re
import shutil
import subprocess

# The calls that make data durable.
FLUSHES = {"fsync", "fdatasync", "msync", "sync_file_range"}
WRITES = {"write", "pwrite64", "writev", "pwritev", "pwritev2", "copy_file_range"}
# Waiting and waking depend on the load, and so do clocks and memory for the allocator.
IGNORED = {"futex", "sched_yield", "clock_nanosleep", "restart_syscall", "madvise", "mprotect", "brk", "access",
           "rt_sigprocmask", "gettid", "epoll_wait", "poll", "nanosleep", "mmap", "munmap", "clone", "clone3",
           "rseq", "set_robust_list", "sigaltstack", "exit"}

MARK = re.compile(r'access\("/tally-row/(begin|end)/([^"]+)"')
CALL = re.compile(r"^\d+ +(?:<\.\.\. )?(\w+)(?: resumed>|\()")
RESULT = re.compile(r"= (-?\d+)(?: |$)")


class CountingFailed(Exception):
    pass


def missing_programs():
    return [name for name in ["valgrind", "strace", "strip"] if not shutil.which(name)]


def call(command, environment, cwd):
    # Otherwise Swift's hashes, and so the instructions, differ between processes.
    result = subprocess.run(command, env=environment | {"SWIFT_DETERMINISTIC_HASHING": "1"}, cwd=cwd,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode:
        raise CountingFailed(f"{' '.join(map(str, command[:6]))} failed with {result.returncode}\n{result.stdout[-2000:]}")


def instructions(command, folder, environment, cwd):
    """Instructions by piece, of all threads of the program."""
    for file in folder.glob("callgrind.out*"):
        file.unlink()
    # Valgrind gives up on the debugging information of Swift's linker, and counts without it.
    stripped = folder / "stripped"
    call(["strip", "--strip-debug", "-o", str(stripped), command[0]], environment, cwd)
    call(["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/callgrind.out", "--quiet", str(stripped),
          *command[1:]], environment, cwd)
    found = {}
    for file in folder.glob("callgrind.out*"):
        name, total = dump(file.read_text(errors="replace"))
        if name:
            found[name] = total
    return found


def dump(text):
    """The piece that a dump of callgrind names, and its instructions; the dump at the program's end names none."""
    name = re.search(r"^desc: Trigger: Client Request: (.+)$", text, re.MULTILINE)
    total = re.search(r"^(?:summary|totals): (\d+)", text, re.MULTILINE)
    if not name:
        return None, 0
    if not total:
        raise CountingFailed(f"callgrind wrote no total of {name[1]}")
    return name[1], int(total[1])


def system_calls(command, folder, environment, cwd):
    """Calls, flushes and bytes written by piece, of all threads and of the processes that the program starts."""
    file = folder / "system-calls"
    call(["strace", "-f", "-qq", "-s", "120", "-e", "signal=none", "-o", str(file), *command], environment, cwd)
    with file.open(errors="replace") as lines:
        return calls_by_piece(lines)


def calls_by_piece(lines):
    """Reads a list of system calls; a call in two parts counts once, where it ends."""
    found, current = {}, None
    for line in lines:
        mark = MARK.search(line)
        if mark:
            current = mark[2] if mark[1] == "begin" else None
            if current:
                found[current] = {"calls": 0, "flushes": 0, "bytes": 0}
            continue
        match = CALL.match(line)
        if current is None or not match or line.rstrip().endswith("<unfinished ...>") or match[1] in IGNORED:
            continue
        counts = found[current]
        counts["calls"] += 1
        counts["flushes"] += match[1] in FLUSHES
        result = RESULT.search(line)
        if match[1] in WRITES and result:
            counts["bytes"] += max(0, int(result[1]))
    return found


def count(program, rows, folder, environment=os.environ, cwd=None):
    """All counts by row; valgrind cannot run what starts another process, so such rows have system calls only."""
    folder.mkdir(parents=True, exist_ok=True)
    environment = dict(environment)
    counts = system_calls([program, "count", *(row["name"] for row in rows)], folder, environment, cwd)
    names = [row["name"] for row in rows if not row.get("startsProcess")]
    if names:
        for name, total in instructions([program, "count", *names], folder, environment, cwd).items():
            counts.setdefault(name, {})["instructions"] = total
    return counts
