"""Turns verdicts into the table of results, and puts it into Benchmarks/README.md."""

import json
import os
import platform
import statistics
import subprocess
import tempfile
import time

import figures
import goals


def output(*command, cwd=None):
    try:
        return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def machine(root, folder):
    """The machine, as a reader needs it to compare the figures with others."""
    cpu = "unknown"
    if os.path.exists("/proc/cpuinfo"):
        names = [line for line in open("/proc/cpuinfo") if line.startswith("model name")]
        cpu = names[0].split(":")[1].strip() if names else cpu
    changes = output("git", "status", "--porcelain", "--untracked-files=no", "-uno", cwd=root)
    return {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "commit": output("git", "rev-parse", "--short", "HEAD", cwd=root) + (" with changes" if changes else ""),
        "processor": f"{cpu}, {os.cpu_count()} cores",
        "memoryGiB": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "system": f"{platform.system()} {platform.release()}",
        "filesystem": output("stat", "-f", "-c", "%T", str(folder)),
        "fdatasyncMicroseconds": flush_time(folder),
        "swift": output("swift", "--version").split("\n")[0],
        "liblmdb": output("pkg-config", "--modversion", "lmdb"),
        "sqlite": output("pkg-config", "--modversion", "sqlite3"),
    }


def flush_time(folder):
    """The median of writing 4 KiB and flushing them, in microseconds: every durable commit waits for it."""
    folder.mkdir(parents=True, exist_ok=True)
    times = []
    with tempfile.TemporaryFile(dir=folder) as file:
        for _ in range(200):
            started = time.perf_counter()
            os.pwrite(file.fileno(), bytes(4096), 0)
            (os.fdatasync if hasattr(os, "fdatasync") else os.fsync)(file.fileno())
            times.append(time.perf_counter() - started)
    return round(statistics.median(times) * 1e6)


BEGIN, END = "<!-- results: made by make bench-readme -->", "<!-- results: end -->"
SUITES = ["floor", "peers", "search", "engine", "growth", "sync", "cli"]
HEADING = ["what", "against", "measured", "limit", "verdict"]


def lines(row, results, sizes, recorded):
    """The lines of a row in the table of results: one for each of its goals, or one for its recorded cost."""
    names = goals.benchmarks(row, sizes)
    against = row.get("peer", "its smallest store" if "group" in row and "growth" in row else "")
    if "name" in row:
        against = "Taskwarrior"
    if any(name not in results for name in names):
        return [[row["operation"], against, "not measured", "", ""]]
    found = []
    for key, (value, goal) in goals.bounds(row, results, sizes).items():
        goal = goal | ({"known": row["known"][key]} if key in row.get("known", {}) else {})
        verdict = figures.judge_goal({"name": goals.name(row)}, value, goal)
        limit = ("at least " if "atLeast" in goal else "at most ") + shown(row, key, row[key])
        if "known" in goal and verdict.state != "met":
            limit += f" (known: {shown(row, key, goal['known'])})"
        share = ", p99" if key == "limitOfP99" else ""
        found.append([row["operation"] + share, against, shown(row, key, value), limit, verdict.state])
    if not found:
        cost = goals.relative(row, results, sizes)
        measure = "memory" if row.get("metric") == "privateKilobytes" else "time"
        verdict = figures.judge_time(row | {"name": goals.name(row)}, {"relative": cost}, recorded.get(goals.name(row)))
        limit = "its record" if verdict.limit is None else f"at most {short(verdict.limit)}× its {measure}"
        state = "no record" if verdict.limit is None else verdict.state
        found.append([row["operation"], against, f"{short(cost)}× its {measure}", limit, state])
    return found


def shown(row, key, value):
    """A value or limit of a goal, with its unit."""
    if key in ["limit", "limitOfP99"]:
        return in_unit(row, value)
    if key == "limitSeconds":
        return duration(value * 1e9)
    return f"{short(value)}×" + (" its time" if key == "atMost" else "")


def in_unit(row, value):
    unit = row.get("unit", "ns")
    if unit == "kB":
        return size(value)
    return duration(value * (1e6 if unit == "ms" else 1)) if unit != "bytes" else f"{value:,} bytes"


def short(value):
    """Three digits, or fewer after many zeros: repeated runs do not agree on more."""
    digits = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 1 else 3 if value >= 0.1 else 4
    return f"{value:,.{digits}f}"


def duration(nanoseconds):
    for limit, factor, unit in [(1e3, 1, "ns"), (1e6, 1e3, "µs"), (1e9, 1e6, "ms")]:
        if nanoseconds < limit:
            return f"{short(nanoseconds / factor)} {unit}"
    return f"{short(nanoseconds / 1e9)} s"


def size(kilobytes):
    return f"{kilobytes:,} kB" if kilobytes < 1024 else f"{short(kilobytes / 1024)} MB"


def table(suite, report, recorded):
    """The lines of a suite as Markdown."""
    results = {result["name"]: result for result in report["results"]}
    rows = [line for row in suite["rows"] for line in lines(row, results, suite["dataSets"], recorded)]
    return aligned([HEADING] + rows)


def aligned(rows):
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    rows.insert(1, ["-" * width for width in widths])
    return "\n".join("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in rows)


def update_readme(root, recorded):
    """Puts the table of the last runs of all suites, which are kept under .build, into Benchmarks/README.md.

    Rows without a peer that meet their limits are only counted.
    """
    rows, alone, machines = [HEADING], lines_of_work(root, recorded.get("work", {})), []
    for name in SUITES:
        file = root / f".build/bench/results/{name}.json"
        report = json.loads(file.read_text()) if file.exists() else {"results": [], "machine": None}
        suite = json.loads((root / f"Benchmarks/Suites/{name}.json").read_text())
        results = {result["name"]: result for result in report["results"]}
        for row in suite["rows"]:
            (rows if has_peer(row) else alone).extend(lines(row, results, suite["dataSets"], recorded.get(name, {})))
        if report["machine"]:
            machines.append(measured_on(name, report["machine"]))
    met = [line for line in alone if line[-1] == "met"]
    rows += [line for line in alone if line not in met]
    readme = root / "Benchmarks/README.md"
    before, _, rest = readme.read_text().partition(BEGIN)
    summary = f"Of {len(alone)} rows without a peer, {len(met)} are within their limits; the table has the others."
    content = aligned(rows) + f"\n\n{summary}\n\n" + "\n".join(dict.fromkeys(machines))
    readme.write_text(f"{before}{BEGIN}\n\n{content}\n\n{END}{rest.partition(END)[2]}")


def has_peer(row):
    """Whether a row compares with another program; those of the command line do, with Taskwarrior."""
    return "peer" in row or "name" in row


def lines_of_work(root, recorded):
    """The lines of everyday work, each beside its yardstick."""
    file = root / ".build/bench/results/work-times.json"
    found = json.loads(file.read_text()) if file.exists() else {}
    rows = []
    for row in json.loads((root / "Benchmarks/Suites/work.json").read_text())["rows"]:
        against = "liblmdb, one create" if row.get("waitsForDisk") else "arithmetic"
        if row["name"] not in found:
            rows.append([row["operation"], against, "not measured", "", ""])
            continue
        cost, time = found[row["name"]]["relative"], duration(found[row["name"]]["microseconds"] * 1e3)
        verdict = figures.judge_time(row, found[row["name"]], recorded.get(row["name"]))
        limit = "" if verdict.limit is None else f"at most {short(verdict.limit)}×"
        rows.append([row["operation"], against, f"{short(cost)}× ({time})", limit, verdict.state if limit else "no record"])
    return rows


def measured_on(name, machine):
    return (f"{name}: {machine['date']} at {machine['commit']}, {machine['processor']}, {machine['memoryGiB']} GiB, "
            f"{machine['filesystem']} (4 KiB flushed in {machine['fdatasyncMicroseconds']} µs), "
            f"SQLite {machine['sqlite']}.  ")


def missing_rows(root):
    """The rows with a peer that the table in Benchmarks/README.md does not name."""
    content = (root / "Benchmarks/README.md").read_text().partition(BEGIN)[2].partition(END)[0]
    rows = [row for name in SUITES
            for row in json.loads((root / f"Benchmarks/Suites/{name}.json").read_text())["rows"] if has_peer(row)]
    return [row["operation"] for row in rows if f"| {row['operation']}" not in content]
