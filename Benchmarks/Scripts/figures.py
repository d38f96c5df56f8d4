"""Judges measured figures by the recorded ones, by goals and by limits.

A row of a suite is a dictionary of its name and its bounds; its figures are a dictionary with "relative" (the time divided
by that of the yardstick of the same run) and "counts" (instructions, flushes, bytes written, system calls).
"""

import dataclasses

# How far a cost relative to its yardstick may grow: other programs disturb the disk more than the processors.
FACTOR = 1.3
FACTOR_OF_DISK = 2.0
# How far a count may grow: it does not depend on the load.
FACTOR_OF_COUNTS = 1.05
# Ids are random, and how many pages lie side by side, which one call writes, differs with them.
FACTOR_OF_CALLS = 1.25
# A few more system calls or bytes than 5 % of very little are no fault.
SLACK = {"instructions": 2_000, "bytes": 512, "flushes": 0, "calls": 1}
# A goal of the kind "time" is judged only while the processors have this share of their recorded pace.
FAIR_PACE = 0.8


@dataclasses.dataclass
class Verdict:
    """The verdict of one bound on one row: its text, its value, the limit, and whether it holds."""
    row: str
    what: str
    value: float | None
    limit: float | None
    state: str  # "met", "missed", "known" or "not judged"

    @property
    def is_failure(self):
        return self.state == "missed"

    def __str__(self):
        if self.value is None:
            return f"{self.row}: {self.what}"
        limit = "" if self.limit is None else f", limit {self.limit:,.4g}"
        return f"{self.row}: {self.what} {self.value:,.4g}{limit}: {self.state}"


def judge_time(row, measured, recorded, key="relative", is_loaded=False):
    """The cost relative to the yardstick, beside the recorded one; while other programs load the machine, it misses nothing."""
    if recorded is None or key not in recorded:
        return Verdict(row["name"], "has no recorded time: make bench-record", None, None, "missed")
    factor = FACTOR_OF_DISK if row.get("waitsForDisk") else FACTOR
    what = "time by yardstick" if key == "relative" else "time by the processor's pace"
    verdict = bounded(row["name"], what, measured[key], recorded[key] * factor)
    is_slow = verdict.is_failure and verdict.value > verdict.limit
    return dataclasses.replace(verdict, state="not judged") if is_slow and is_loaded else verdict


def judge_counts(row, measured, recorded):
    """Each count beside the recorded one; a count that only one of both has is a failure."""
    name, verdicts = row["name"], []
    known = (recorded or {}).get("counts")
    if known is None:
        return [Verdict(name, "has no recorded counts: make bench-record-counts", None, None, "missed")]
    for kind in sorted(known.keys() | measured.keys()):
        if kind not in known or kind not in measured:
            side = "recorded" if kind not in known else "measured"
            verdicts.append(Verdict(name, f"{kind} are not {side}: make bench-record-counts", None, None, "missed"))
            continue
        factor = FACTOR_OF_CALLS if kind == "calls" else FACTOR_OF_COUNTS
        limit = known[kind] * factor + SLACK.get(kind, 0)
        verdicts.append(bounded(name, kind, measured[kind], limit))
    return verdicts


def judge_goal(row, value, goal, pace=1.0, is_loaded=False):
    """A goal: `atMost` or `atLeast`, of the kind "time", "ratio" or "size".

    A missed goal whose row says `known` fails only beyond that limit.
    """
    kind = goal["kind"]
    if kind not in ["time", "ratio", "size"]:
        raise ValueError(f"{row['name']}: a goal has no kind {kind}")
    limit, is_least = (goal["atLeast"], True) if "atLeast" in goal else (goal["atMost"], False)
    verdict = bounded(row["name"], goal.get("what", kind), value, limit, is_least)
    if not verdict.is_failure:
        return verdict
    if "known" in goal:
        within = bounded(row["name"], verdict.what, value, goal["known"], is_least)
        if not within.is_failure:
            return dataclasses.replace(within, state="known")
        verdict = within
    if kind == "time" and pace < FAIR_PACE or kind != "size" and is_loaded:
        return dataclasses.replace(verdict, state="not judged")
    return verdict


def bounded(row, what, value, limit, is_least=False):
    """A verdict on one value; anything that is not a number above 0 or equal to it is missed."""
    is_met = value >= limit if is_least else 0 <= value <= limit
    return Verdict(row, what, value, limit, "met" if is_met else "missed")


def chosen(rows, names):
    """The rows of these names, or all; an unknown name is an error."""
    unknown = sorted(set(names) - {row["name"] for row in rows})
    if unknown:
        raise ValueError(f"no row is named {', '.join(unknown)}")
    return [row for row in rows if not names or row["name"] in names]


def tried(rows, measure, judge, tries=3):
    """Measures rows and judges them; those that fail are measured again, up to three times in all.

    `measure` takes rows and returns figures by name; `judge` takes a row and its figures and returns verdicts. A row
    without figures fails. Returns the last verdicts of every row, by name, and the figures.
    """
    verdicts, figures, left = {}, {}, rows
    for _ in range(tries):
        measured = measure(left)
        for row in left:
            name = row["name"]
            if name in measured:
                figures[name] = measured[name]
                verdicts[name] = judge(row, measured[name])
            else:
                verdicts[name] = [Verdict(name, "was not measured", None, None, "missed")]
        left = [row for row in left if any(verdict.is_failure for verdict in verdicts[row["name"]])]
        if not left:
            break
    return verdicts, figures


def failures(verdicts):
    """The verdicts that fail, of all rows."""
    return [verdict for row in verdicts.values() for verdict in row if verdict.is_failure]
