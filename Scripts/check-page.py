#!/usr/bin/env python3
"""Opens the page of `tally stats --html` in a headless Chromium and checks it; skipped without Chromium.

The browser is $CHROMIUM or one on the path; pictures go to .build/pages. The checks, on a phone and on a screen, in light
and in dark: nothing on the console, nothing from the network, nothing wider than the screen, no label cut off or covered
by another, and the figures of `tally stats --json`.
"""

import base64
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import uuid

from browser import Browser, find_browser

ROOT = pathlib.Path(__file__).resolve().parent.parent
SEED = 20261121
NOW = "2026-11-21T12:00:00Z"
HOSTILE = "</title></script><script>alert(1)</script><img src=x onerror=alert(1)>\"&'"
LISTS = ["Work", "Garden", "A name that goes on for longer than any chart has room beside its bars", HOSTILE]
STORES = {"full": [], "by-month": ["--by", "month"], "by-week": ["--by", "week", "--list", "Work"], "empty": []}
SCREENS = [(390, 844), (1280, 900)]

# The values of the page that the checks need.
LOOK = """
(() => {
  const shown = [...document.querySelectorAll('svg')].filter(svg => svg.getBoundingClientRect().width > 0);
  const name = svg => svg.querySelector('title').textContent;
  const boxes = svg => [...svg.querySelectorAll('text')].map(text => [text.textContent, text.getBoundingClientRect()]);
  const outside = [], touching = [], small = [];
  for (const svg of shown) {
    const card = svg.closest('.card').getBoundingClientRect();
    const texts = boxes(svg);
    texts.forEach(([text, box], index) => {
      if (box.left < card.left + 2 || box.right > card.right - 2) outside.push(`${name(svg)}: ${text}`);
      if (box.height < 9) small.push(`${name(svg)}: ${text}`);
      for (const [other, place] of texts.slice(index + 1)) {
        const width = Math.min(box.right, place.right) - Math.max(box.left, place.left);
        const height = Math.min(box.bottom, place.bottom) - Math.max(box.top, place.top);
        if (width > 1 && height > 4) touching.push(`${name(svg)}: ${text} and ${other}`);
      }
    });
  }
  return {
    width: document.documentElement.scrollWidth,
    data: document.getElementById('tally-statistics').textContent,
    scripts: document.querySelectorAll('script').length,
    strangers: document.querySelectorAll('img, iframe, object, [onerror], [onload], [href]:not(link)').length,
    tiles: Object.fromEntries([...document.querySelectorAll('.tiles > div')].map(
      tile => [tile.querySelector('dt').textContent, tile.querySelector('dd').firstChild.textContent])),
    message: document.querySelector('.message').textContent,
    sentences: [...document.querySelectorAll('p')].map(line => line.textContent.trim()),
    titles: [...document.querySelectorAll('h2')].map(title => title.textContent),
    lists: [...document.querySelectorAll('#lists tbody tr')].map(
      row => [row.querySelector('th').textContent, row.querySelector('td').textContent]),
    charts: shown.length,
    cards: document.querySelectorAll('.card svg.narrow').length,
    unnamed: shown.filter(svg => svg.getAttribute('role') !== 'img' || svg.getAttribute('aria-labelledby').split(' ')
      .some(id => !document.getElementById(id)?.textContent)).map(name),
    bare: [...document.querySelectorAll('.card')].filter(card => card.querySelector('svg') && !card.querySelector('details tbody tr'))
      .map(card => card.id),
    ground: getComputedStyle(document.body).backgroundColor,
    outside, touching, small,
  };
})()
"""


def tasks(numbers):
    for number in range(900):
        day = min(numbers.randrange(400), numbers.randrange(400))
        month, date = 10 - day // 28, 28 - day % 28
        stamp = f"{2026 + month // 12}-{1 + month % 12:02}-{min(date, 20):02}T{numbers.randrange(6, 23):02}:15:00Z"
        task = {"id": str(uuid.UUID(int=numbers.getrandbits(128))), "text": f"task {number}", "createdAt": stamp}
        if numbers.random() < 0.9:
            task |= {"state": "completed", "completedAt": stamp}
        yield task


def fill(tally, numbers):
    for name in LISTS:
        tally("full", "lists", "add", name)
        lines = "".join(f"task {number}\n" for number in range(numbers.randrange(5, 30)))
        added = json.loads(tally("full", "add", "-", "--list", name, "--json", text=lines))["changed"]
        tally("full", "done", *(task["id"] for task in added))
    lines = "".join(json.dumps(task) + "\n" for task in tasks(numbers))
    tally("full", "import", "-", "--format", "ndjson", text=lines)


def check(browser, printed, place):
    """Asserts that the open page is sound, and returns its values."""
    noise = [event for event in browser.events if event.get("method") in ["Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"]]
    assert not noise, f"{place}: the console shows {json.dumps(noise)[:500]}"
    requests = [event["params"]["request"]["url"] for event in browser.events if event.get("method") == "Network.requestWillBeSent"]
    strange = [request for request in requests if not request.startswith(("file:", "data:"))]
    assert not strange, f"{place}: the page requests {strange}"
    assert not any(event.get("method") == "Page.javascriptDialogOpening" for event in browser.events), f"{place}: a dialogue"

    page = browser.evaluate(LOOK)
    width = browser.evaluate("innerWidth")
    for key in ["outside", "touching", "small", "unnamed", "bare"]:
        assert not page[key], f"{place}: {key}: {page[key][:5]}"
    assert page["width"] <= width, f"{place}: {page['width']} pixels wide"
    assert page["scripts"] == 1 and page["strangers"] == 0, f"{place}: the page has a foreign element"
    assert page["charts"] == page["cards"], f"{place}: {page['charts']} charts are shown"
    assert json.loads(page["data"]) == printed, f"{place}: the figures in the page differ"

    completed = printed["completed"]
    shown = {"Today": completed["today"], "This week": completed["thisWeek"], "This month": completed["thisMonth"],
             "This year": completed["thisYear"], "All time": completed["allTime"], "Streak": printed["streak"]["current"],
             "Longest streak": printed["streak"]["longest"], "Open": printed["open"]["total"]}
    assert {name: text.strip().replace(",", "") for name, text in page["tiles"].items()} == {
        name: str(value) for name, value in shown.items()}, f"{place}: {page['tiles']}"
    if completed["allTime"] == 0:
        assert page["message"] == "0 tasks completed today", f"{place}: {page['message']}"
        assert "No data available yet." in page["sentences"], f"{place}: {page['sentences']}"
        return page
    for trend in printed["trend"].values():
        assert trend["message"] in page["titles"], f"{place}: the page does not contain '{trend['message']}'"
    lists = sorted((entry["name"] or "no list", str(entry["completed"])) for entry in printed["byList"])
    if page["lists"]:
        assert sorted((name, count.replace(",", "")) for name, count in page["lists"]) == lists, f"{place}: {page['lists']}"
    return page


def main():
    browser_program = find_browser()
    if not browser_program:
        print("check-page: skipped without Chromium; on Debian: apt-get install chromium, elsewhere set CHROMIUM", file=sys.stderr)
        return
    program = ROOT / ".build/debug/tally"
    pictures = ROOT / ".build/pages"
    pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="tally-page-") as folder, Browser(browser_program) as browser:

        def tally(store, *arguments, text=""):
            command = [program, "--store", f"{folder}/{store}", "--now", NOW, "--time-zone", "Europe/Istanbul", *arguments]
            result = subprocess.run(command, input=text, capture_output=True, encoding="utf-8", check=False)
            assert result.returncode == 0, f"{' '.join(arguments)[:200]}: {result.stderr}"
            return result.stdout

        fill(tally, random.Random(SEED))
        for name, options in STORES.items():
            path = f"{folder}/{name}.html"
            printed = json.loads(tally("empty" if name == "empty" else "full", "stats", "--json", "--html", path, *options))
            grounds = set()
            for width, height in SCREENS:
                for scheme in ["light", "dark"]:
                    browser.open(f"file://{path}", width, height, scheme)
                    page = check(browser, printed, f"{name}, {width} pixels, {scheme}")
                    grounds.add(page["ground"])
                    picture = browser.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
                    (pictures / f"{name}-{width}-{scheme}.png").write_bytes(base64.b64decode(picture))
            assert len(grounds) == 2, f"{name}: light and dark are the same"
    print(f"page: {len(STORES)} pages at {' and '.join(str(width) for width, _ in SCREENS)} pixels, light and dark, are sound; pictures in {pictures.relative_to(ROOT)}")


if __name__ == "__main__":
    try:
        main()
    except AssertionError as failure:
        sys.exit(f"check-page: {failure}")
