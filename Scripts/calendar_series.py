"""Series of Tally's as other programs read them: which instants follow from the calendar that it writes.

Random series of every kind are made with the command line, in zones with unusual changes of the clock, some of them fixed
to a zone of their own. Tasks are completed, skipped, moved and given other titles. The days of a series follow from its
rule by dateutil, and its instants from its time by zoneinfo; icalendar, khal and todoman must find the same ones in what
Tally writes, over at least two changes of the clock. What Tally writes gives the same tasks and series in an empty store,
wherever that is, and changes nothing in the same one.

TALLY_SERIES is the number of series.
"""

import datetime
import itertools
import os
import random
import re
import zoneinfo

import icalendar
from dateutil.rrule import rrulestr

from interchange import Tally, UTC

COUNT = int(os.environ.get("TALLY_SERIES", "60"))
ZONES = [
    "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Havana", "Antarctica/Troll", "Asia/Kathmandu",
    "America/Santiago"]
RULES = [
    "FREQ=DAILY", "FREQ=DAILY;INTERVAL=3", "FREQ=WEEKLY", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", "FREQ=WEEKLY;INTERVAL=2",
    "FREQ=MONTHLY;BYMONTHDAY=15", "FREQ=MONTHLY;BYMONTHDAY=-1", "FREQ=MONTHLY;BYDAY=2TU",
    "FREQ=MONTHLY;BYMONTHDAY=28,29,30;BYSETPOS=-1", "FREQ=YEARLY;BYMONTH=3,10;BYDAY=-1SU", "FREQ=YEARLY",
    "FREQ=DAILY;COUNT=200", "FREQ=WEEKLY;UNTIL=20270930", "FREQ=DAILY;BYMONTH=3,10,11;EXDATE=20270314,20270328",
    "FREQ=HOURLY;INTERVAL=8", "FREQ=HOURLY;INTERVAL=31", "FREQ=HOURLY;INTERVAL=6;BYDAY=SA,SU,MO"]
# Times that clocks skip or repeat somewhere, and others.
TIMES = [datetime.time(0, 0), datetime.time(0, 30), datetime.time(1, 45), datetime.time(2, 10), datetime.time(2, 30),
         datetime.time(9, 0), datetime.time(23, 45)]
YEAR = datetime.timedelta(400)


def instant(day, at, zone):
    """The instant of a time of the clock: the first of a repeated one, and a skipped one by the offset before."""
    return datetime.datetime.combine(day, at, zoneinfo.ZoneInfo(zone)).astimezone(UTC)


class Series:
    """A series as it was asked for, and what its open task must be."""

    def __init__(self, numbers, title, today, person):
        self.title, self.text = title, numbers.choice(RULES)
        self.is_hourly = self.text.startswith("FREQ=HOURLY")
        self.kind = "timed" if self.is_hourly else numbers.choice(["timed", "timed", "timed", "day", "later"])
        self.zone = numbers.choice(ZONES) if self.kind == "timed" and numbers.random() < 0.3 else None
        self.person, self.at = person, numbers.choice(TIMES)
        self.is_moved = False
        parts = dict(part.split("=") for part in self.text.split(";"))
        self.left_out = parts.pop("EXDATE", "").split(",")
        self.rule = ";".join(f"{name}={value}" for name, value in parts.items())
        earliest = datetime.datetime.combine(
            today + datetime.timedelta(numbers.randrange(1, 30)), self.at if self.is_hourly else datetime.time())
        # The task begins on a day of its rule, also where that counts from its beginning.
        self.first = rrulestr(parts_without_end(self.rule), dtstart=earliest)[0]
        self.start, self.open = self.first.date(), self.first

    def places(self):
        """The places of the rule from the open task on: times of the clock by hours, and else days at midnight."""
        for place in rrulestr(self.rule, dtstart=self.first):
            if place > self.open + YEAR:
                return
            if place >= self.open and place.strftime("%Y%m%d") not in self.left_out:
                yield place

    def local(self, place):
        """The time of the clock at which the task of a place is due."""
        days = datetime.timedelta(2 if self.kind == "later" else 0)
        return place if self.is_hourly else datetime.datetime.combine(place.date() + days, self.at)

    def due(self, place):
        """When the task of a place is due: an instant, or a day."""
        if self.kind == "day":
            return place.date()
        local = self.local(place)
        return instant(local.date(), local.time(), self.zone or self.person)

    def go_on(self):
        """The open task is done or skipped ahead of its time: the next one is that of the following place."""
        self.open = next(itertools.islice(self.places(), 1, None))

    def arguments(self, numbers):
        due = self.start.isoformat()
        if self.kind != "day":
            due = self.local(self.first).strftime("%Y-%m-%d %H:%M")
        arguments = ["add", self.title, "--repeat", self.text, "--due", due, "--tag", "health"]
        if self.kind == "later" or self.kind == "day" and numbers.random() < 0.5:
            arguments += ["--on", self.start.isoformat()]
        for reminder in numbers.sample(["1 day before", "2 hours before", "9:00 the day before", f"{due[:10]} 07:15"], 2):
            if self.kind != "day" or "hours" not in reminder:
                arguments += ["--remind", reminder]
        if numbers.random() < 0.2:
            arguments += ["--wait", (self.start - datetime.timedelta(1)).isoformat()]
        return arguments + (["--zone", self.zone] if self.zone else [])


def parts_without_end(rule):
    return ";".join(part for part in rule.split(";") if not part.startswith(("COUNT", "UNTIL")))


def live(numbers, series, tally):
    """Adds a series, and lets a person do things to it; the instants of a time that is skipped at first are moved."""
    if series.kind != "day":
        # Such a time cannot be said on its first day, and a repeated one is the first.
        local = series.due(series.first).astimezone(zoneinfo.ZoneInfo(series.zone or series.person))
        if local.time() != series.local(series.first).time():
            return False
    tally(*series.arguments(numbers))
    handle = open_task(tally, series)
    for act in numbers.choices(["done", "skip", "title", "delete", "nothing"], k=3):
        if act in ("done", "skip", "delete"):
            tally(*{"done": ["done"], "skip": ["skip"], "delete": ["delete", "--only"]}[act], handle)
            series.go_on()
            handle = open_task(tally, series)
        elif act == "title":
            tally("edit", handle, "--title", series.title + " once", "--priority", "high")
    if series.kind == "timed" and numbers.random() < 0.2:
        moved = datetime.datetime.combine(series.open.date() + datetime.timedelta(1), datetime.time(11, 30))
        tally("edit", handle, "--due", moved.strftime("%Y-%m-%d %H:%M"))
        series.is_moved = True
    return True


def open_task(tally, series):
    """The id of the open task of a series, whose title may be another for once."""
    titles = (series.title, series.title + " once")
    return next(
        task["id"] for task in tally.tasks().values() if task["text"] in titles and task["state"] == "notStarted")


def found_by_icalendar(todo, zones):
    """The instants or days at which a to-do is due, by the zone's own description if there are some."""
    rule = todo["RRULE"].to_ical().decode()
    start, due = todo["DTSTART"].dt, todo["DUE"].dt
    left_out = set()
    for line in [todo["EXDATE"]] if "EXDATE" in todo else []:
        left_out |= {one.dt for one in line.dts}
    if not isinstance(start, datetime.datetime):
        midnight = datetime.datetime.combine(start, datetime.time())
        days = rrulestr(rule, dtstart=midnight).between(midnight, midnight + YEAR, inc=True)
        return [day.date() + (due - start) for day in days if day.date() not in left_out]
    # Times of the clock, whatever the zone does to them.
    wall, distance = start.replace(tzinfo=None), due.replace(tzinfo=None) - start.replace(tzinfo=None)
    text = ";".join(
        f"UNTIL={until(part[6:], start.tzinfo)}" if part.startswith("UNTIL=") else part for part in rule.split(";"))
    moments = rrulestr(text, dtstart=wall).between(wall, wall + YEAR, inc=True)
    skipped = {moment.replace(tzinfo=None) for moment in left_out}
    zone = zones.get(todo["DTSTART"].params.get("TZID"), start.tzinfo)
    return [(moment + distance).replace(tzinfo=zone).astimezone(UTC) for moment in moments if moment not in skipped]


def until(text, zone):
    """The last instant of a rule as a time of the clock."""
    moment = datetime.datetime.strptime(text, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    return moment.astimezone(zone).strftime("%Y%m%dT%H%M%S")


def check_with_icalendar(text, lives):
    whole = icalendar.Calendar.from_ical(text)
    described = {str(zone["TZID"]): zone.to_tz(lookup_tzid=False) for zone in whole.walk("VTIMEZONE")}
    todos = {str(todo["SUMMARY"]).removesuffix(" once"): todo for todo in whole.walk("VTODO") if "RRULE" in todo}
    assert len(todos) == len(lives), f"{len(todos)} series for {len(lives)}"
    count = 0
    for series in lives:
        todo = todos[series.title]
        expected = [series.due(place) for place in series.places()]
        # A task of which only the first is moved keeps the days of its rule, if those need no counting.
        if series.is_moved:
            continue
        for zones in ({}, described):
            found = found_by_icalendar(todo, zones)
            if zones and "/" in str(todo["DTSTART"].params.get("TZID", "")):
                # The standard library's reader of descriptions differs in the hour that comes twice, and in the skipped one.
                unsure = unsure_days(series)
                pairs = [(a, b) for a, b in zip(found, expected) if b.date() not in unsure]
                assert all(a == b for a, b in pairs), f"described zone: {first_difference(found, expected)} of {series.title}"
                continue
            assert found == expected, (
                f"icalendar: {first_difference(found, expected)}\n{series.text} {series.start} {series.at} {series.zone}\n"
                f"{todo.to_ical().decode()}")
            count += len(found)
    return count


def unsure_days(series):
    """The days on and around the changes of the clock."""
    zone = zoneinfo.ZoneInfo(series.zone or series.person)
    days, day = set(), series.start
    while day < series.start + YEAR + datetime.timedelta(31):
        noon = datetime.datetime.combine(day, datetime.time(12), zone)
        if noon.utcoffset() != (noon + datetime.timedelta(1)).utcoffset():
            days |= {day + datetime.timedelta(count) for count in (-1, 0, 1, 2)}
        day += datetime.timedelta(1)
    return days


def first_difference(found, expected):
    for pair in itertools.zip_longest(found, expected):
        if pair[0] != pair[1]:
            return f"{pair[0]} and not {pair[1]}"
    return "none"


def check_with_todoman(theirs, text, lives, one_by_one):
    for name, document in one_by_one(text).items():
        (theirs.files / name).write_bytes(document)
    todos = {todo["summary"].removesuffix(" once"): todo for todo in theirs.list() if todo["recurring"]}
    assert len(todos) == len(lives), f"todoman: {len(todos)} series for {len(lives)}"
    for series in lives:
        if series.is_moved or series.kind == "day":
            continue
        found, expected = todos[series.title]["due"], series.due(series.open).timestamp()
        assert found == expected, f"todoman: {found} and not {expected} of {series.title}"


def check_with_khal(khal, text, lives):
    """khal reads events only: the to-dos that repeat, without their due dates, as events.

    It is asked in UTC, and not for series in Havana, whose winter it takes for summer; zoneinfo and the other two do not.
    """
    whole = text.replace("\n ", "")
    todos = [todo for todo in re.findall(r"BEGIN:VTODO\n.*?END:VTODO\n", whole, re.S) if "\nRRULE:" in todo]
    zones = re.findall(r"BEGIN:VTIMEZONE\n.*?END:VTIMEZONE\n", whole, re.S)
    body = re.sub(r"(?m)^(DUE|STATUS|X-TALLY).*\n", "", "".join(zones + todos)).replace("VTODO", "VEVENT")
    file = khal.files.parent / "series.ics"
    head = "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//Check//EN\n"
    file.write_text(head + body + "END:VCALENDAR\n", encoding="utf-8", newline="\r\n")
    khal("import", "--batch", "-a", "work", file)
    first = min(series.open.date() for series in lives) - datetime.timedelta(2)
    end = (first + YEAR).isoformat()
    listed = khal("list", "--format", "{title}|{start-long}", "--day-format", "", first.isoformat(), f"{YEAR.days}d")
    found = {}
    for line in listed.splitlines():
        title, _, start = line.partition("|")
        found.setdefault(title.removesuffix(" once"), set()).add(start)
    for series in lives:
        if series.is_moved or series.kind != "timed" or (series.zone or series.person) == "America/Havana":
            continue
        expected = {text_of(series.due(place)) for place in series.places()}
        # Of a time that comes twice khal takes the second, and RFC 5545 the first (section 3.3.5).
        twice = {
            text_of(moment) for place in series.places()
            for moment in (series.due(place) + count * LATER / 2 for count in range(5)) if is_twice(series, place)}
        missing = {start for start in expected if start < end} - found.get(series.title, set()) - twice
        extra = {start for start in found.get(series.title, set()) if start < end} - expected - twice
        assert not missing and not extra, f"khal: {sorted(missing)[:3]} and not {sorted(extra)[:3]} of {series.title}"


def check_described(folder, khal):
    """A day that a calendar describes beside its series is there once in khal, wherever the to-dos are in the calendar.

    khal reads what Tally writes of the calendar as events, each at its own start.
    """
    zone, rule = "America/New_York", "FREQ=DAILY;COUNT=6"
    head = "BEGIN:VTODO\nUID:series\nDTSTAMP:20270101T000000Z\n"
    master = f"SUMMARY:series\nRRULE:{rule}\nDTSTART;TZID={zone}:20270310T213000\nDUE;TZID={zone}:20270310T220000\n"
    described = [
        f"SUMMARY:{name}\nRECURRENCE-ID;TZID={zone}:{day}T213000\nDTSTART;TZID={zone}:{day}T100000\n"
        f"DUE;TZID={zone}:{day}T110000\n" for name, day in [("first", "20270310"), ("moved", "20270314")]]
    for place, parts in enumerate([[master, *described], [*described, master], [described[1], master, described[0]]]):
        inner = folder / f"described-{place}"
        inner.mkdir()
        file = inner / "described.ics"
        todos = "".join(head + part + "END:VTODO\n" for part in parts)
        file.write_text(f"BEGIN:VCALENDAR\nVERSION:2.0\n{todos}END:VCALENDAR\n", encoding="utf-8")
        tally, copy = Tally(inner / "store", zone="Europe/Berlin"), Tally(inner / "copy", zone="Asia/Tokyo")
        assert tally.load(file, "ical")["added"] == 3
        text = tally("export", "-o", "-", "--format", "ical").replace("\n ", "")
        assert "EXDATE" not in text, text
        file.write_text(text, encoding="utf-8")
        assert copy.load(file, "ical")["added"] == 3 and kept(copy) == kept(tally)
        program = khal(inner / "khal", zone)
        body = re.sub(r"(?m)^(DUE|STATUS|X-TALLY).*\n", "", text).replace("VTODO", "VEVENT")
        file.write_text(body, encoding="utf-8", newline="\r\n")
        program("import", "--batch", "-a", "work", file)
        lines = program("list", "--format", "{title} {start-long}", "--day-format", "", "2027-03-01", "30d").splitlines()
        expected = [f"series 2027-03-{day} 21:30" for day in (11, 12, 13, 15)]
        expected += ["first 2027-03-10 10:00", "moved 2027-03-14 10:00"]
        assert sorted(lines) == sorted(expected), f"khal: {lines} of {body}"
    print("described occurrences: in khal once, in any order")


LATER = datetime.timedelta(hours=1)


def text_of(moment):
    return moment.strftime("%Y-%m-%d %H:%M")


def is_twice(series, place):
    """Whether clocks show the time of a place again an hour later."""
    zone, moment = zoneinfo.ZoneInfo(series.zone or series.person), series.due(place)
    return any(
        (moment + later).astimezone(zone).time() == moment.astimezone(zone).time()
        for later in (LATER / 2, LATER, 2 * LATER))


def check_back(folder, text, tally, lives):
    """The same store keeps what it has; an empty one, elsewhere, gets the same."""
    file = folder / "series.ics"
    file.write_bytes(text.encode())
    before = (shown(tally), kept(tally))
    again = tally.load(file, "ical")
    assert again["added"] + again["changed"] == 0 and not again["account"], f"the same store: {again}"
    assert (shown(tally), kept(tally)) == before
    copy = Tally(folder / "back", zone="Asia/Tokyo")
    assert copy.load(file, "ical")["added"] == len(before[0])
    assert shown(copy) == before[0], f"an empty store: {difference(shown(copy), before[0])}"
    assert kept(copy) == before[1], f"an empty store: {difference(kept(copy), before[1])}"
    assert copy("export", "-o", "-", "--format", "ical", zone=tally.zone) == text, "other bytes of the same tasks"


def shown(tally):
    """The tasks; closed ones without the wall-clock times that they would have again if they were reopened."""
    return {
        id: {key: value for key, value in task.items() if task["state"] == "notStarted" or not key.startswith("floating")}
        for id, task in tally.tasks().items()}


def difference(found, expected):
    """What differs between two sets of records."""
    for id, record in expected.items():
        for key, value in record.items():
            if found.get(id, {}).get(key) != value:
                return f"{key} is {found.get(id, {}).get(key)}, not {value}, of {record}"
    return f"{len(found)} for {len(expected)}"


def kept(tally):
    return {record["series"]["task"]["id"]: record["series"] for record in tally.records() if "text" not in record and
            "series" in record}


def check(seed, folder, programs):
    """Series of persons in each zone; `programs` makes khal, todoman, and a calendar's to-dos one by one."""
    check_described(folder, programs.khal)
    numbers, number, count = random.Random(seed), 0, 0
    for place, person in enumerate(ZONES):
        inner = folder / f"series-{place}"
        inner.mkdir()
        tally, lives = Tally(inner / "store", zone=person), []
        today = datetime.datetime.now(zoneinfo.ZoneInfo(person)).date()
        for _ in range(max(1, COUNT // len(ZONES))):
            number += 1
            series = Series(numbers, f"series-{number}", today, person)
            if live(numbers, series, tally):
                lives.append(series)
        text = tally("export", "-o", "-", "--format", "ical")
        assert tally("export", "-o", "-", "--format", "ical") == text
        count += check_with_icalendar(text, lives)
        check_with_todoman(programs.todoman(inner / "todoman", person), text, lives, programs.one_by_one)
        check_with_khal(programs.khal(inner / "khal", "UTC"), text, lives)
        check_back(inner, text, tally, lives)
    print(f"series: {number} of Tally's, {count} instants and days found by icalendar, khal and todoman, and back")
