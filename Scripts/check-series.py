#!/usr/bin/env python3
"""Lives with random series day by day, and compares their open tasks with a model over dateutil and zoneinfo.

    Scripts/check-series.py [TALLY-TEST-HELPER]

A person with many repeating tasks moves between time zones, completes tasks late and early, leaves some out, snoozes
and moves others, gives tasks sub-tasks, and changes a series. The model knows a series by its rule, its start and the distances of its dates
from each occurrence; by hours, an occurrence has a time. TALLY_SERIES is the number of series; set TALLY_SEED to repeat a run.
"""

import os
import random
import re
import subprocess
import sys
import tempfile
from datetime import date, datetime, time, timedelta, timezone
from zoneinfo import ZoneInfo

import environment

environment.enter()

from dateutil.rrule import rrulestr

SEED = int(os.environ.get("TALLY_SEED", random.SystemRandom().randrange(1 << 30)))
SERIES, ACTS = int(os.environ.get("TALLY_SERIES", "200")), 12
ZONES = [
    "Europe/Berlin", "America/New_York", "America/Santiago", "Africa/Cairo", "Australia/Lord_Howe", "Asia/Kolkata",
    "Pacific/Apia", "Asia/Beirut", "America/St_Johns", "UTC"]
RULES = [
    "FREQ=DAILY", "FREQ=DAILY;INTERVAL=3", "FREQ=WEEKLY", "FREQ=WEEKLY;BYDAY=MO,WE,FR", "FREQ=MONTHLY;BYMONTHDAY=-1",
    "FREQ=MONTHLY;BYDAY=2TU", "FREQ=MONTHLY;BYMONTHDAY=28,29,30;BYSETPOS=-1", "FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU",
    "FREQ=DAILY;COUNT=5", "FREQ=WEEKLY;INTERVAL=2", "after 3 days", "after 1 week", "FREQ=HOURLY;INTERVAL=8",
    "FREQ=HOURLY", "FREQ=HOURLY;INTERVAL=5;BYDAY=MO,TU,TH,FR,SA", "FREQ=HOURLY;INTERVAL=7;COUNT=9",
    "FREQ=HOURLY;INTERVAL=30;BYMONTH=3,5", "FREQ=HOURLY;INTERVAL=6;BYDAY=MO,TU,WE,TH,FR;COUNT=12"]
# Times that clocks skip or repeat somewhere, and others.
TIMES = [time(0, 0), time(0, 15), time(1, 30), time(2, 10), time(2, 30), time(9, 0), time(17, 45), time(23, 59)]


def instant(local, zone):
    """The instant of a wall-clock time: the first of a repeated one, and a skipped one by the offset before."""
    return local.replace(tzinfo=ZoneInfo(zone), fold=0).astimezone(timezone.utc)


def wall(moment, zone):
    return moment.astimezone(ZoneInfo(zone)).replace(tzinfo=None)


def text(value):
    if value is None:
        return "-"
    return value.strftime("%Y-%m-%dT%H:%M:%SZ") if isinstance(value, datetime) else value.isoformat()


class Series:
    """A series, with distances from an occurrence: days, or days and a time as a timedelta from its midnight."""

    def __init__(self, rule, day, due, reminder):
        self.rule, self.start, self.day = rule, day, day
        self.planned, self.zone = timedelta(0), None
        self.due = due  # A number of days, a timedelta, or None.
        self.reminder = reminder
        self.open = None
        self.parts = []  # Of each sub-task: its instant, and its wall-clock time if that floats.
        self.first = None  # The first occurrence of a rule for hours, which has a time; so has the day of the open task.
        self.floating = set()  # The instants of the open task that stand for a wall-clock time of the series.

    def task(self, day, zone):
        zone = self.zone or zone
        if self.first:
            midnight, day = datetime.combine(self.start, time()) + (day - self.first), day.date()
        else:
            midnight = datetime.combine(day, time())
        due = self.due
        if isinstance(due, timedelta):
            due = instant(midnight + due, zone)
        elif due is not None:
            due = day + timedelta(days=due)
        reminder = instant(midnight + self.reminder, zone) if self.reminder is not None else None
        return {"planned": day + self.planned, "due": due, "reminder": reminder}

    def has_passed(self, day, now, zone):
        task, today = self.task(day, zone), wall(now, zone).date()
        if self.first:
            return (task["due"] or task["reminder"]) < now
        if isinstance(task["due"], datetime):
            return task["due"] < now
        if task["due"] is not None:
            return task["due"] < today
        if task["reminder"] is not None:
            return task["reminder"] < now
        return task["planned"] < today

    def count_hours(self, start):
        """Begins a series that repeats by hours on a day."""
        moment = self.reminder if self.due is None else self.due
        self.start = start
        self.first = self.day = datetime.combine(start, time()) + moment % timedelta(days=1)

    def count_off(self):
        """Leaves the number of tasks, where it is limited, as it was: those before the open one do not come again."""
        if "COUNT=" in self.rule:
            before = sum(day < self.day for day in rrulestr(self.rule, dtstart=self.first))
            self.rule = re.sub(r"COUNT=(\d+)", lambda found: f"COUNT={int(found[1]) - before}", self.rule)

    def is_same_instant(self, day, other, zone):
        times = [self.task(each, zone) for each in (day, other)]
        return self.first and len({each["due"] or each["reminder"] for each in times}) == 1

    def close(self, now, zone, gives_up=False):
        """Goes on to the next task; what is given up early counts from its own day."""
        former = self.day
        if self.rule.startswith("after"):
            count, unit = self.rule.split()[1:]
            closed = wall(now, zone).date()
            self.day = (max(closed, self.day) if gives_up else closed) + timedelta(days=int(count) * (7 if "week" in unit else 1))
        else:
            day = (lambda found: found) if self.first else datetime.date
            rule = rrulestr(self.rule, dtstart=self.first or datetime.combine(self.start, time()))
            following = rule.after(self.first and self.day or datetime.combine(self.day, time()))
            while following and (
                    self.has_passed(day(following), now, zone) or self.is_same_instant(day(following), former, zone)):
                following = rule.after(following)
            self.day = day(following) if following else None
        self.begin_task(zone)
        if self.day:
            self.parts = [self.moved(part, self.day - former, self.zone or zone) for part in self.parts]

    def moved(self, part, distance, zone):
        """A sub-task of the next task: the same time on the clock, at the same distance in days."""
        due, local = part
        local = (local or wall(due, zone)) + distance
        return instant(local, zone), None if self.zone else local

    def begin_task(self, zone):
        self.open, self.floating = self.task(self.day, zone) if self.day else None, set()
        self.settle(zone)

    def settle(self, zone, changed=True):
        """Lets the instants of the open task float that are those of the series, after a change of the task."""
        if not self.open or self.floating and not changed:
            return
        expected = self.task(self.day, zone)
        for name in ("due", "reminder"):
            if isinstance(self.open[name], datetime) and self.open[name] == expected[name]:
                (self.floating.discard if self.zone else self.floating.add)(name)
            elif self.open[name] != expected[name] and changed == name:
                self.floating.discard(name)

    def travel(self, zone):
        """Gives the open task the instants of another zone."""
        self.parts = [(instant(local, zone) if local else due, local) for due, local in self.parts]
        if self.open and self.floating:
            there = self.task(self.day, zone)
            self.open.update({name: there[name] for name in self.floating})

    def answer(self):
        if not self.open:
            return "ended"
        dates = [self.open[name] for name in ("planned", "due", "reminder")]
        return " ".join(text(date) for date in dates + sorted(due for due, _ in self.parts))


class Life:
    def __init__(self, numbers):
        self.numbers, self.lines, self.expected = numbers, [], []
        self.series = []
        self.now = datetime(2026, 3, 20, 6, tzinfo=timezone.utc)
        self.zone = "Europe/Berlin"

    def say_now(self):
        self.lines.append(f"now {text(self.now)} {self.zone}")

    def act(self, line, series):
        self.lines.append(line)
        self.expected.append((line, series.answer()))

    def begin(self):
        numbers, rule = self.numbers, self.numbers.choice(RULES)
        day = wall(self.now, self.zone).date() + timedelta(days=numbers.randrange(0, 9))
        if not rule.startswith("after"):
            midnight = datetime.combine(day, time())
            day = rrulestr(rule, dtstart=midnight).after(midnight, inc=True).date()
        at = numbers.choice(TIMES)
        moment = timedelta(hours=at.hour, minutes=at.minute)
        kind = numbers.randrange(4)
        if "HOURLY" in rule and kind == 1:
            kind = 2
        due = [None, 0, moment, moment + timedelta(days=numbers.randrange(0, 2))][kind]
        reminder = moment if kind == 0 and ("HOURLY" in rule or numbers.random() < 0.5) else None
        series = Series(rule, day, due, reminder)
        # A time that clocks skip on the first day cannot be said: the series has the later one.
        for name in ("due", "reminder"):
            value = getattr(series, name)
            if isinstance(value, timedelta):
                local = datetime.combine(day, time()) + value
                setattr(series, name, wall(instant(local, self.zone), self.zone) - datetime.combine(day, time()))
        if "HOURLY" in rule:
            series.count_hours(day)
        series.begin_task(self.zone)
        self.series.append(series)
        due, reminder = text(series.open["due"]), text(series.open["reminder"])
        self.act(f"add {rule.replace(' ', '_')} {day} {due} {reminder}", series)

    def step(self):
        numbers = self.numbers
        self.now += timedelta(minutes=numbers.choice([7, 50, 400, 1_430, 1_440, 4_000, 20_000]))
        if numbers.random() < 0.15:
            self.zone = numbers.choice(ZONES)
            for series in self.series:
                series.travel(self.zone)
        self.say_now()
        for number, series in enumerate(self.series):
            if series.open is None or numbers.random() > 0.5:
                continue
            self.change(number, series)

    def change(self, number, series):
        numbers, now = self.numbers, self.now
        kind, due = numbers.randrange(13), series.open["due"]
        is_timed = isinstance(due, datetime)
        if kind < 5:
            series.close(now, self.zone)
            self.act(f"done {number}", series)
        elif kind == 5:
            series.close(now, self.zone, gives_up=True)
            self.act(f"skip {number}", series)
        elif kind == 6:
            series.close(now, self.zone, gives_up=True)
            self.act(f"drop {number}", series)
        elif kind == 7 and series.open["reminder"]:
            series.open["reminder"] = now + timedelta(minutes=numbers.choice([10, 300, 2_000]))
            series.settle(self.zone, "reminder")
            self.act(f"snooze {number} {text(series.open['reminder'])}", series)
        elif kind == 8 and not series.open["reminder"]:
            series.open["planned"] += timedelta(days=numbers.choice([-1, 1, 2, 10]))
            series.settle(self.zone, False)
            self.act(f"plan {number} {series.open['planned']}", series)
        elif kind == 9 and is_timed:
            series.open["due"] = due + timedelta(minutes=numbers.choice([-90, 30, 600]))
            series.settle(self.zone, "due")
            self.act(f"due {number} {text(series.open['due'])}", series)
        elif kind == 10 and is_timed:
            zone = series.zone or self.zone
            untouched = series.task(series.day, self.zone)
            if due != untouched["due"] or series.open["planned"] != untouched["planned"]:
                return
            at = numbers.choice(TIMES)
            later = instant(datetime.combine(wall(due, zone).date(), at), zone)
            if wall(later, zone).date() != wall(due, zone).date():
                return
            if wall(later, zone) != wall(due, zone):
                start = series.day.date() if series.first else series.day
                series.due = wall(later, zone) - datetime.combine(start, time())
                if series.first:
                    series.count_off()
                    series.count_hours(start)
            series.open["due"] = later
            series.settle(self.zone, "due")
            self.act(f"series-due {number} {text(later)}", series)
        elif kind == 12 and len(series.parts) < 3:
            day = series.day.date() if series.first else series.day
            local = datetime.combine(day + timedelta(days=numbers.randrange(-2, 3)), numbers.choice(TIMES))
            part = instant(local, self.zone)
            series.parts.append((part, None))
            self.act(f"part {number} {text(part)}", series)
        elif kind == 11 and is_timed:
            zone = numbers.choice(ZONES)
            untouched = series.task(series.day, self.zone)
            series.zone = zone
            moved = series.task(series.day, self.zone)
            for name in ("due", "reminder"):
                if series.open[name] == untouched[name]:
                    series.open[name] = moved[name]
            series.settle(self.zone)
            self.act(f"zone {number} {zone}", series)


def main():
    helper = sys.argv[1] if len(sys.argv) > 1 else environment.ROOT / ".build/debug/TallyTestHelper"
    numbers, acts, begun = random.Random(SEED), 0, 0
    while begun < SERIES:
        life = Life(numbers)
        life.say_now()
        for _ in range(min(50, SERIES - begun)):
            life.begin()
        begun += len(life.series)
        for _ in range(2 * ACTS):
            life.step()
        with tempfile.TemporaryDirectory() as folder:
            asked = subprocess.run(
                [helper, "series", folder + "/store"], input="\n".join(life.lines) + "\n", capture_output=True, text=True)
        assert asked.returncode == 0, f"TALLY_SEED={SEED}: {asked.stderr}"
        answers = asked.stdout.splitlines()
        assert len(answers) == len(life.expected), f"TALLY_SEED={SEED}: {len(answers)} answers to {len(life.expected)} acts"
        for (line, expected), answer in zip(life.expected, answers):
            if answer != expected:
                number = line.split()[1]
                before = [other for other in life.lines if other.startswith("now") or other.split()[1] == number]
                raise SystemExit(
                    f"check-series: TALLY_SEED={SEED}: {line}\nis  {answer}\nnot {expected}\n" + "\n".join(before[-12:]))
        acts += len(answers)
    print(f"check-series: {acts} acts on {begun} series agree with dateutil and zoneinfo (TALLY_SEED={SEED})")


main()
