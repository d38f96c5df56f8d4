#!/usr/bin/env python3
"""Compares the answers of measures with those of Python, over the raw values: another language, other time zone code.

    Scripts/check-measures.py [--full] [TALLY-ENGINE-TEST-HELPER]

Random values are stored, many of them beside the instants at which clocks change; some are changed or deleted. Each
zone gets questions of every kind: totals, series by every period, profiles of weekdays and hours, streaks with rest
days, comparisons, quantiles. Here each answer is a loop over all values, whose local times `zoneinfo` says; no period
has a beginning that is computed, but each beginning that is answered must be one. Set TALLY_SEED to repeat a run.

There are few values and zones unless `--full` asks for 20,000 values in 120 zones.
"""

import argparse
import bisect
import itertools
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile
from datetime import date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo, available_timezones

ROOT = pathlib.Path(__file__).resolve().parent.parent
SEED = int(os.environ.get("TALLY_SEED", random.SystemRandom().randrange(1 << 30)))
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
SECOND = 1_000_000
HOUR, DAY = 3_600 * SECOND, 86_400 * SECOND
# Offsets of quarter and half hours, days that are skipped or come twice, midnights that clocks skip or show twice,
# winters with summer time, two hours of summer time, and local mean times. Each with a year of an unusual change.
UNUSUAL = {
    "Pacific/Apia": 2011, "Pacific/Kwajalein": 1993, "America/Sao_Paulo": 2012, "Asia/Beirut": 2010,
    "Africa/Casablanca": 2012, "Australia/Lord_Howe": 2008, "Antarctica/Troll": 2012, "Europe/Amsterdam": 1937,
    "Africa/Monrovia": 1972, "Asia/Kathmandu": 1986, "America/St_Johns": 2010, "Pacific/Chatham": 2009,
    "Asia/Manila": 1899, "America/Havana": 2012, "Europe/Dublin": 2013, "Asia/Gaza": 2011, "Africa/Cairo": 2014,
    "America/Caracas": 2016, "Pacific/Kiritimati": 1994, "Pacific/Fakaofo": 2011, "America/Asuncion": 2010,
    "America/Santiago": 2015, "Asia/Pyongyang": 2018, "Australia/Eucla": 2008, "Asia/Kolkata": 1945,
    "America/New_York": 2007, "Europe/Berlin": 2021, "Europe/London": 1941, "Asia/Tehran": 2017,
    "Pacific/Norfolk": 2015, "America/Scoresbysund": 2024, "Asia/Amman": 2012, "America/Juneau": 1983,
    "Europe/Paris": 1910, "UTC": 2020,
}
# How many values, unusual zones and other zones there are.
FULL, SHORT = (20_000, len(UNUSUAL), 120 - len(UNUSUAL)), (2_500, 9, 3)


def moment(instant):
    return EPOCH + timedelta(microseconds=instant)


def instant_of(when):
    return (when - EPOCH) // timedelta(microseconds=1)


class Zone:
    """The local times of a zone; each is found by asking `zoneinfo` for one instant."""

    def __init__(self, name):
        self.name, self.zone, self.shown = name, ZoneInfo(name), {}

    def local(self, instant):
        if instant not in self.shown:
            self.shown[instant] = moment(instant).astimezone(self.zone)
        return self.shown[instant]

    def offset(self, instant):
        return self.local(instant).utcoffset() // timedelta(microseconds=1)

    def day(self, instant):
        """The day that contains an instant: after clocks have gone back over midnight, it is the later one still."""
        local = self.local(instant)
        if local.fold == 0:
            return local.date()
        # A second time: the greatest time that the clocks have shown before they went back.
        low, high = instant - 26 * HOUR, instant
        later = local.replace(fold=0).utcoffset() // timedelta(microseconds=1)
        low = max(low, instant - (later - self.offset(instant)))
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.offset(middle) == later else (low, middle)
        return max(local.date(), self.local(high - 1).date()) if self.offset(high - 1) == later else local.date()

    def exists(self, day):
        """Whether a zone has not skipped a day: then its noon is on it."""
        noon = datetime(day.year, day.month, day.day, 12, tzinfo=self.zone)
        return self.local(instant_of(noon.astimezone(timezone.utc))).date() == day

    def period(self, instant, unit, first_weekday):
        """What identifies the period that contains an instant."""
        if unit == "hour":
            # A change of the offset begins an hour.
            local = self.local(instant)
            return (local.utcoffset(), local.date(), local.hour)
        return period_of(self.day(instant), unit, first_weekday)


class Days:
    """The time of days, which are the same in every zone."""

    name = "UTC"

    def period(self, instant, unit, first_weekday):
        local = moment(instant)
        return (local.date(), local.hour) if unit == "hour" else period_of(local.date(), unit, first_weekday)


def period_of(day, unit, first_weekday):
    if unit == "day":
        return day
    if unit == "week":
        return day - timedelta(days=(day.isoweekday() - first_weekday) % 7)
    months = {"month": 1, "quarter": 3, "year": 12}[unit]
    return date(day.year, (day.month - 1) // months * months + 1, 1)


def changes_of(zone, year):
    """The instants to the second at which the offset changes from the beginning of a year, within three."""
    changes, last = [], instant_of(datetime(year, 1, 1, tzinfo=timezone.utc))
    for step in range(1, 3 * 366):
        low, high = last, last + DAY
        if zone.offset(low) != zone.offset(high):
            end = high
            while high - low > SECOND:
                middle = (low + high) // (2 * SECOND) * SECOND
                low, high = (middle, high) if zone.offset(middle) == zone.offset(low) else (low, middle)
            changes.append(high)
            high = end
        last = high
    return changes


class Values:
    """The values by their ids, as they are now."""

    def __init__(self):
        self.by_id, self.groups = {}, ["a", "b", "ß", "dense"]

    def settle(self):
        self.all = sorted((instant, amount, group) for instant, amount, group in self.by_id.values())

    def of(self, measure, group, lower=None, upper=None):
        """The instants and amounts of a measure in a range."""
        first = 0 if lower is None else bisect.bisect_left(self.all, (lower - DAY,))
        for instant, amount, own in itertools.islice(self.all, first, None):
            if upper is not None and instant - DAY >= upper:
                return
            if group not in ("-", own):
                continue
            if measure == "days":
                instant = instant // DAY * DAY
            if (lower is None or lower <= instant) and (upper is None or instant < upper):
                yield instant, 1 if measure == "number" else amount


def random_values(numbers, count, zones):
    """Lines that store values, and what they store."""
    values, lines = Values(), []
    changes = [change for zone, year in zones for change in changes_of(zone, year)]

    def one():
        group = numbers.choice(values.groups)
        kind = numbers.random()
        if group == "dense":
            # Most days of two years have a value.
            instant = instant_of(datetime(2010, 6, 1, tzinfo=timezone.utc)) + numbers.randrange(900 * DAY)
        elif kind < 0.5:
            instant = numbers.choice(changes) + numbers.choice(
                [0, -1, 1, -HOUR, HOUR, HOUR // 4, numbers.randrange(-30 * HOUR, 30 * HOUR), -HOUR // 2])
        elif kind < 0.9:
            instant = instant_of(datetime(2006, 1, 1, tzinfo=timezone.utc)) + numbers.randrange(5_500 * DAY)
        else:
            instant = instant_of(datetime(1880, 1, 1, tzinfo=timezone.utc)) + numbers.randrange(80_000 * DAY)
        if numbers.random() < 0.2:
            instant = instant // (HOUR // 4) * (HOUR // 4)
        amount = numbers.choice([numbers.randrange(1, 200), numbers.randrange(-300, 300), numbers.randrange(1 << 44)])
        return instant, amount, group

    def save(number):
        values.by_id[number] = one()
        instant, amount, group = values.by_id[number]
        lines.append(f"save {number} {instant} {amount} {group}")

    for number in range(count):
        save(number)
    for number in numbers.sample(range(count), count // 10):
        if numbers.random() < 0.5:
            save(number)
        else:
            del values.by_id[number]
            lines.append(f"delete {number}")
    values.settle()
    return values, lines, changes


class Checker:
    """Questions with a closure each that looks at the answer."""

    def __init__(self, values, changes, numbers):
        self.values, self.changes, self.numbers = values, changes, numbers
        self.questions, self.now, self.count = [], 0, 0

    def ask(self, question, check):
        self.questions.append((question, check))

    def equal(self, question, expected):
        def check(answer):
            self.count += len(expected.split())
            assert answer == expected, f"is  {answer}\nnot {expected}"
        self.ask(question, check)

    def range(self, zone, longest, near):
        """A random range, often inside a quarter hour or beside a change of clocks, and sometimes empty."""
        if self.numbers.random() < 0.6 and near:
            lower = self.numbers.choice(near) - self.numbers.choice([0, 1, self.numbers.randrange(longest)])
        else:
            lower = self.numbers.choice(self.values.all)[0] - self.numbers.choice([0, 1, self.numbers.randrange(HOUR)])
        length = self.numbers.choice([0, 1, longest // 50]) if self.numbers.random() < 0.1 else longest // 2
        upper = lower + self.numbers.randrange(length + 1)
        if near and self.numbers.random() < 0.3:
            upper = max(upper, self.numbers.choice([n for n in near if n >= lower] or [upper]))
            upper = min(upper + self.numbers.choice([0, 1, HOUR // 3]), lower + longest)
        if self.numbers.random() < 0.3:
            lower, upper = (each // (HOUR // 4) * (HOUR // 4) for each in (lower, upper))
        return lower, upper

    def total(self, measure, group, lower, upper):
        total = sum(amount for _, amount in self.values.of(measure, group, lower, upper))
        self.equal(f"total {measure} {group} {lower} {upper}", str(total))

    def series(self, zone, measure, group, unit, lower, upper):
        weekday = self.numbers.choice([1, 1, 7, 6])
        clock = Days() if measure == "days" else zone

        def label(instant):
            return clock.period(instant, unit, weekday)

        sums = {}
        for instant, amount in self.values.of(measure, group, lower, upper):
            sums[label(instant)] = sums.get(label(instant), 0) + amount

        def check(answer):
            points = [tuple(map(int, point.split("="))) for point in answer.split()]
            self.count += len(points)
            if lower >= upper:
                assert not points, f"an empty range has the points {points}"
                return
            assert points, "there are no points"
            labels = [label(max(start, lower)) for start, _ in points]
            assert points[0][0] <= lower and points[-1][0] < upper, f"the points of {lower}..<{upper} are {points}"
            assert unit == "hour" or labels == sorted(set(labels)), f"the order of {labels}"
            for (start, value), own, following in zip(points, labels, points[1:] + [(upper, None)]):
                begins = label(start) == own and label(start - 1) != own
                assert begins, f"{start} is not the beginning of {own}"
                last = label(following[0] - 1)
                assert last == own, f"the period {own} at {start} ends with {last}"
                assert value == sums.get(own, 0), f"the sum of {own} is {value}, not {sums.get(own, 0)}"
            assert set(sums) <= set(labels), f"no points for {set(sums) - set(labels)}"

        self.ask(f"series {measure} {group} {zone.name} {unit} {weekday} {lower} {upper}", check)

    def profile(self, zone, measure, group, lower, upper):
        rows = [[0] * 24 for _ in range(7)]
        for instant, amount in self.values.of(measure, group, lower, upper):
            local = moment(instant) if measure == "days" else zone.local(instant)
            rows[local.weekday()][local.hour] += amount
        numbers = " ".join(str(each) for row in rows for each in row)
        self.equal(f"profile {measure} {group} {zone.name} {lower} {upper}", numbers)

    def set_now(self, now):
        self.now = now
        self.ask(f"now {now}", None)

    def streak(self, zone, measure, group):
        rest = sorted(self.numbers.sample(range(1, 8), self.numbers.choice([0, 0, 1, 2])))
        # What a calendar on the wall shows, for days that are the same everywhere.
        today, sums = (zone.local(self.now).date() if measure == "days" else zone.day(self.now)), {}
        for instant, amount in self.values.of(measure, group):
            day = moment(instant).date() if measure == "days" else zone.day(instant)
            if day <= today if measure == "days" else instant <= self.now:
                sums[day] = sums.get(day, 0) + amount
        current = longest = 0
        day = min(sums, default=today + timedelta(days=1))
        while day <= today:
            if sums.get(day, 0):
                current += 1
                longest = max(longest, current)
            elif day != today and day.isoweekday() not in rest and (measure == "days" or zone.exists(day)):
                current = 0
            day += timedelta(days=1)
        question = f"streak {measure} {group} {zone.name} {' '.join(map(str, rest))}".rstrip()
        self.equal(question, f"{current} {longest}")

    def sums_of(self, measure, group, *ranges):
        return " ".join(str(sum(amount for _, amount in self.values.of(measure, group, *each))) for each in ranges)

    def comparisons(self, zone, measure, group, lower, upper):
        before = (lower - (upper - lower), lower)
        self.equal(
            f"before {measure} {group} {lower} {upper}", self.sums_of(measure, group, (lower, upper), before))
        zoned = Zone("UTC") if measure == "days" else zone
        earlier = tuple(a_year_before(each, zoned) for each in (lower, upper))
        self.equal(
            f"year-before {measure} {group} {zone.name} {lower} {upper}",
            self.sums_of(measure, group, (lower, upper), earlier))

    def groups(self, measure, lower, upper):
        sums = {}
        for group in self.values.groups:
            sums[group] = sum(amount for _, amount in self.values.of(measure, group, lower, upper))
        order = sorted(self.values.groups, key=lambda group: group.encode())
        self.equal(
            f"groups {measure} - {lower} {upper}", " ".join(f"{group}={sums[group]}" for group in order if sums[group]))

    def quantile(self, group):
        fraction = self.numbers.choice([0, 0.5, 1, 0.95, self.numbers.random()])
        amounts = sorted(amount for _, amount in self.values.of("spread", group))
        expected = amounts[max(1, math.ceil(fraction * len(amounts))) - 1]

        def check(answer):
            self.count += 1
            limit = 0 if -128 <= expected <= 127 else abs(expected) * 0.008 + 1
            assert abs(int(answer) - expected) <= limit, f"is {answer}, not about {expected}"

        self.ask(f"quantile spread {group} {fraction}", check)

    def run(self, helper, lines):
        """Asks all questions at once; returns the number of those that were answered wrong."""
        text = "\n".join(lines + [question for question, _ in self.questions]) + "\n"
        with tempfile.TemporaryDirectory(prefix="tally-measures-") as directory:
            asked = subprocess.run([helper, "measure", directory], input=text, capture_output=True, text=True)
        answers, wrong = asked.stdout.splitlines(), 0
        checks = [(question, check) for question, check in self.questions if check]
        if asked.returncode or len(answers) != len(checks):
            sys.exit(f"{len(answers)} answers to {len(checks)} questions: {answers[-1:]} {asked.stderr[-2000:]}")
        for (question, check), answer in zip(checks, answers):
            try:
                check(answer)
            except AssertionError as error:
                wrong += 1
                if wrong <= 10:
                    print(f"check-measures: TALLY_SEED={SEED}: {question}\n{str(error)[:600]}", file=sys.stderr)
        return wrong


def a_year_before(instant, zone):
    """The same local date and time of the year before; for February 29 the beginning of March 1."""
    local = zone.local(instant).replace(tzinfo=None, fold=0)
    if (local.month, local.day) == (2, 29):
        earlier = datetime(local.year - 1, 3, 1)
    else:
        earlier = local.replace(year=local.year - 1)
    return instant_of(earlier.replace(tzinfo=zone.zone).astimezone(timezone.utc))


def ask_about(zone, year, checker, numbers):
    near = changes_of(zone, year)
    for measure in ["amounts", "parts", "number", "days"]:
        group = numbers.choice(["-", *checker.values.groups])
        checker.total(measure, group, *checker.range(zone, 4_000 * DAY, near))
        for unit, longest in [
            ("hour", 12 * DAY), ("day", 200 * DAY), ("week", 900 * DAY), ("month", 4_000 * DAY),
            ("quarter", 9_000 * DAY), ("year", 30_000 * DAY)
        ]:
            checker.series(zone, measure, group, unit, *checker.range(zone, longest, near))
        checker.profile(zone, measure, group, *checker.range(zone, 2_000 * DAY, near))
        checker.comparisons(zone, measure, group, *checker.range(zone, 500 * DAY, near))
    checker.groups(numbers.choice(["amounts", "parts", "days"]), *checker.range(zone, 2_000 * DAY, near))
    for measure in ["amounts", "number", "days"]:
        end = instant_of(datetime(2012, 9, 1, tzinfo=timezone.utc))
        usual = end - numbers.randrange(100 * DAY)
        # The last second of a day, and the beginning of one.
        midnight = usual - (usual + zone.offset(usual)) % DAY
        checker.set_now(numbers.choice([usual, midnight, midnight - 1, midnight - SECOND // 2, midnight + 1]))
        checker.streak(zone, measure, "dense")
    checker.quantile(numbers.choice(checker.values.groups))


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--full", action="store_true")
    arguments.add_argument("helper", nargs="?", default=ROOT / ".build/debug/TallyEngineTestHelper")
    options = arguments.parse_args()
    numbers = random.Random(SEED)
    value_count, unusual_count, other_count = FULL if options.full else SHORT
    names = sorted(name for name in available_timezones() if "/" in name and not name.startswith(("Etc/", "posix")))
    others = numbers.sample([name for name in names if name not in UNUSUAL], other_count)
    zones = [(Zone(name), year) for name, year in numbers.sample(sorted(UNUSUAL.items()), unusual_count)]
    zones += [(Zone(name), numbers.randrange(1900, 2037)) for name in others]
    values, lines, changes = random_values(numbers, value_count, zones)
    checker = Checker(values, changes, numbers)
    for zone, year in zones:
        ask_about(zone, year, checker, numbers)
    wrong = checker.run(options.helper, lines)
    if wrong:
        sys.exit(f"check-measures: {wrong} answers of {len(checker.questions)} are wrong (TALLY_SEED={SEED})")
    print(
        f"check-measures: {checker.count} numbers over {len(values.all)} values in {len(zones)} zones agree with "
        f"zoneinfo (TALLY_SEED={SEED})")


main()
