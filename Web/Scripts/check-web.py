#!/usr/bin/env python3
"""Uses the screens of tally-web in a headless Chromium as a person does; skipped without Chromium.

Every scenario runs at the width of a phone and of a desktop, one of them in the dark, on a store of its own; with --all at
each width in light and in dark, as the one that opens every screen always does. Nothing may appear on the console, no
request may leave the server, nothing may be wider than the window, and an accessibility checker must find nothing on any
screen. Pictures go to .build/web-pages. Names of scenarios as arguments run only those; --quick runs a few, each at one
width, in less than a minute; --record takes the pictures of the README and the accessibility trees instead.
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
    form = sys.argv[1][2:] if sys.argv[1:] in [["--quick"], ["--all"]] else ""
    names = [] if form else sys.argv[1:]
    for old in [] if names else PICTURES.glob("*.png"):
        old.unlink()
    chosen = QUICK if form == "quick" else [function for function in SCENARIOS + ONCE if not names or function.__name__ in names]
    assert chosen, "no scenario has this name"
    failed = set()
    # They wait for most of their time.
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        for function, runs in [(function, list(begin(pool, number, function, axe, form))) for number, function in enumerate(chosen)]:
            failures = [failure for failure in (run.result() for run in runs) if failure]
            for failure in failures:
                print(f"check-web: {failure}", file=sys.stderr, flush=True)
            if failures:
                failed.add(function.__name__)
            else:
                print(f"{function.__name__}: {function.__doc__.splitlines()[0]}", flush=True)
    assert not failed, f"failed: {' '.join(sorted(failed))}"
    print(f"web: {len(chosen)} scenarios are sound")


def begin(pool, number, function, axe, form):
    """Begins the runs of a scenario, each of a size and a scheme."""
    light, dark = ([(size, scheme) for size in SIZES] for scheme in ["light", "dark"])
    if function in ONCE:
        wanted = light[1:]
    elif form == "quick":
        wanted = [light[number % 2]]
    elif form == "all" or function is scenarios_screens.screens:
        wanted = light + dark
    else:
        wanted = [light[number % 2], dark[1 - number % 2]]
    for (width, height), scheme in wanted:
        yield pool.submit(run, function, axe, width, height, scheme, form == "quick")


def run(function, axe, width, height, scheme, is_quick):
    """Runs a scenario with a store, a server and a browser of its own; returns its failure, if any."""
    name = f"{width}-{scheme}"
    with tempfile.TemporaryDirectory(prefix="tally-web-") as folder, Web(f"{folder}/store") as web:
        with Page(web, width, height, scheme) as page:
            page.axe = axe
            page.is_quick = is_quick
            try:
                function(page, Terminal(f"{folder}/store"), name)
            except AssertionError as failure:
                places = traceback.extract_tb(failure.__traceback__)
                place = [place for place in places if "scenario" in place.filename][-1]
                return f"{function.__name__}, {name}, {pathlib.Path(place.filename).name}:{place.lineno}: {failure or place.line}"
    return None


if __name__ == "__main__":
    try:
        main()
    except AssertionError as failure:
        sys.exit(f"check-web: {failure}")
