#!/usr/bin/env python3
"""Measures the screens in a headless Chromium by its own clocks, over a store of 100,000 tasks, and prints the figures.

First screen: from the start of the request to the first paint with content. Tap: from the input to the next paint, as the
Event Timing API reports it. Scrolling: the frames that the browser dropped, from its trace. Another program's task: from the
start of `tally add` to the row. The end of the server is the one figure with a limit. `make bench-web` builds a release program first; the command line is a debug build. Use a quiet machine.
"""

import json
import os
import random
import statistics
import sys
import tempfile
import time
import uuid

from web import ROOT, Page, Terminal, Web, find_browser, row

SEED = 20261124
TASK_COUNT = 100_000
ROW_COUNT = 10_000
REPETITIONS = 15
LONGEST_STOP_IN_SECONDS = 1


def documents(today):
    numbers = random.Random(SEED)
    for number in range(TASK_COUNT):
        stamp = f"2026-{1 + number % 10:02}-{1 + number % 28:02}T10:00:00Z"
        task = {"id": str(uuid.UUID(int=numbers.getrandbits(128))), "text": f"task {number} with some words", "createdAt": stamp}
        if number % 2:
            task |= {"state": "completed", "completedAt": stamp}
        elif number % 1000 == 0:
            task["scheduledDate"] = today
        yield json.dumps(task) + "\n"


def spread(values):
    values = sorted(values)
    return f"{statistics.median(values):.0f} ms, {values[int(len(values) * 0.95)]:.0f} ms at worst but one in 20"


def first_screen(page):
    times = []
    for _ in range(REPETITIONS):
        page.visit("/today")
        page.wait("performance.getEntriesByName('first-contentful-paint').length", "the first paint")
        times.append(page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
    return times


def taps(page):
    page.visit("/today")
    page.evaluate(
        "window.taps = []; new PerformanceObserver(list => { for (const entry of list.getEntries())"
        " if (entry.name === 'pointerup' || entry.name === 'click') taps.push(entry.duration); })"
        ".observe({ type: 'event', durationThreshold: 16 })")
    for number in range(REPETITIONS):
        page.click(f"document.querySelectorAll('#rows .state')[{number}]")
        time.sleep(0.3)
    return page.evaluate("taps") or [16]


def frames(page, path):
    """The share of frames that were dropped while the list was scrolled through, in percent."""
    page.visit(path)
    page.events.clear()
    page.call("Tracing.start", traceConfig={"includedCategories": ["devtools.timeline.frame", "disabled-by-default-devtools.timeline.frame"]})
    page.call("Input.synthesizeScrollGesture", x=600, y=500, yDistance=-60_000, speed=6_000)
    page.call("Tracing.end")
    while not any(event.get("method") == "Tracing.tracingComplete" for event in page.events):
        page.events.append(page.receive("Tracing.tracingComplete"))
    trace = [item for event in page.events if event.get("method") == "Tracing.dataCollected" for item in event["params"]["value"]]
    drawn, dropped = ([item for item in trace if item.get("name") == name] for name in ["DrawFrame", "DroppedFrame"])
    print(f"frames: {len(drawn)} drawn, {len(dropped)} dropped", file=sys.stderr)
    return 100 * len(dropped) / max(1, len(drawn) + len(dropped))


def arrivals(page, tally):
    page.visit("/today")
    times = []
    for number in range(REPETITIONS):
        start = time.time()
        tally("add", f"arrival {number}", "--today")
        page.wait(row(f"arrival {number}"), "the row")
        times.append(1000 * (time.time() - start))
    return times


def memory(web):
    with open(f"/proc/{web.process.pid}/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS"))


def main():
    if not find_browser():
        sys.exit("figures: there is no Chromium; on Debian: apt-get install chromium")
    os.environ.setdefault("TALLY_WEB", str(ROOT / ".build/release/tally-web"))
    with tempfile.TemporaryDirectory(prefix="tally-web-") as folder:
        tally = Terminal(f"{folder}/store")
        tally("import", "-", "--format", "ndjson", text="".join(documents(time.strftime("%Y-%m-%d"))))
        tally("lists", "add", "Long")
        tally("add", "-", "--list", "Long", text="".join(f"row {number}\n" for number in range(ROW_COUNT)))
        with Web(f"{folder}/store") as web, Page(web, 1280, 900, "light") as page:
            path = f"/lists/{json.loads(tally('lists', '--json'))['lists'][0]['id']}"
            print(f"first screen, request to paint: {spread(first_screen(page))}")
            print(f"tap to paint: {spread(taps(page))}")
            print(f"frames dropped while 10,000 rows scroll: {frames(page, path):.1f}%")
            print(f"a task of `tally add`, start of the program to the row: {spread(arrivals(page, tally))}")
            print(f"memory of the server: {memory(web):.0f} MB")
            seconds = web.stop()
            print(f"end of the server after SIGTERM, with a screen open: {1000 * seconds:.0f} ms")
            assert seconds < LONGEST_STOP_IN_SECONDS, "the server takes too long to end"


if __name__ == "__main__":
    try:
        main()
    except AssertionError as failure:
        sys.exit(f"figures: {failure}")
