#!/usr/bin/env python3
"""Compares the days of recurrence rules, and instants moved in local time, with python-dateutil and zoneinfo.

    Scripts/check-recurrence.py [TALLY-TEST-HELPER]

Random rules of the supported subset are walked over 20 years from random starts, and entered at a random day long after
it. Instants are moved by random numbers of days to within hours of a change of offset, in zones with unusual changes.
Set TALLY_SEED to repeat a run.
"""

import itertools
import os
import random
import subprocess
import sys
from datetime import date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import environment

environment.enter()

from dateutil.rrule import rrulestr

SEED = int(os.environ.get("TALLY_SEED", random.SystemRandom().randrange(1 << 30)))
RULES, MOVES_PER_ZONE, YEARS = 1_000, 400, 20
WEEKDAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]
AWKWARD_STARTS = [date(2024, 2, 29), date(2023, 1, 31), date(1999, 12, 31), date(2100, 2, 28), date(1970, 1, 1)]
ZONES = [
    "UTC", "America/New_York", "Europe/Istanbul", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Chatham",
    "Pacific/Apia", "America/St_Johns", "America/Sao_Paulo", "Africa/Casablanca", "Asia/Tehran", "Pacific/Honolulu",
    "Antarctica/Troll", "Europe/Amsterdam", "Africa/Monrovia", "Europe/Dublin", "America/Caracas", "Asia/Pyongyang",
    "Pacific/Kwajalein", "Pacific/Kiritimati", "America/Havana", "Asia/Beirut", "Asia/Gaza", "America/Asuncion",
    "America/Santiago", "Africa/Cairo", "Asia/Amman", "Pacific/Fiji", "Pacific/Norfolk", "Asia/Kolkata",
    "Australia/Eucla", "Asia/Manila", "America/Scoresbysund", "Europe/London", "America/Juneau",
]


def random_start(numbers):
    if numbers.random() < 0.2:
        return numbers.choice(AWKWARD_STARTS)
    return date(1950, 1, 1) + timedelta(days=numbers.randrange(150 * 365))


def random_weekdays(numbers, frequency):
    chosen = numbers.sample(WEEKDAYS, numbers.randint(1, 4))
    limit = {"MONTHLY": 5, "YEARLY": 53}.get(frequency)
    kind = numbers.choice(["plain", "ordinal", "mixed"]) if limit else "plain"

    def weekday(code):
        if kind == "plain" or (kind == "mixed" and numbers.random() < 0.5):
            return code
        return f"{numbers.choice([1, -1]) * numbers.randint(1, limit)}{code}"

    return [weekday(code) for code in chosen]


def random_rule(numbers, start):
    """The parts of a rule by their names; weekdays are a list."""
    frequency = numbers.choice(["DAILY", "WEEKLY", "MONTHLY", "YEARLY"])
    rule = {"FREQ": frequency}
    if numbers.random() < 0.6:
        rule["INTERVAL"] = str(numbers.choice([2, 2, 3, 4, 5, 6, 7, 12, 14, 28, numbers.randint(1, 400)]))
    if numbers.random() < 0.5:
        rule["BYDAY"] = random_weekdays(numbers, frequency)
    if frequency != "WEEKLY" and numbers.random() < 0.4:
        days = [number for number in range(-31, 32) if number]
        rule["BYMONTHDAY"] = ",".join(map(str, numbers.sample(days, numbers.randint(1, 4))))
    if frequency == "YEARLY" and numbers.random() < 0.25:
        days = [number for number in range(-366, 367) if number]
        rule["BYYEARDAY"] = ",".join(map(str, numbers.sample(days, numbers.randint(1, 5))))
    if frequency == "YEARLY" and all(len(code) == 2 for code in rule.get("BYDAY", ["1MO"])) and numbers.random() < 0.4:
        # dateutil is wrong about the days of January in the last year's week 52 or 53: it takes this year's length.
        weeks = [number for number in range(-53, 52) if number]
        rule["BYWEEKNO"] = ",".join(map(str, numbers.sample(weeks, numbers.randint(1, 4))))
    # dateutil fails at ordinals beyond the end of the year.
    has_large_ordinals = any(abs(int(code[:-2] or 0)) > 5 for code in rule.get("BYDAY", []))
    if not has_large_ordinals and numbers.random() < 0.4:
        rule["BYMONTH"] = ",".join(map(str, numbers.sample(range(1, 13), numbers.randint(1, 6))))
    if len(rule.keys() - {"FREQ", "INTERVAL"}) > 0 and numbers.random() < 0.3:
        # Most positions are small, as in people's rules; a day alone is the first and the last.
        limit = numbers.choice({"DAILY": [1], "WEEKLY": [3], "MONTHLY": [3, 3, 20]}.get(frequency, [3, 3, 366]))
        positions = [number for number in range(-limit, limit + 1) if number]
        rule["BYSETPOS"] = ",".join(map(str, numbers.sample(positions, numbers.randint(1, min(3, len(positions))))))
    if numbers.random() < 0.3:
        rule["WKST"] = numbers.choice(WEEKDAYS)
    end = numbers.random()
    if end < 0.2:
        rule["COUNT"] = str(numbers.randint(1, 60))
    elif end < 0.4:
        rule["UNTIL"] = (start + timedelta(days=numbers.randrange(-3, 9_000))).strftime("%Y%m%d")
    if "BYSETPOS" in rule and frequency == "WEEKLY":
        # dateutil counts the positions of the first week from the start, not from the first day of the week.
        rule["WKST"] = WEEKDAYS[start.weekday()]
    if numbers.random() < 0.2:
        days = [start + timedelta(days=numbers.randrange(-3, 4_000)) for _ in range(numbers.randint(1, 300))]
        rule["EXDATE"] = ",".join(day.strftime("%Y%m%d") for day in days)
    return rule


def text_of(rule):
    return ";".join(f"{name}={','.join(value) if name == 'BYDAY' else value}" for name, value in rule.items())


def expected_days(rule, start):
    """The days by dateutil, without those that are left out, without end."""
    exceptions = set(rule.get("EXDATE", "").split(","))
    days = given_days({name: value for name, value in rule.items() if name != "EXDATE"}, start)
    return (day for day in days if day.strftime("%Y%m%d") not in exceptions)


def given_days(rule, start):
    weekdays = rule.get("BYDAY", [])
    groups = [[code for code in weekdays if (len(code) == 2) == plain] for plain in (True, False)]
    midnight = datetime.combine(start, datetime.min.time())
    if "BYWEEKNO" in rule and not {"BYDAY", "BYMONTHDAY", "BYYEARDAY"} & rule.keys():
        # dateutil takes all days of the week; by RFC 5545 the weekday is that of the start.
        rule = rule | {"BYDAY": [WEEKDAYS[start.weekday()]]}
        groups = [rule["BYDAY"], []]
    if not all(groups):
        yield from (moment.date() for moment in rrulestr(text_of(rule), dtstart=midnight))
        return
    # dateutil takes only the days of both kinds; RFC 5545 those of either.
    positions = [int(number) for number in rule.get("BYSETPOS", "").split(",") if number]
    texts = [
        text_of({k: v for k, v in rule.items() if k not in ("COUNT", "UNTIL", "BYSETPOS")} | {"BYDAY": group})
        for group in groups]
    first = start.replace(month=1, day=1) if rule["FREQ"] == "YEARLY" else start.replace(day=1)
    begin = datetime.combine(first, datetime.min.time())
    limit = datetime.combine(start + timedelta(days=366 * 60), datetime.min.time())
    days = set()
    for text in texts:
        days |= {moment.date() for moment in rrulestr(text, dtstart=begin).between(begin, limit, inc=True)}
    if positions:
        period = (lambda day: day.year) if rule["FREQ"] == "YEARLY" else (lambda day: (day.year, day.month))
        groups = [list(group) for _, group in itertools.groupby(sorted(days), period)]
        days = {group[number - 1 if number > 0 else number] for group in groups for number in positions
                if abs(number) <= len(group)}
    last = rule.get("UNTIL", "99991231")
    days = [day for day in sorted(days) if day >= start and day.strftime("%Y%m%d") <= last]
    yield from itertools.islice(days, int(rule["COUNT"]) if "COUNT" in rule else None)


def ask(helper, questions):
    asked = subprocess.run(
        [helper, "recur", "."], input="\n".join(questions) + "\n", capture_output=True, text=True, check=True)
    answers = asked.stdout.splitlines()
    assert len(answers) == len(questions), f"{len(answers)} answers to {len(questions)} questions: {answers[-1:]}"
    return answers


def check_days(helper, numbers):
    questions, expectations = [], []
    for _ in range(RULES):
        start = random_start(numbers)
        rule = random_rule(numbers, start)
        limit = start + timedelta(days=YEARS * 365)
        days = list(itertools.takewhile(lambda day: day <= limit, expected_days(rule, start)))
        # One more than there are, unless the next one may be thousands of years away.
        extra = int("COUNT" in rule or "UNTIL" in rule)
        if "EXDATE" in rule:
            assert not set(rule["EXDATE"].split(",")) & {day.strftime("%Y%m%d") for day in days}
        questions.append(f"days {start} {len(days) + extra} {text_of(rule)}")
        expectations.append((days, limit))
    found = 0
    for question, answer, (days, limit) in zip(questions, ask(helper, questions), expectations):
        answered = [date.fromisoformat(text) for text in answer.split()]
        rest = answered[len(days):]
        assert answered[:len(days)] == days and all(day > limit for day in rest), (
            f"TALLY_SEED={SEED}: {question}\nis      {answered[:30]}\nnot     {days[:30]}")
        found += len(days)
    return found


def check_next(helper, numbers):
    questions, expectations = [], []
    while len(questions) < RULES // 5:
        start = random_start(numbers)
        rule = random_rule(numbers, start)
        day = start + timedelta(days=numbers.randrange(-100, 40 * 365))
        limit = day + timedelta(days=8 * 365)
        days = itertools.takewhile(lambda day: day <= limit, expected_days(rule, start))
        following = next((later for later in days if later > day), None)
        questions.append(f"next {start} {day} {text_of(rule)}")
        expectations.append((following, limit))
    for question, answer, (day, limit) in zip(questions, ask(helper, questions), expectations):
        is_beyond = day is None and (answer == "none" or date.fromisoformat(answer) > limit)
        assert is_beyond or answer == str(day), f"TALLY_SEED={SEED}: {question}\nis {answer}, not {day}"
    return len(questions)


def changes_of(zone):
    """The instants, to the minute, at which a zone's offset changes from 1900 to 2060."""
    moment, end = datetime(1900, 1, 1, tzinfo=timezone.utc), datetime(2060, 1, 1, tzinfo=timezone.utc)
    changes = []
    while moment < end:
        later = moment + timedelta(days=4)
        if moment.astimezone(zone).utcoffset() != later.astimezone(zone).utcoffset():
            low, high = moment, later
            while high - low > timedelta(minutes=1):
                middle = low + (high - low) / 2
                if middle.astimezone(zone).utcoffset() == low.astimezone(zone).utcoffset():
                    low = middle
                else:
                    high = middle
            changes.append(high)
        moment = later
    return changes


def check_moves(helper, numbers):
    questions, expectations = [], []
    for name in ZONES:
        zone = ZoneInfo(name)
        changes = changes_of(zone) or [datetime(2026, 11, 21, tzinfo=timezone.utc)]
        for _ in range(MOVES_PER_ZONE):
            near = numbers.choice(changes) + timedelta(microseconds=numbers.randrange(-6, 6) * 1_800_000_000 + 1)
            days = numbers.choice([1, -1, 7, 30, 365, numbers.randrange(-800, 800)])
            source = (near.astimezone(zone).replace(tzinfo=None) - timedelta(days=days)).replace(tzinfo=zone)
            instant = source.astimezone(timezone.utc)
            local = instant.astimezone(zone).replace(tzinfo=None)
            moved = (local + timedelta(days=days)).replace(tzinfo=zone, fold=0).astimezone(timezone.utc)
            day = local.date() + timedelta(days=numbers.randrange(-3, 3))
            questions.append(f"move {name} {instant.isoformat()} {day} {day + timedelta(days=days)}")
            expectations.append(moved)
    for question, answer, moved in zip(questions, ask(helper, questions), expectations):
        assert datetime.fromisoformat(answer.replace("Z", "+00:00")) == moved, (
            f"TALLY_SEED={SEED}: {question}\nis {answer}, not {moved.isoformat()}")
    return len(questions)


def binary():
    return sys.argv[1] if len(sys.argv) > 1 else environment.ROOT / ".build/debug/TallyTestHelper"


def main():
    helper, numbers = binary(), random.Random(SEED)
    days = check_days(helper, numbers)
    questions = check_next(helper, numbers)
    moves = check_moves(helper, numbers)
    print(
        f"check-recurrence: {days} days of {RULES} rules, {questions} next days and {moves} moved instants agree with "
        f"dateutil and zoneinfo (TALLY_SEED={SEED})")


main()
