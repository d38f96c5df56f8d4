"""The goals of the suites' rows: which bound each key of a row sets, on which of its figures.

A row may say `known`, a dictionary with a limit for any of its bounds: a goal that is missed today fails only beyond that.
Every row that is compared with something is also held to its recorded cost relative to that: a peer, liblmdb, or the
same work on the smallest store. A time that has no peer is held to its recorded cost relative to the processor's pace,
which is measured just before it.
"""

import figures

# The kind of figure for a limit's unit: times are in nanoseconds.
KINDS = {"kB": "size", "bytes": "size"}


def name(row):
    """A row's name, which no other row of its suite has."""
    base = row.get("name") or row.get("benchmark") or row["group"]
    return f"{base}.{row['metric']}" if "metric" in row else base


def benchmarks(row, sizes):
    """The benchmarks that measure a row."""
    if "group" in row:
        # The first store is only opened.
        return [f"{row['group']}-{size}" for size in sizes[1:]]
    if "benchmark" in row:
        return list(dict.fromkeys([row["benchmark"], row.get("against", row["benchmark"])]))
    return [f"{row['name']}-{size}" for size in sizes if size <= row.get("largest", size)]


def relative(row, results, sizes):
    """A row's cost divided by that of its peer in the same run, or None."""
    metrics = [results[each]["metrics"] for each in benchmarks(row, sizes)]
    if "group" in row:
        values = [each[row["metric"]]["p50"] for each in metrics]
        return values[-1] / max(1, values[0])
    if "name" in row:
        return metrics[-1]["tally"]["p50"] / max(1, metrics[-1]["peer"]["p50"])
    if "against" in row or "againstMetric" in row:
        # Less than a megabyte of memory differs from run to run.
        least = 1024 if row["metric"] == "privateKilobytes" else 1
        return max(least, metrics[0][row["metric"]]["p50"]) / max(
            1, metrics[-1][row.get("againstMetric", row["metric"])]["p50"])
    if "peerByTallyThousandths" in metrics[0]:
        return 1000 / max(1, metrics[0]["peerByTallyThousandths"]["p50"])
    return None


def cost(row, results, sizes):
    """A time of a row without a peer, or of its largest store, in work that the processor does meanwhile; or None."""
    last = results[benchmarks(row, sizes)[-1] if "group" in row else benchmarks(row, sizes)[0]]
    is_time = row.get("unit", "ms") == "ms" and "Bytes" not in row.get("metric", "Bytes") and "against" not in row
    if not is_time or "againstMetric" in row or "pace" not in last:
        return None
    return last["metrics"][row["metric"]]["p50"] * last["pace"] / 1e3


def bounds(row, results, sizes):
    """Each goal of a row, by its key: its value, and the goal as `figures.judge_goal` takes it."""
    metrics = [results[each]["metrics"] for each in benchmarks(row, sizes)]
    ratio = relative(row, results, sizes)
    found = {}
    if "atLeast" in row:
        kind = "size" if "metric" in row else "ratio"
        found["atLeast"] = 1 / ratio, {"kind": kind, "atLeast": row["atLeast"], "what": "peer ÷ Tally"}
    if "atMost" in row:
        found["atMost"] = ratio, {"kind": "ratio", "atMost": row["atMost"], "what": "Tally ÷ peer"}
    if "growth" in row:
        found["growth"] = ratio, {"kind": "ratio", "atMost": row["growth"], "what": "growth"}
    if "limitSeconds" in row:
        metric = "tally" if "name" in row else "tallyNanoseconds"
        seconds = max(each[metric]["p50"] for each in metrics) / 1e9
        found["limitSeconds"] = seconds, {"kind": "time", "atMost": row["limitSeconds"], "what": "seconds"}
    for key, share in [("limit", "p50"), ("limitOfP99", "p99")]:
        if key in row:
            judged = metrics
            if "limitAt" in row:
                judged = [results[f"{row['group']}-{row['limitAt']}"]["metrics"]] if row["limitAt"] in sizes else []
            value = max((each[row["metric"]][share] for each in judged), default=0)
            found[key] = value, {"kind": KINDS.get(row.get("unit"), "time"), "atMost": row[key],
                               "what": f"{row['metric']} {share}"}
    if "timesDocument" in row:
        room = results["room"]["metrics"]["documentBytesPerTask"]["p50"]
        document = room * int(str(sizes[0]).rpartition("-")[2]) / 1024
        value = metrics[0][row["metric"]]["p50"] / document
        found["timesDocument"] = value, {"kind": "size", "atMost": row["timesDocument"], "what": "times the document"}
    return found


def costs(row, results, sizes):
    """The cost of a row relative to others of the same run: to its peer, and to the processor's pace."""
    found = {"relative": relative(row, results, sizes), "cost": cost(row, results, sizes)}
    return {key: value for key, value in found.items() if value is not None}


def verdicts(row, results, sizes, recorded, pace=1.0, is_loaded=False):
    """The verdicts of every goal and of the record on a row."""
    named = {"name": name(row), **{key: row[key] for key in ["waitsForDisk"] if key in row}}
    missing = [each for each in benchmarks(row, sizes) if each not in results]
    if missing:
        return [figures.Verdict(named["name"], f"was not measured: {', '.join(missing)}", None, None, "missed")]
    found = []
    for key, (value, goal) in bounds(row, results, sizes).items():
        if key in row.get("known", {}):
            goal = goal | {"known": row["known"][key]}
        found.append(figures.judge_goal(named, value, goal, pace, is_loaded))
    for key, value in costs(row, results, sizes).items():
        found.append(figures.judge_time(named, {key: value}, recorded.get(named["name"]), key, is_loaded))
    if not found:
        raise ValueError(f"the row {named['name']} has neither a goal nor anything that it is compared with")
    return found
