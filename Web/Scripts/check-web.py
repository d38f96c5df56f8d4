#!/usr/bin/env python3
"""Uses the screens of tally-web in a headless Chromium as a person does; skipped without Chromium.

usage: check-web.py [--quick | --all | --record | SCENARIO ...]

Every scenario runs twice, each time on a store of its own: at the width of a phone and of a desktop, one in light and one in
dark. The scenario that opens every screen runs at both widths in both. Nothing may appear on the console, no request may
leave the server, nothing may be wider than the window, and an accessibility checker must find nothing on any screen.
Pictures go to .build/web-pages.

--all and names of scenarios: each at both widths in light and in dark. --quick: a few, each at one width, in less than a
minute. --record takes the pictures of the README and the accessibility trees instead.
"""

import base64
import concurrent.futures
import pathlib
import sys
import tempfile
import traceback

import scenarios_hands  # noqa: F401
import scenarios_live  # noqa: F401
import scenarios_losses  # noqa: F401
import scenarios_screens
from scenario import ONCE, PICTURES, QUICK, SCENARIOS, SIZES, check, compare_trees, fill, task_id
from web import ROOT, Page, Terminal, Web, find_browser

sys.path.insert(0, str(ROOT / "Scripts"))
import environment  # noqa: E402

WORKERS = 3


def record(axe):
    """Takes the pictures of the README, and the accessibility trees."""
    for (width, height), scheme, name in [((1280, 760), "light", "desktop"), ((390, 760), "dark", "phone")]:
        with tempfile.TemporaryDirectory(prefix="tally-web-") as folder, Web(f"{folder}/store") as web:
            tally = Terminal(f"{folder}/store")
            fill(tally, is_hostile=False)
            tally("start", task_id(tally, "plants"))
            tally("done", task_id(tally, "cans"))
            with Page(web, width, height, scheme) as page:
                page.axe = axe
                page.visit("/today")
                check(page, name)
                picture = page.call("Page.captureScreenshot")["data"]
                path = ROOT / f"docs/images/today-{name}.png"
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(base64.b64decode(picture))
    for width, height in SIZES:
        with tempfile.TemporaryDirectory(prefix="tally-web-") as folder, Web(f"{folder}/store") as web:
            with Page(web, width, height, "light") as page:
                compare_trees(page, Terminal(f"{folder}/store"), is_recording=True)


def main():
    environment.enter()
    if not find_browser():
        print("check-web: skipped without Chromium; on Debian: apt-get install chromium, elsewhere set CHROMIUM", file=sys.stderr)
        return
    import axe_core_python

    axe = (pathlib.Path(axe_core_python.__file__).parent / "axe.min.js").read_text()
    axe += "\n;0"
    if sys.argv[1:] == ["--record"]:
        return record(axe)
    is_quick = sys.argv[1:] == ["--quick"]
    names = [] if is_quick or sys.argv[1:] == ["--all"] else sys.argv[1:]
    for old in [] if is_quick or names else PICTURES.glob("*.png"):
        old.unlink()
    chosen = QUICK if is_quick else [function for function in SCENARIOS + ONCE if not names or function.__name__ in names]
    assert chosen, "no scenario has this name"
    failed = []
    # Scenarios wait for most of their time.
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        begun = [
            (function, [pool.submit(run, function, axe, *way, is_quick) for way in ways(function, number, is_quick)])
            for number, function in enumerate(chosen)]
        for function, runs in begun:
            failures = [failure for failure in (run.result() for run in runs) if failure]
            for failure in failures:
                print(f"check-web: {failure}", file=sys.stderr, flush=True)
            failed += failures
            if not failures:
                print(f"{function.__name__}: {function.__doc__.splitlines()[0]}", flush=True)
    # Once more, as a log that is cut keeps its end.
    assert not failed, "\n".join(failed)
    print(f"web: {len(chosen)} scenarios are sound")


def ways(function, number, is_quick):
    """The sizes and schemes in which a scenario runs; those of its number alternate."""
    light, dark = ([(width, height, scheme) for width, height in SIZES] for scheme in ["light", "dark"])
    if function in ONCE:
        return light[1:]
    if is_quick:
        return [light[number % 2]]
    if sys.argv[1:] or function is scenarios_screens.screens:
        return light + dark
    return [light[number % 2], dark[1 - number % 2]]


def run(function, axe, width, height, scheme, is_quick):
    """Runs a scenario with a store, a server and a browser of its own; returns its failure, if any."""
    name = f"{width}-{scheme}"
    try:
        with tempfile.TemporaryDirectory(prefix="tally-web-") as folder, Web(f"{folder}/store") as web:
            with Page(web, width, height, scheme) as page:
                page.axe = axe
                page.is_quick = is_quick
                function(page, Terminal(f"{folder}/store"), name)
    except AssertionError as failure:
        places = traceback.extract_tb(failure.__traceback__)
        # The scenario's own line, unless the server or the browser did not start.
        place = [place for place in places if pathlib.Path(place.filename).name.startswith("scenario")][-1:] or places[-1:]
        return f"{function.__name__}, {name}, {pathlib.Path(place[0].filename).name}:{place[0].lineno}: {failure or place[0].line}"
    return None


if __name__ == "__main__":
    try:
        main()
    except AssertionError as failure:
        sys.exit(f"check-web: {failure}")
