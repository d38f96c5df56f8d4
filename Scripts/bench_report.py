"""Turns the results of benchmarks into tables, and puts them into Benchmarks/README.md."""

import copy
import json
import os
import platform
import statistics
import subprocess
import tempfile
import time


def output(*command, cwd=None):
    try:
        return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def machine(root, folder):
    """What a reader needs to know to compare the figures with others."""
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
    """The median of writing 4 KiB and flushing them, in microseconds: what every durable commit waits for."""
    folder.mkdir(parents=True, exist_ok=True)
    times = []
    with tempfile.TemporaryFile(dir=folder) as file:
        for _ in range(200):
            started = time.perf_counter()
            os.pwrite(file.fileno(), bytes(4096), 0)
            (os.fdatasync if hasattr(os, "fdatasync") else os.fsync)(file.fileno())
            times.append(time.perf_counter() - started)
    return round(statistics.median(times) * 1e6)


def table(suite, report):
    """The suite's table as Markdown, and the names of the rows whose limit was exceeded."""
    rows, failures = TABLES[report["suite"]](suite, {result["name"]: result for result in report["results"]})
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    rows.insert(1, ["-" * width for width in widths])
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in rows]
    return "\n".join(lines) + "\n", failures


def short(value):
    """Three digits, or fewer behind many zeros: a repeated run agrees on no more."""
    digits = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 1 else 3 if value >= 0.1 else 4
    return f"{value:,.{digits}f}"


def floor_table(suite, results):
    rows, failures = [["operation, 1,000 tasks", "limit (p99)", "p50", "p99", "margin"]], []
    for row in suite["rows"]:
        # Times come in microseconds and sizes in kilobytes; limits are in milliseconds and megabytes.
        measured = results[row["benchmark"]]["metrics"][row.get("metric", "time")]
        p50, p99, limit, unit = measured["p50"] / 1000, measured["p99"] / 1000, row["limit"], row["unit"]
        rows.append([row["operation"], f"{limit:,} {unit}", f"{short(p50)} {unit}", f"{short(p99)} {unit}",
                     f"{short(limit / max(p99, 1e-6))}×"])
        if p99 > limit:
            failures.append(f"{row['operation']} ({short(p99)} of {limit} {unit})")
    return rows, failures


def prove_limits(suite, report):
    """Sees to it that each row of the floor can fail: what is measured is put just over its limit."""
    for row in suite["rows"]:
        slow = copy.deepcopy(report)
        result = next(result for result in slow["results"] if result["name"] == row["benchmark"])
        result["metrics"][row.get("metric", "time")]["p99"] = row["limit"] * 1001
        if len(table(suite, slow)[1]) == 0:
            raise SystemExit(f"bench: the limit of {row['operation']} cannot be exceeded")


TABLES = {"floor": floor_table}


def update_readme(root, is_check):
    """Puts the tables of the results in Benchmarks/Results into Benchmarks/README.md; what is wrong with it, if checked.

    Without a check, the results of the last runs are taken to Benchmarks/Results first.
    """
    kept, readme = root / "Benchmarks/Results", root / "Benchmarks/README.md"
    if not is_check:
        kept.mkdir(exist_ok=True)
        for file in sorted((root / ".build/bench/results").glob("*.json")):
            (kept / file.name).write_text(file.read_text())
    text = readme.read_text()
    for name in TABLES:
        text = replace_section(text, name, section(root, name, kept / f"{name}.json"))
    if is_check:
        return None if text == readme.read_text() else "Benchmarks/README.md differs from Benchmarks/Results: make bench-readme"
    readme.write_text(text)
    return None


def section(root, name, file):
    if not file.exists():
        return "Not measured yet.\n"
    report = json.loads(file.read_text())
    suite = json.loads((root / f"Benchmarks/Suites/{name}.json").read_text())
    machine = report["machine"]
    return (f"{table(suite, report)[0]}\nMeasured {machine['date']} at {machine['commit']}: {machine['processor']}, "
            f"{machine['memoryGiB']} GiB, {machine['system']}, {machine['filesystem']} (4 KiB written and flushed in "
            f"{machine['fdatasyncMicroseconds']} µs); {machine['swift']}; liblmdb {machine['liblmdb']}, "
            f"SQLite {machine['sqlite']}.\n")


def replace_section(text, name, content):
    begin, end = f"<!-- {name}: made by make bench-readme -->\n", f"<!-- {name}: end -->"
    before, _, rest = text.partition(begin)
    return before + begin + "\n" + content + "\n" + end + rest.partition(end)[2]
