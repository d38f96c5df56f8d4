#!/usr/bin/env python3
"""Opens the page of `tally stats --html` in a headless Chromium and checks it; skipped without Chromium.

The browser is $CHROMIUM or one on the path; pictures go to .build/pages. The checks, on a phone and on a screen, in light
and in dark: nothing on the console, nothing from the network, nothing wider than the screen, no label cut off or covered
by another, and the figures of `tally stats --json`.
"""

import base64
import json
import os
import pathlib
import random
import select
import shutil
import subprocess
import sys
import tempfile
import time
import uuid

ROOT = pathlib.Path(__file__).resolve().parent.parent
LONGEST_WAIT_IN_SECONDS = 60
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


class Browser:
    """A headless Chromium with one empty tab, driven by its DevTools protocol over two pipes. Use it in a `with` statement."""

    def __init__(self, program):
        self.folder = tempfile.TemporaryDirectory(prefix="tally-browser-", ignore_cleanup_errors=True)
        browser_reads, self.output = os.pipe()
        self.input, browser_writes = os.pipe()
        command = [
            program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage",
            "--remote-debugging-pipe", f"--user-data-dir={self.folder.name}", "--no-first-run", "about:blank",
        ]
        # The protocol's pipes are descriptors 3 and 4. A shell moves them there: Python code between fork and exec must not
        # allocate. The high numbers come first, as one of the pipes may be 3 or 4 already.
        moves = f'exec 8<&{browser_reads} 9>&{browser_writes}; exec 3<&8 4>&9 8<&- 9>&-; exec "$@"'
        self.process = subprocess.Popen(
            ["bash", "-c", moves, "browser", *command], pass_fds=[browser_reads, browser_writes],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(browser_reads)
        os.close(browser_writes)
        self.buffer = b""
        self.number = 0
        self.session = None
        self.events = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Log", "Network"]:
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(LONGEST_WAIT_IN_SECONDS)
        self.folder.cleanup()

    def call(self, method, **parameters):
        """Calls a method and waits for its result; other messages of the browser are kept in `events`."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                assert "error" not in answer, f"{method}: {answer.get('error')}"
                return answer["result"]
            self.events.append(answer)

    def receive(self):
        deadline = time.monotonic() + LONGEST_WAIT_IN_SECONDS
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.input], [], [], max(0, deadline - time.monotonic()))
            chunk = os.read(self.input, 1 << 16) if ready else b""
            assert chunk, "the browser does not answer any more"
            self.buffer += chunk
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def open(self, address, width, height, scheme):
        """Opens a page on a screen of some width, in light or dark, and waits until it has loaded."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events.clear()
        self.call("Page.navigate", url=address)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.receive())

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result.get("exceptionDetails")
        return result["result"].get("value")


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


def find_browser():
    names = ["chromium", "chromium-browser", "google-chrome"]
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


def main():
    browser_program = find_browser()
    if not browser_program:
        print("check-page: skipped without Chromium; on Debian: apt-get install chromium, elsewhere set CHROMIUM", file=sys.stderr)
        return
    shown = subprocess.run(["swift", "build", "--show-bin-path"], cwd=ROOT, check=True, capture_output=True, text=True)
    program = shown.stdout.strip() + "/tally"
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
