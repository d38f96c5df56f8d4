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


def table(suite, report):
    """The suite's table as Markdown, and the names of the rows whose limit was exceeded."""
    rows, failures = TABLES[report["suite"]](suite, {result["name"]: result for result in report["results"]})
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    rows.insert(1, ["-" * width for width in widths])
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in rows]
    return "\n".join(lines) + "\n", failures


def short(value):
    """Three digits, or fewer after many zeros: repeated runs do not agree on more."""
    digits = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 1 else 3 if value >= 0.1 else 4
    return f"{value:,.{digits}f}"


# Of a limit's unit: nanoseconds for times, kilobytes for sizes.
UNITS = {"ms": 1e6, "MB": 1e3}


def floor_table(suite, results):
    rows, failures = [["operation, 1,000 tasks", "limit (p99)", "p50", "p99", "margin"]], []
    for row in suite["rows"]:
        measured = results[row["benchmark"]]["metrics"][row.get("metric", "wallClock")]
        limit, unit = row["limit"], row["unit"]
        p50, p99 = measured["p50"] / UNITS[unit], measured["p99"] / UNITS[unit]
        rows.append([row["operation"], f"{limit:,} {unit}", f"{short(p50)} {unit}", f"{short(p99)} {unit}",
                     f"{short(limit / max(p99, 1e-6))}×"])
        if p99 > limit:
            failures.append(f"{row['operation']} ({short(p99)} of {limit} {unit})")
    return rows, failures


# The number of tasks in the suite of peers.
TASK_COUNT = 100_000


def peers_table(suite, results):
    rows = [["work, 100,000 tasks", "peer", "Tally", "peer's", "peer ÷ Tally (p10–p90)", "target", "verdict"]]
    for row in suite["rows"]:
        metrics = results[row["benchmark"]]["metrics"]
        if row["benchmark"] == "room" or "against" in row:
            metric = row["metric"]
            other = results[row.get("against", row["benchmark"])]["metrics"][row.get("againstMetric", metric)]
            tally, peer = max(1, metrics[metric]["p50"]), other["p50"]
            unit = size if metric == "privateKilobytes" else lambda value: f"{value:,.0f} bytes"
            ratio, spread = peer / tally, ""
        else:
            tally, peer, unit = metrics["tallyNanoseconds"]["p50"], metrics["peerNanoseconds"]["p50"], duration
            ratios = metrics["peerByTallyThousandths"]
            ratio = ratios["p50"] / 1000
            spread = f" ({short(ratios['p10'] / 1000)}–{short(ratios['p90'] / 1000)})"
        target, verdict = judge(row, ratio)
        if "limitSeconds" in row:
            limit = row["limitSeconds"] * 1e9
            target = ", ".join(filter(None, [target, f"at most {duration(limit)}"]))
            if tally > limit:
                verdict = f"missed: {duration(tally)}"
            elif not verdict:
                verdict = "met"
        if "timesDocument" in row:
            document = results["room"]["metrics"]["documentBytesPerTask"]["p50"] * TASK_COUNT / 1024
            target = f"less than {row['timesDocument']} times the file"
            verdict = f"{'met' if tally < row['timesDocument'] * document else 'missed'}: {short(tally / document)}×"
        rows.append([row["operation"], row["peer"], unit(tally), unit(peer), short(ratio) + spread, target, verdict])
    return rows, []


def growth_table(suite, results):
    sizes = sorted({int(name.rpartition("-")[2]) for name in results})
    rows = [["p50"] + [f"{count:,} tasks" for count in sizes] + ["growth", "target", "verdict"]]
    for row in suite["rows"]:
        values = [results[f"{row['group']}-{count}"]["metrics"][row["metric"]]["p50"] for count in sizes]
        ratio = values[-1] / max(1, values[0])
        targets, is_met = [], True
        if "growth" in row:
            targets.append(f"at most {row['growth']}×")
            is_met = ratio <= row["growth"]
        if "limit" in row:
            targets.append(f"at most {in_unit(row, row['limit'])}")
            judged = [value for value, count in zip(values, sizes) if count == row.get("limitAt", count)]
            is_met = is_met and max(judged) <= row["limit"]
        rows.append([row["operation"]] + [in_unit(row, value) for value in values] + [
            f"{short(ratio)}×" if "unit" not in row else "", ", ".join(targets),
            ("met" if is_met else "missed") if targets else ""])
    return rows, []


def sync_table(suite, results):
    rows = [["work, 100,000 tasks", "p50", "p99", "without", "with ÷ without (p10–p90)", "target", "verdict"]]
    for row in suite["rows"]:
        metrics = results[row["benchmark"]]["metrics"]
        if "atMost" in row:
            with_it, without = metrics["tallyNanoseconds"], metrics["peerNanoseconds"]["p50"]
            shares = {name: 1000 / max(1, value) for name, value in metrics["peerByTallyThousandths"].items()}
            target, verdict = judge(row, 1 / shares["p50"])
            rows.append([row["operation"], duration(with_it["p50"]), duration(with_it["p99"]), duration(without),
                         f"{short(shares['p50'])} ({short(shares['p90'])}–{short(shares['p10'])})", target, verdict])
            continue
        measured, targets = metrics[row["metric"]], []
        is_met = all(measured[share] <= row.get(limit, measured[share])
                     for share, limit in [("p50", "limit"), ("p99", "limitOfP99")])
        if "limit" in row:
            targets.append(f"at most {in_unit(row, row['limit'])}")
        if "limitOfP99" in row:
            targets.append(f"p99 at most {in_unit(row, row['limitOfP99'])}")
        # Of a few repetitions the slowest is not a percentile.
        slowest = in_unit(row, measured["p99"]) if measured["count"] >= 100 else ""
        rows.append([row["operation"], in_unit(row, measured["p50"]), slowest, "", "", ", ".join(targets),
                     ("met" if is_met else "missed") if targets else ""])
    return rows, []


def cli_table(suite, results):
    sizes = sorted({int(name.rpartition("-")[2]) for name in results})
    rows = [["whole process, p50"] + [f"{program}, {count:,}" for count in sizes for program in ["tally", "task"]]
            + ["target", "verdict"]]
    for row in suite["rows"]:
        cells, target, verdict = [], "", ""
        times = [results.get(f"{row['name']}-{count}", {}).get("metrics") for count in sizes]
        for both in times:
            cells += [duration(both[program]["p50"]) if both else "" for program in ["tally", "peer"]]
        if "limitSeconds" in row and any(times):
            limit, longest = row["limitSeconds"] * 1e9, max(both["tally"]["p50"] for both in times if both)
            target = f"at most {duration(limit)}"
            verdict = "met" if longest <= limit else f"missed: {duration(longest)}"
        rows.append([row["operation"]] + cells + [target, verdict])
    return rows, []


def in_unit(row, value):
    unit = row.get("unit", "ns")
    if unit == "kB":
        return size(value)
    return duration(value * (1e6 if unit == "ms" else 1)) if unit != "bytes" else f"{value:,}"


def judge(row, ratio):
    """A target's text and the verdict; `atLeast` times as fast as the peer, or `atMost` that multiple of its time."""
    if "atLeast" in row:
        return f"at least {row['atLeast']}×", "met" if ratio >= row["atLeast"] else f"missed: {short(ratio)}×"
    if "atMost" in row:
        return (f"at most {row['atMost']}× its time",
                "met" if 1 / ratio <= row["atMost"] else f"missed: {short(1 / ratio)}× its time")
    return "", "" if ratio >= 1 else "slower" if "GRDB" in row["peer"] else ""


def duration(nanoseconds):
    for limit, factor, unit in [(1e3, 1, "ns"), (1e6, 1e3, "µs"), (1e9, 1e6, "ms")]:
        if nanoseconds < limit:
            return f"{short(nanoseconds / factor)} {unit}"
    return f"{short(nanoseconds / 1e9)} s"


def size(kilobytes):
    return f"{kilobytes:,} kB" if kilobytes < 1024 else f"{short(kilobytes / 1024)} MB"


def prove_limits(suite, report):
    """Ensures that each row of the floor can fail, with a measurement just over its limit."""
    for row in suite["rows"]:
        slow = copy.deepcopy(report)
        result = next(result for result in slow["results"] if result["name"] == row["benchmark"])
        result["metrics"][row.get("metric", "wallClock")]["p99"] = row["limit"] * UNITS[row["unit"]] * 1.01
        if len(table(suite, slow)[1]) == 0:
            raise SystemExit(f"bench: the limit of {row['operation']} cannot be exceeded")


TABLES = {"floor": floor_table, "peers": peers_table, "search": peers_table, "growth": growth_table, "sync": sync_table,
          "cli": cli_table}


def update_readme(root, is_check):
    """Puts the tables of the results in Benchmarks/Results into Benchmarks/README.md; with a check, returns the fault.

    Without a check, it first copies the results of the last runs to Benchmarks/Results.
    """
    kept, readme = root / "Benchmarks/Results", root / "Benchmarks/README.md"
    if not is_check:
        kept.mkdir(exist_ok=True)
        for file in sorted((root / ".build/bench/results").glob("*.json")):
            (kept / file.name).write_text(file.read_text())
    try:
        text = replace_section(readme.read_text(), "targets", targets(root, kept))
        for name in TABLES:
            text = replace_section(text, name, section(root, name, kept / f"{name}.json"))
    except KeyError as missing:
        return f"Benchmarks/Results lack {missing}: run the suite that has it, then make bench-readme"
    if is_check:
        return None if text == readme.read_text() else "Benchmarks/README.md differs from Benchmarks/Results: make bench-readme"
    readme.write_text(text)
    return None


def targets(root, kept):
    """Each row with a target, its result and the verdict, of all suites except the floor."""
    lines = []
    for name in ["peers", "search", "growth", "sync", "cli"]:
        if not (kept / f"{name}.json").exists():
            continue
        report = json.loads((kept / f"{name}.json").read_text())
        suite = json.loads((root / f"Benchmarks/Suites/{name}.json").read_text())
        rows = TABLES[name](suite, {result["name"]: result for result in report["results"]})[0]
        for row in rows[1:]:
            if row[-2]:
                against = f", against {row[1]}" if name in ["peers", "search"] else ""
                # For growth and whole processes the figures of every size, for synchronisation all of them.
                result = f"{row[4]}; {row[2]}" if name in ["peers", "search"] else " · ".join(cell for cell in row[1:-2] if cell)
                lines.append(f"| {row[0]}{against} | {row[-2]} | {result} | {row[-1]} |")
    return "\n".join(["| work | target | result | verdict |", "| --- | --- | --- | --- |"] + lines) + "\n"


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
