"""What the scenarios of the screens share: their list, a store with something on every screen, and what holds for each."""

import base64
import difflib
import json
import re
import time

from web import ROOT

PICTURES = ROOT / ".build/web-pages"
SIZES = [(390, 844), (1280, 900)]
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'&\u202etxt.exe\u202c {{title}} ]]>"
SCENARIOS = []
# Those of the short form.
QUICK = []
# Those that do not depend on how the screens look.
ONCE = []


def scenario(function):
    SCENARIOS.append(function)
    return function


def quick(function):
    """Marks a scenario of the short form."""
    QUICK.append(function)
    return function


def once(function):
    ONCE.append(function)
    return function


def fill(tally, is_hostile=True):
    """A small to-do list with something on every screen."""
    tally("lists", "add", "Garden", "--color", "34C759")
    tally("lists", "add", "Work")
    plants = json.loads(tally("add", "Water the plants", "--today", "--list", "Garden", "--json"))["changed"][0]["id"]
    for part in ["Fill the cans", "Feed the tomatoes"]:
        tally("add", part, "--parent", plants)
    tally("add", "Send the report", "--today", "--list", "Work", "--due", "today 23:59", "--priority", "high")
    tally("add", "Repair the fence", "--tomorrow", "--list", "Garden", "--tag", "wood")
    tally("add", "Prepare the talk", "--on", "+3d", "--list", "Work", "--notes", "ten minutes, no slides")
    tally("add", "Answer the letter", "--due", "yesterday 18:00")
    tally("add", "Clear the attic", "--on", "yesterday")
    tally("log", "Fixed the tap", "--today")
    if is_hostile:
        tally("add", "Read about 東京 🗼")
        tally("add", HOSTILE, "--tag", "<b>tag</b>")


def check(page, place):
    """Asserts what holds for every screen."""
    page.keep_noise()
    assert not page.noise, f"{place}: the console shows {json.dumps(page.noise)[:800]}"
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0, f"{place}: {wide} pixels wider than the window"
    strange = page.evaluate("document.querySelectorAll('main script, img, iframe, [onerror], [onload], body [style]:not(.gap)').length")
    assert strange == 0, f"{place}: {strange} elements that no template has"
    page.evaluate("document.documentElement.style.fontSize = '200%'")
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0, f"{place}: {wide} pixels wider than the window with text of twice the size"
    page.evaluate("document.documentElement.removeAttribute('style')")
    page.evaluate(page.axe)
    found = page.call(
        "Runtime.evaluate", expression="axe.run({resultTypes: ['violations']}).then(found => JSON.stringify(found.violations.map("
        "rule => [rule.id, rule.help, ...rule.nodes.slice(0, 3).map(node => node.html.slice(0, 200))])))",
        awaitPromise=True, returnByValue=True)["result"]["value"]
    assert found == "[]", f"{place}: the accessibility checker finds {found}"
    picture(page, place)


TALLEST_PICTURE_IN_PIXELS = 2600


def picture(page, place):
    """Keeps a picture of a screen, the part below the window included."""
    width, height, _ = page.size
    whole = page.evaluate("document.documentElement.scrollHeight")
    page.call(
        "Emulation.setDeviceMetricsOverride", width=width, height=max(height, min(whole, TALLEST_PICTURE_IN_PIXELS)),
        deviceScaleFactor=1, mobile=False)
    shown = page.call("Page.captureScreenshot")["data"]
    page.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
    PICTURES.mkdir(parents=True, exist_ok=True)
    name = re.sub("[^a-z0-9]+", "-", place.lower()).strip("-")
    (PICTURES / f"{name}.png").write_bytes(base64.b64decode(shown))


TREES = ROOT / "Web/Tests/Trees"
TREE_SCREENS = [
    "today", "inbox", "upcoming", "past", "overdue", "lists", "tags", "filters", "search?q=fence", "history", "settings", "sync",
    "transfer", "keyboard", "more",
]
NAMES_OF_DAYS = re.compile(r"\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b")
ROLES = {
    "banner", "navigation", "main", "region", "form", "search", "toolbar", "status", "heading", "link", "button", "checkbox",
    "textbox", "searchbox", "combobox", "list", "listitem", "table", "Date", "ColorWell", "progressbar", "dialog", "menu",
    "DisclosureTriangle",
}
STATES = ["expanded", "required", "disabled", "hasPopup"]


def tree(page):
    """What a screen reader gets: roles, names and states, with digits and the names of days as #."""
    # Rows have no content before the first frame that shows them.
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))", awaits=True)
    nodes = {node["nodeId"]: node for node in page.call("Accessibility.getFullAXTree")["nodes"]}
    lines = []

    def walk(node, depth):
        role = node.get("role", {}).get("value")
        if not node.get("ignored") and role in ROLES:
            states = [item["name"] for item in node.get("properties", []) if item["name"] in STATES and item["value"].get("value")]
            name = re.sub(r"\d+", "#", node.get("name", {}).get("value", ""))
            lines.append(" ".join([f"{'  ' * depth}{role} {NAMES_OF_DAYS.sub('#', name)!r}", *states]))
            depth += 1
        for child in node.get("childIds", []):
            walk(nodes[child], depth)

    walk(next(node for node in nodes.values() if "parentId" not in node), 0)
    return "\n".join(lines) + "\n"


def until(condition, what, seconds=15):
    """Waits until the store is as a condition says."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.05)


def task_id(tally, words):
    return json.loads(tally("find", words, "--json"))["sections"][0]["tasks"][0]["id"]


def compare_trees(page, tally, is_recording=False):
    fill(tally)
    for path in [*TREE_SCREENS, f"tasks/{task_id(tally, 'Prepare')}"]:
        page.visit(f"/{path}")
        file = TREES / f"{re.split('[?/]', path)[0]}-{page.size[0]}.txt"
        shown = tree(page)
        if is_recording:
            file.parent.mkdir(exist_ok=True)
            file.write_text(shown)
            continue
        expected = file.read_text()
        difference = "\n".join(difflib.unified_diff(expected.split("\n"), shown.split("\n"), "recorded", "shown", lineterm=""))
        assert not difference, f"{path}: the accessibility tree differs; --record takes a new one\n{difference}"
