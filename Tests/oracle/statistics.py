#!/usr/bin/env python3
"""The statistics of an exported store, computed from the tasks themselves.

An oracle for `tally stats --json`: another language, another time zone library (zoneinfo), and no counters. It reads a
document that `tally export` has written and prints the same keys, with exact cycle times. It is slow on purpose: every
number is a filter over a list.

    Tests/oracle/statistics.py EXPORT.json --now 2026-11-21T12:00:00Z --time-zone Europe/Istanbul
"""

import argparse
import functools
import json
import sys
from datetime import date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

SECOND = 1_000_000
DAY = 86_400 * SECOND
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
# Filters that the oracle understands, by the tags, the priority and the task of an event.
FILTERS = {
    "": lambda tags, priority, task: True,
    "priority=high": lambda tags, priority, task: priority == "high",
    "priority>=medium": lambda tags, priority, task: priority in ("medium", "high"),
    "-#work": lambda tags, priority, task: "work" not in tags,
    "#engine or has:due": lambda tags, priority, task: "engine" in tags or task["dueDate"] is not None,
}
# Those of which there are counters.
COUNTED = ["", "priority=high"]
WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]


@functools.cache
def instant(text):
    """Microseconds since 1970, and the written offset in microseconds."""
    moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    return (moment - EPOCH) // timedelta(microseconds=1), moment.utcoffset() // timedelta(microseconds=1)


def day_of(text):
    return (date.fromisoformat(text) - EPOCH.date()).days


def day_text(number):
    return (EPOCH.date() + timedelta(days=number)).isoformat()


class Zone:
    """Local days of a zone, found by asking for the local time of single instants."""

    def __init__(self, identifier, day_start):
        self.zone, self.day_start = ZoneInfo(identifier), day_start
        self.offsets, self.ends = {}, {}

    def local(self, microseconds):
        second = microseconds // SECOND
        if second not in self.offsets:
            moment = (EPOCH + timedelta(seconds=second)).astimezone(self.zone)
            self.offsets[second] = moment.utcoffset() // timedelta(microseconds=1)
        return microseconds + self.offsets[second]

    def day_of_local(self, local):
        return (local - self.day_start) // DAY

    def day(self, microseconds):
        return self.day_of_local(self.local(microseconds))

    def last_instant(self, number):
        """The last microsecond of a day; none for a day that the zone skipped."""
        if number not in self.ends:
            self.ends[number] = self.find_last_instant(number)
        return self.ends[number]

    def find_last_instant(self, number):
        step = 60 * SECOND * (15 if self.day_start % (900 * SECOND) == 0 else 1)
        noon = number * DAY + self.day_start + DAY // 2
        for low in range(noon + 2 * DAY, noon - 2 * DAY, -step):
            if self.day(low) == number:
                high = low + step
                while high - low > 1:
                    middle = (low + high) // 2
                    low, high = (middle, high) if self.day(middle) == number else (low, middle)
                return low
        return None

    def exists(self, number):
        # Noon nearly always exists; if not, every quarter hour, or minute, is checked.
        noon = number * DAY + self.day_start + DAY // 2
        return self.day(noon - (self.local(noon) - noon)) == number or self.last_instant(number) is not None


class Life:
    """The events of one task, or of one completion of a deleted task."""

    def __init__(self, created, completed, group, task=None):
        # A deleted task has nothing but what its completion says.
        self.task = task or {"dueDate": None, "state": "completed"}
        cancelled = self.task.get("cancelledAt")
        self.closed = instant(completed or cancelled)[0] if completed or cancelled else None
        self.created = instant(created)[0]
        self.completed, self.offset = instant(completed) if completed else (None, None)
        self.list_id, self.tags, self.priority = group["listID"], group["tags"] or [], group["priority"]


class Oracle:
    def __init__(self, document, arguments):
        self.document, self.arguments = document, arguments
        self.zone = Zone(arguments.time_zone, arguments.day_start * 60 * SECOND)
        self.now = instant(arguments.now)[0]
        self.today = self.zone.day(self.now)
        self.first_weekday = WEEKDAYS.index(arguments.week_start)
        only = arguments.list
        tag, filter = arguments.tag, FILTERS[arguments.filter]

        def counts(list_id, tags, priority, task):
            return (only is None or list_id == only) and (tag is None or tag in tags) and filter(tags, priority, task)

        self.tasks = [
            task for task in document["tasks"] if counts(task["listID"], task["tags"] or [], task["priority"], task)]
        self.lives = [life for life in self.all_lives() if counts(life.list_id, life.tags, life.priority, life.task)]
        self.done = [life for life in self.lives if life.completed is not None]
        for life in self.done:
            recorded = life.completed + life.offset
            life.local = recorded if arguments.as_recorded else self.zone.local(life.completed)
            life.day = self.zone.day_of_local(life.local)
        self.done_days = [life.day for life in self.done]

    def all_lives(self):
        # The export has a task's list, tags and priority of the completion only if they have changed since.
        elsewhere = {entry["taskID"]: entry for entry in self.document["completions"] if not entry["taskDeleted"]}
        for task in self.document["tasks"]:
            group = elsewhere.get(task["id"], task) if task["completedAt"] else task
            yield Life(task["createdAt"], task["completedAt"], group, task)
        for entry in self.document["completions"]:
            if entry["taskDeleted"]:
                yield Life(entry["createdAt"], entry["completedAt"], entry)

    # Periods: from the first day to the last, both included.

    def period(self, unit, number):
        if unit == "day":
            return number, number
        if unit == "week":
            # 1970-01-01 was a Thursday, the fourth day from Monday.
            first = number - (number + 3 - self.first_weekday) % 7
            return first, first + 6
        day = EPOCH.date() + timedelta(days=number)
        if unit == "month":
            first = day.replace(day=1)
            following = (first + timedelta(days=31)).replace(day=1)
        else:
            first = day.replace(month=1, day=1)
            following = first.replace(year=first.year + 1)
        return (first - EPOCH.date()).days, (following - EPOCH.date()).days - 1

    def before(self, unit):
        return self.period(unit, self.period(unit, self.today)[0] - 1)

    def count(self, days):
        return sum(days[0] <= day <= days[1] for day in self.done_days)

    # The answer, key by key.

    def answer(self):
        return {
            "asOf": self.instant_text(self.now),
            "timeZone": self.arguments.time_zone,
            "weekStart": self.arguments.week_start,
            "scope": self.scope(),
            "completed": self.completed(),
            "messages": self.messages(),
            "trend": {unit: self.trend(unit) for unit in ("month", "week")},
            "streak": self.streak(),
            "goal": self.goal(),
            "open": self.open(),
            "cycleTime": self.cycle_time(),
            "byWeekday": self.by_weekday(),
            "byHour": [sum(life.local % DAY // (3_600 * SECOND) == hour for life in self.profiled()) for hour in range(24)],
            "byList": self.by_list(),
            "byTag": self.by_tag(),
            "byPriority": self.by_priority(),
            "series": self.series(),
        }

    @staticmethod
    def instant_text(microseconds):
        moment = EPOCH + timedelta(microseconds=microseconds)
        precision = "seconds" if microseconds % SECOND == 0 else "milliseconds" if microseconds % 1_000 == 0 else "microseconds"
        return moment.isoformat(timespec=precision).replace("+00:00", "Z")

    def scope(self):
        names = {item["id"]: item["name"] for item in self.document["lists"]}
        arguments = self.arguments
        words = ([arguments.filter] if arguments.filter else []) + ([f"#{arguments.tag}"] if arguments.tag else [])
        conditions = [word for word in (arguments.list, arguments.tag, arguments.filter) if word]
        is_counted = len(conditions) < 2 and arguments.filter in COUNTED
        return {
            "listID": arguments.list, "list": names.get(arguments.list), "filter": " ".join(words) or None,
            "path": "counters" if is_counted else "ledger",
        }

    def completed(self):
        return {
            "today": self.count((self.today, self.today)),
            "thisWeek": self.count(self.period("week", self.today)),
            "lastWeek": self.count(self.before("week")),
            "thisMonth": self.count(self.period("month", self.today)),
            "lastMonth": self.count(self.before("month")),
            "thisYear": self.count(self.period("year", self.today)),
            "allTime": len(self.done),
        }

    def messages(self):
        counts = self.completed()
        words = [("today", "today"), ("thisWeek", "this week"), ("thisMonth", "this month")]
        return {key: f"{counts[key]} task{'' if counts[key] == 1 else 's'} completed {text}" for key, text in words}

    def trend(self, unit):
        this, last = self.period(unit, self.today), self.before(unit)
        current, previous = self.count(this), self.count(last)
        tasks = f"{current} task{'' if current == 1 else 's'} this {unit}"
        if not self.done:
            direction, message = "none", "No data available yet"
        elif previous == 0:
            direction, message = "none", f"No data from last {unit}"
        elif current == previous:
            direction, message = "same", f"{tasks}, same as last {unit}"
        else:
            direction = "up" if current > previous else "down"
            message = f"{tasks}, {direction} from {previous} last {unit}"
        return {"direction": direction, "message": message, "sameElapsed": self.same_elapsed(this, last)}

    def same_elapsed(self, this, last):
        recorded = self.arguments.as_recorded
        clock = self.zone.local(self.now) if recorded else self.now
        current = [life for life in self.done if this[0] <= life.day <= self.today]
        so_far = sum((life.local if recorded else life.completed) <= clock for life in current)
        passed = self.zone.local(self.now) - self.zone.day_start - self.today * DAY
        day = last[0] + self.today - this[0]
        earlier = [life for life in self.done if last[0] <= life.day <= min(last[1], day)]
        same = sum(life.day < day or life.local - self.zone.day_start - day * DAY <= passed for life in earlier)
        return {"current": so_far, "previous": same}

    def streak(self):
        busy = {day for day in self.done_days if day <= self.today}
        run, longest, ended = 0, 0, None
        for day in range(min(busy, default=self.today), self.today + 1):
            if day in busy:
                run += 1
            elif day < self.today and self.zone.exists(day):
                run = 0
            if run > longest:
                longest, ended = run, day
        return {"current": run, "longest": longest, "longestEnded": None if ended is None else day_text(ended)}

    def goal(self):
        if self.arguments.goal is None:
            return None
        target, unit = self.arguments.goal.split("/")
        target, current = int(target), self.period(unit, self.today)
        named = self.named_days() if self.arguments.first_day or self.arguments.last_day else None
        starts = ([min(self.done_days)] if self.done_days else []) + ([named[0]] if named else [])
        period = self.period(unit, min(starts)) if starts else (current[1] + 1, current[1])
        met, periods, run, longest, ended = 0, 0, 0, 0, None
        while period[0] <= current[1]:
            days = period
            period = self.period(unit, days[1] + 1)
            count = self.count(days)
            if count == 0 and not any(self.zone.exists(day) for day in range(days[0], days[1] + 1)):
                continue
            run = run + 1 if count >= target else run if days == current else 0
            if run > longest:
                longest, ended = run, days[1]
            if named is None or days[0] <= named[1] and named[0] <= days[1]:
                periods += 1
                met += count >= target
        completed = self.count(current)
        return {
            "target": target, "per": unit, "completed": completed, "isMet": completed >= target, "met": met,
            "periods": periods,
            "streak": {"current": run, "longest": longest, "longestEnded": None if ended is None else day_text(ended)},
        }

    def open(self):
        unfinished = [task for task in self.tasks if task["state"] not in ("completed", "cancelled")]
        planned = [
            task for task in self.tasks
            if task["state"] != "cancelled" and task["scheduledDate"] and day_of(task["scheduledDate"]) == self.today]
        return {
            "total": len(unfinished),
            "active": sum(task["state"] == "active" for task in unfinished),
            "overdue": sum(task["dueDate"] is not None and instant(task["dueDate"])[0] < self.now for task in unfinished),
            "scheduledToday": len(planned),
            "completedOfToday": sum(task["state"] == "completed" for task in planned),
        }

    def named_days(self):
        """The days of the series."""
        first, last, unit = self.arguments.first_day, self.arguments.last_day, self.arguments.by
        last = day_of(last) if last else max(self.today, day_of(first) if first else self.today)
        if first:
            return day_of(first), last
        if unit == "day":
            return last - 29, last
        start = self.period(unit, last)[0]
        for _ in range(11):
            start = self.period(unit, start - 1)[0]
        return start, last

    def profiled(self):
        if not self.arguments.first_day and not self.arguments.last_day:
            return self.done
        first, last = self.named_days()
        return [life for life in self.done if first <= life.day <= last]

    def cycle_time(self):
        seconds = sorted(max(0, (life.completed - life.created) // SECOND) for life in self.profiled())
        count = len(seconds)
        if count == 0:
            return {"count": 0, "medianSeconds": None, "p90Seconds": None}
        median = (seconds[(count - 1) // 2] + seconds[count // 2]) // 2
        return {"count": count, "medianSeconds": median, "p90Seconds": seconds[-(-9 * count // 10) - 1]}

    def by_weekday(self):
        weekdays = [(life.day + 3 - self.first_weekday) % 7 for life in self.profiled()]
        return [weekdays.count(weekday) for weekday in range(7)]

    def by_list(self):
        counts = {}
        for life in self.profiled():
            counts[life.list_id] = counts.get(life.list_id, 0) + 1
        known = sorted(self.document["lists"], key=lambda item: (item["sortOrder"], instant(item["createdAt"])[0], item["id"]))
        names = {None: None} | {item["id"]: item["name"] for item in known}
        order = list(names) + sorted(key for key in counts if key not in names)
        return [{"listID": key, "name": names.get(key), "completed": counts[key]} for key in order if key in counts]

    def by_tag(self):
        tags = {tag for life in self.profiled() for tag in life.tags}
        counts = [(tag, sum(tag in life.tags for life in self.profiled())) for tag in tags]
        counts.sort(key=lambda item: (-item[1], item[0].casefold().encode()))
        return [{"tag": tag, "completed": count} for tag, count in counts]

    def by_priority(self):
        priorities = [life.priority for life in self.profiled()]
        counts = [(name, priorities.count(name)) for name in ("high", "medium", "low", None)]
        return [{"priority": name, "completed": count} for name, count in counts if count > 0]

    def series(self):
        first, last = self.named_days()
        created_days = [self.zone.day(life.created) for life in self.lives]
        buckets, start, closed = [], first, None
        while start <= last:
            end = min(self.period(self.arguments.by, start)[1], last)
            there = [day for day in range(end, start - 1, -1) if self.zone.exists(day)]
            completed = self.count((start, end))
            if there:
                closed = self.zone.last_instant(there[0])
            elif closed is None:
                closed = next(filter(None, map(self.zone.last_instant, range(start - 1, start - 4, -1))))
            if there or completed:
                buckets.append({
                    "start": day_text(start),
                    "completed": completed,
                    "created": sum(start <= day <= end for day in created_days),
                    "open": sum(life.created <= closed and not (life.closed is not None and life.closed <= closed)
                                for life in self.lives),
                })
            start = end + 1
        return {"by": self.arguments.by, "from": day_text(first), "to": day_text(last), "buckets": buckets}


def parser():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("document", help="what `tally export` wrote")
    options.add_argument("--now", required=True)
    options.add_argument("--time-zone", default="UTC")
    options.add_argument("--week-start", choices=WEEKDAYS, default="monday")
    options.add_argument("--from", dest="first_day")
    options.add_argument("--to", dest="last_day")
    options.add_argument("--by", choices=["day", "week", "month", "year"], default="day")
    options.add_argument("--list", help="the list's id")
    options.add_argument("--tag")
    options.add_argument("--filter", choices=list(FILTERS), default="", help="one of a few filters")
    options.add_argument("--goal", help="as 5/day or 20/week")
    options.add_argument("--day-start", type=int, default=0, help="in minutes after midnight")
    options.add_argument("--as-recorded", action="store_true")
    return options


def main():
    arguments = parser().parse_args()
    with open(arguments.document, encoding="utf-8") as file:
        document = json.load(file)
    json.dump(Oracle(document, arguments).answer(), sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
