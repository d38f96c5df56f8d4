#!/usr/bin/env python3
"""Uses the screens of tally-web in a headless Chromium as a person does; skipped without Chromium.

Every scenario runs at the width of a phone and of a desktop, in light and in dark, on a store of its own. Nothing may
appear on the console, no request may leave the server, nothing may be wider than the window, and an accessibility checker
must find nothing on any screen. Pictures go to .build/web-pages. Names of scenarios as arguments run only those;
--record takes the pictures of the README and the accessibility trees instead.
"""

import base64
import difflib
import json
import pathlib
import re
import sys
import tempfile
import time

from web import ALT, ROOT, Page, Terminal, Web, find_browser, row

sys.path.insert(0, str(ROOT / "Scripts"))
import environment  # noqa: E402

PICTURES = ROOT / ".build/web-pages"
SIZES = [(390, 844), (1280, 900)]
SCREENS = [
    "today", "inbox", "upcoming", "past", "overdue", "next", "active", "completed", "all", "lists", "history", "keyboard",
    "more", "search?q=the", "tags", "filters", "find?q=is:open", "statistics", "done", "settings", "transfer", "sync",
]
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'&\u202etxt.exe\u202c {{title}} ]]>"
SCENARIOS = []
# Those that do not depend on how the screens look.
ONCE = []


def scenario(function):
    SCENARIOS.append(function)
    return function


def once(function):
    ONCE.append(function)
    return function


def fill(tally, is_hostile=True):
    """A small to-do list with something on every screen."""
    tally("lists", "add", "Garden", "--color", "34C759")
    tally("lists", "add", "Work")
    tally("add", "Water the plants", "--today", "--list", "Garden")
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


@scenario
def screens(page, tally, name):
    """Every screen can be opened, is sound, and is kept as a picture."""
    fill(tally)
    task = json.loads(tally("find", "Prepare", "--json"))["sections"][0]["tasks"][0]["id"]
    garden = json.loads(tally("lists", "--json"))["lists"][0]["id"]
    for path in [*SCREENS, f"tasks/{task}", f"lists/{garden}"]:
        page.visit(f"/{path}")
        check(page, f"/{path}, {name}")
        picture = page.call("Page.captureScreenshot", captureBeyondViewport=False)["data"]
        kind = f"{path.split('/')[0]}-one" if "/" in path else path.split("?")[0]
        (PICTURES / f"{kind}-{name}.png").write_bytes(base64.b64decode(picture))
    page.visit("/inbox")
    assert HOSTILE in page.titles(), page.titles()


def record(axe):
    """Takes the pictures of the README, and the accessibility trees."""
    for (width, height), scheme, name in [((1280, 760), "light", "desktop"), ((390, 760), "dark", "phone")]:
        with tempfile.TemporaryDirectory(prefix="tally-web-") as folder, Web(f"{folder}/store") as web:
            tally = Terminal(f"{folder}/store")
            fill(tally, is_hostile=False)
            tally("start", json.loads(tally("find", "plants", "--json"))["sections"][0]["tasks"][0]["id"])
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


TREES = ROOT / "Web/Tests/Trees"
ROLES = {
    "banner", "navigation", "main", "region", "form", "search", "toolbar", "status", "heading", "link", "button", "checkbox",
    "textbox", "searchbox", "combobox", "list", "listitem", "table", "Date", "ColorWell", "progressbar", "dialog", "menu",
}
STATES = ["expanded", "required", "disabled", "hasPopup"]


def tree(page):
    """What a screen reader gets: roles, names and states, with digits as #."""
    # Rows have no content before the first frame that shows them.
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))", awaits=True)
    nodes = {node["nodeId"]: node for node in page.call("Accessibility.getFullAXTree")["nodes"]}
    lines = []

    def walk(node, depth):
        role = node.get("role", {}).get("value")
        if not node.get("ignored") and role in ROLES:
            states = [item["name"] for item in node.get("properties", []) if item["name"] in STATES and item["value"].get("value")]
            name = re.sub(r"\d+", "#", node.get("name", {}).get("value", ""))
            lines.append(" ".join([f"{'  ' * depth}{role} {name!r}", *states]))
            depth += 1
        for child in node.get("childIds", []):
            walk(nodes[child], depth)

    walk(next(node for node in nodes.values() if "parentId" not in node), 0)
    return "\n".join(lines) + "\n"


def compare_trees(page, tally, is_recording=False):
    fill(tally)
    task = json.loads(tally("find", "Prepare", "--json"))["sections"][0]["tasks"][0]["id"]
    for path in ["today", "inbox", "lists", "filters", "search?q=fence", "transfer", "keyboard", f"tasks/{task}"]:
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


@scenario
def trees(page, tally, name):
    """Screen readers get the same trees of the screens as those that were recorded."""
    compare_trees(page, tally)


@scenario
def capture(page, tally, name):
    """The field shows what it understands, and adds the task where it says; a notice undoes it."""
    tally("lists", "add", "Work")
    page.visit("/today")
    assert page.evaluate("document.querySelector('.first-steps') !== null"), "an empty store has first steps"
    check(page, f"an empty store, {name}")
    page.press("c")
    page.type("Call Ann tomorrow 9am #phone list:Work !high")
    page.wait("document.querySelectorAll('#understood .part').length === 5", "five parts that are understood")
    words = page.evaluate("document.getElementById('understood').innerText")
    assert "tomorrow" in words and "#phone" in words and "high" in words, words
    check(page, f"while typing, {name}")
    page.press("Enter")
    page.wait("document.querySelector('.notice')?.innerText.includes('Call Ann')", "the notice")
    task = json.loads(tally("find", "Ann", "--json"))["sections"][0]["tasks"][0]
    assert (task["title"], task["list"], task["tags"], task["priority"]) == ("Call Ann", "Work", ["phone"], "high"), task
    page.type("Today's work")
    page.press("Enter")
    page.wait(row("Today's work"), "the row of the new task")
    assert page.evaluate("document.querySelector('.first-steps') === null || document.getElementById('empty').hidden")
    page.wait("document.querySelector('.notice button')", "the button that undoes")
    page.click("document.querySelector('.notice button')")
    page.wait("!(" + row("Today's work") + ")", "the row to go")
    page.click("document.getElementById('capture-text')")
    page.type("Pay rent friday")
    page.wait("document.querySelector('#understood input')", "the offer to keep it as typed")
    page.click("document.querySelector('#understood input')")
    page.click("document.querySelector('#capture > button')")
    page.wait(row("Pay rent friday"), "the sentence without any part taken out")


@scenario
def states(page, tally, name):
    """A tap goes round the three states, by mouse, finger and keyboard."""
    tally("add", "Water the plants", "--today")
    page.visit("/today")

    def state():
        return json.loads(tally("all", "--json"))["sections"][0]["tasks"][0]["state"]

    for expected, act in [
        ("active", lambda: page.click(f"{row('Water the plants')}.querySelector('.state')")),
        ("completed", lambda: page.touch(f"{row('Water the plants')}.querySelector('.state')")),
        ("notStarted", lambda: (page.evaluate(f"{row('Water the plants')}.querySelector('.title').focus()"), page.press(" "))),
    ]:
        act()
        page.wait(f"{row('Water the plants')}.classList.contains('{expected}')", expected)
        page.wait(f"document.querySelector('.notice') && {row('Water the plants')}.querySelector('.state').ariaLabel.startsWith('{expected[0].upper()}')", f"the server's {expected}")
        assert state() == expected, state()
    check(page, f"states, {name}")
    page.press("u")
    page.wait(f"{row('Water the plants')}.classList.contains('completed')", "undo by keyboard")


@scenario
def live(page, tally, name):
    """What a terminal changes appears at once, in its place, without reading the view again; also after a pause."""
    tally("add", "first", "--today")
    page.visit("/today")
    page.evaluate("window.kept = document.querySelector('#rows .row')")
    tally("add", "second", "--today")
    page.wait(row("second"), "the task that the terminal has added")
    assert page.titles() == ["first", "second"] and page.evaluate("kept.isConnected"), page.titles()
    tally("done", json.loads(tally("find", "first", "--json"))["sections"][0]["tasks"][0]["id"])
    page.wait("[...document.querySelectorAll('#rows .title')].map(title => title.textContent).join() === 'second,first'", "the completed task last")
    page.call("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=-1, uploadThroughput=-1)
    page.evaluate("tallyRows.source.close()")
    tally("add", "third", "--today")
    page.call("Network.emulateNetworkConditions", offline=False, latency=0, downloadThroughput=-1, uploadThroughput=-1)
    # The browser logs each request that fails without a network; an exception in a script stays a failure.
    page.keep_noise()
    page.noise = [event for event in page.noise if event["method"] != "Log.entryAdded" or "ERR_INTERNET_DISCONNECTED" not in json.dumps(event)]
    page.evaluate("tallyRows.follow()")
    page.wait(row("third"), "the task that was added in between")
    assert page.titles() == ["second", "third", "first"], page.titles()
    page.visit("/upcoming")
    tally("add", "later", "--on", "+5d")
    tally("add", "sooner", "--on", "+4d")
    page.wait(f"{row('later')} && {row('sooner')}", "both days")
    headings = page.evaluate("[...document.querySelectorAll('#rows > li')].map(item => item.className.split(' ')[0]).join()")
    assert headings == "day,row,day,row", headings
    check(page, f"live, {name}")


@scenario
def order(page, tally, name):
    """Rows are dragged within their place, onto a day and onto a list; the menu and the keyboard do the same."""
    tally("lists", "add", "Work")
    for title in ["one", "two", "three"]:
        tally("add", title, "--today")
    page.visit("/today")

    def expect(titles):
        words = ",".join(titles)
        page.wait(f"[...document.querySelectorAll('#rows .title')].map(title => title.textContent).join() === '{words}'", f"the order {words}")
        stored = [task["title"] for task in json.loads(tally("today", "--json"))["sections"][0]["tasks"]]
        assert stored == titles, stored

    page.drag(f"{row('three')}.querySelector('.handle')", row("one"), below=-12)
    expect(["three", "one", "two"])
    page.evaluate(f"{row('two')}.querySelector('.title').focus()")
    page.press("ArrowUp", ALT)
    expect(["three", "two", "one"])
    page.click(f"{row('two')}.querySelector('.handle')")
    page.wait("document.querySelector('dialog[open] [role=menu]')", "the menu")
    check(page, f"the menu, {name}")
    page.click("[...document.querySelectorAll('[role=menuitem]')].find(item => item.textContent === 'Move up')")
    expect(["two", "three", "one"])
    page.touch_drag(f"{row('one')}.querySelector('.handle')", row("two"), below=-12)
    expect(["one", "two", "three"])
    if page.size[0] > 1000:
        page.drag(f"{row('one')}.querySelector('.handle')", "document.querySelector('#places a[href=\"/upcoming\"]')")
        expect(["two", "three"])
        page.drag(f"{row('three')}.querySelector('.handle')", "[...document.querySelectorAll('#places a')].find(link => link.innerText.includes('Work'))")
        page.wait(f"{row('three')}.innerText.includes('Work')", "the list beside the title")


@scenario
def several(page, tally, name):
    """Several tasks are selected, and changed as one step."""
    for title in ["one", "two", "three"]:
        tally("add", title)
    page.visit("/inbox")
    page.click(f"{row('one')}.querySelector('input')")
    page.evaluate(f"{row('three')}.querySelector('.title').focus()")
    page.press("x")
    page.wait("document.getElementById('selected').textContent === '2 selected'", "two selected tasks")
    check(page, f"a selection, {name}")
    page.click("[...document.querySelectorAll('.tools button')].find(button => button.value === 'today')")
    page.wait("document.querySelectorAll('#rows .row').length === 1", "two tasks to go")
    assert page.titles() == ["two"], page.titles()
    page.press("u")
    page.wait("document.querySelectorAll('#rows .row').length === 3", "one undo for both")


@scenario
def sheet(page, tally, name):
    """A task's sheet shows and changes everything; markup and 1 MB come through unchanged."""
    tally("lists", "add", "Work")
    tally("add", HOSTILE)
    task = json.loads(tally("all", "--json"))["sections"][0]["tasks"][0]["id"]
    page.visit(f"/tasks/{task}")
    assert page.evaluate("document.getElementById('title').value") == HOSTILE
    fields = {"notes": "first line\nsecond </textarea> line", "day": "2031-05-06", "due": "2031-05-07 17:30", "repeat": "every 2 weeks",
              "tags": "home, <i>x</i>", "reminder": "2031-05-05 08:00"}
    for field, value in fields.items():
        page.evaluate(f"document.getElementById('{field}').value = {json.dumps(value)}")
    page.evaluate("document.getElementById('list').selectedIndex = 1; document.getElementById('priority').value = 'medium'")
    page.click("document.querySelector('#sheet .main')")
    page.wait("location.pathname.startsWith('/tasks/') && document.querySelector('.notice')", "the notice of the saved sheet")
    saved = json.loads(tally("show", task, "--json"))
    assert (saved["title"], saved["notes"], saved["scheduledDate"], saved["list"], saved["priority"]) == (
        HOSTILE, fields["notes"], "2031-05-06", "Work", "medium"), saved
    assert sorted(saved["tags"]) == ["<i>x</i>", "home"] and "FREQ=WEEKLY;INTERVAL=2" in json.dumps(saved["recurrence"]), saved
    for field in ["due", "repeat", "reminder"]:
        assert page.evaluate(f"document.getElementById('{field}').value") == fields[field], field
    # Saved once more without a change, nothing changes.
    before = tally("history", "--plain")
    page.click("document.querySelector('#sheet .main')")
    page.wait("document.readyState === 'complete' && !document.querySelector('.notice')", "the sheet without a notice")
    assert tally("history", "--plain") == before, "saving without a change"
    page.click("document.getElementById('subtask')")
    page.type("part of it")
    page.press("Enter")
    page.wait(row("part of it"), "the sub-task")
    check(page, f"a sheet, {name}")
    long = "x" * 1_000_000
    page.evaluate("document.getElementById('title').value = 'x'.repeat(1000000)")
    page.click("document.querySelector('#sheet .main')")
    page.wait("document.querySelector('.notice')?.innerText.includes('xxxx')", "the notice of the long title", seconds=30)
    assert json.loads(tally("show", task, "--json"))["title"] == long


@scenario
def finding(page, tally, name):
    """Search finds as one types; tags and filters are screens that follow the store."""
    fill(tally)
    page.visit("/today")
    page.press("/")
    page.type("repo")
    page.wait(f"location.pathname === '/search' && {row('Send the report')}?.querySelector('mark')", "the marked match")
    check(page, f"search, {name}")
    page.type("zzz")
    page.wait("document.querySelector('#main .empty')", "no match")
    page.visit("/tags")
    page.click("[...document.querySelectorAll('#main a')].find(link => link.innerText.includes('wood'))")
    page.wait("document.querySelector('h1')?.innerText === '#wood' && window.tallyRows", "the screen of the tag")
    page.click("document.getElementById('capture-text')")
    page.type("Saw the logs")
    page.press("Enter")
    page.wait(row("Saw the logs"), "the task that got the tag")
    tally("add", "Stack the logs", "--tag", "wood")
    page.wait(row("Stack the logs"), "the task of the terminal")
    check(page, f"a tag, {name}")
    page.visit("/filters")
    page.evaluate("document.getElementById('filter-name').value = 'Soon <b>'; document.getElementById('filter-text').value = 'due<=today+1d is:open'")
    page.click("document.querySelector('form[action=\"/filters\"] button')")
    page.wait("[...document.querySelectorAll('#main a')].some(link => link.innerText === 'Soon <b>')", "the saved filter")
    page.click("[...document.querySelectorAll('#main a')].find(link => link.innerText === 'Soon <b>')")
    page.wait(row("Answer the letter"), "its tasks")
    check(page, f"a filter, {name}")


@scenario
def statistics(page, tally, name):
    """The numbers are those of the command line, and every bar leads to its tasks."""
    fill(tally)
    for number in range(3):
        tally("log", f"errand {number}", "--at", "yesterday 10:00", "--list", "Work")
    page.visit("/statistics")
    printed = json.loads(tally("stats", "--json"))
    tiles = page.evaluate("Object.fromEntries([...document.querySelectorAll('.tiles > div')].map(tile => [tile.children[0].innerText, Number(tile.children[1].innerText)]))")
    assert tiles["All time"] == printed["completed"]["allTime"] == 4 and tiles["Open"] == printed["open"]["total"], tiles
    links = page.evaluate("[...document.querySelectorAll('.chart a')].map(link => [link.pathname + link.search, Number(link.firstChild.data)])")
    assert len(links) >= 6, links
    for path, count in links:
        page.visit(path)
        rows = page.evaluate("document.querySelectorAll('#main .row').length")
        assert rows == count, f"{path}: {rows} tasks instead of {count}"


@scenario
def settings(page, tally, name):
    """The appearance that is chosen wins over the system's, and the first day of the week is used."""
    page.visit("/settings")
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    other = "light" if page.size[2] == "dark" else "dark"
    page.evaluate(f"document.getElementById('appearance').value = '{other}'; document.getElementById('week-start').value = '7'")
    page.click("document.querySelector('#main .main')")
    page.wait(f"document.documentElement?.dataset.appearance === '{other}'", "the other appearance")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != ground
    page.visit("/statistics")
    chart = "[...document.querySelectorAll('.card')].find(card => card.querySelector('h2')?.innerText === 'By weekday')"
    assert page.evaluate(f"{chart}.querySelector('tbody th').innerText") == "Sunday"
    check(page, f"the other appearance, {name}")


@scenario
def keys(page, tally, name):
    """The keyboard alone adds, finds, changes, selects, moves, plans, deletes and undoes; the sheet lists its keys."""
    tally("lists", "add", "Work")
    page.visit("/today")
    page.press("c")
    for title in ["one", "two", "three"]:
        page.type(title)
        page.press("Enter")
        page.wait(row(title), title)
    page.press("Escape")
    page.press("j")
    page.wait("document.activeElement.textContent === 'one'", "the first row")
    page.press("j")
    page.press("x")
    page.press("k")
    page.press("x")
    page.wait("document.getElementById('selected').textContent === '2 selected'", "two selected tasks")
    page.press("w")
    page.wait("document.querySelectorAll('#rows .row').length === 1", "both planned for tomorrow")
    page.press("u")
    page.wait("document.querySelectorAll('#rows .row').length === 3", "both back")
    page.press("Escape")
    page.evaluate(f"{row('three')}.querySelector('.title').focus()")
    page.press("m")
    page.wait("document.querySelector('dialog[open]')", "the menu")
    page.press("ArrowDown")
    page.press("Enter")
    page.wait(f"{row('three')}.classList.contains('completed')", "the second item of the menu")
    page.evaluate(f"{row('two')}.querySelector('.title').focus()")
    page.press("Delete")
    page.wait(f"!{row('two')}", "the deleted task to go")
    page.evaluate(f"{row('one')}.querySelector('.title').focus()")
    page.press("Enter")
    page.wait("location.pathname.startsWith('/tasks/') && document.documentElement.classList.contains('scripted')", "the sheet")
    page.press("g")
    page.press("i")
    page.wait("location.pathname === '/inbox' && document.documentElement.classList.contains('scripted')", "the inbox")
    page.press("?")
    page.wait("location.pathname === '/keyboard'", "the sheet of keys")
    listed = page.evaluate("[...document.querySelectorAll('.keys kbd')].map(key => key.textContent)")
    page.wait("document.documentElement.classList.contains('scripted')", "the scripts")
    known = page.evaluate("import(document.querySelector('script').src.replace('app.js', 'keyboard.js')).then(keys => keys.KEYS)", awaits=True)
    assert sorted(listed) == sorted(known), (listed, known)


@scenario
def many(page, tally, name):
    """A list of 3,000 tasks makes rows as they come into view, and stays right while it changes."""
    tally("add", "-", "--today", text="".join(f"task {number}\n" for number in range(3000)))
    page.visit("/today")
    assert page.evaluate("document.querySelectorAll('#rows .row').length") < 500
    page.evaluate("scrollTo(0, document.body.scrollHeight / 2)")
    page.wait("[...document.querySelectorAll('#rows .row')].some(row => { const box = row.getBoundingClientRect(); return box.top > 100 && box.top < innerHeight; })", "rows in the middle")
    tally("add", "the last one", "--today")
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    for _ in range(40):
        if page.evaluate(f"!!{row('the last one')}"):
            break
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        page.wait("!tallyRows.filling", "the rows")
    page.wait(row("the last one"), "the last row")
    count = page.evaluate("[...document.querySelectorAll('#rows .row, #rows .gap')].reduce((sum, item) => sum + (item.matches('.gap') ? Number(item.dataset.count) : 1), 0)")
    assert count == 3001, count


@scenario
def transfer(page, tally, name):
    """An export is that of the command line; a file is imported with its outcome in words, and undone."""
    fill(tally)
    page.visit("/transfer")
    exported = page.evaluate("fetch('/export?format=json').then(answer => answer.text())", awaits=True)
    printed = tally("export", "-o", "-")

    def tasks(text):
        return {key: value for key, value in json.loads(text).items() if key != "exportDate"}

    assert tasks(exported) == tasks(printed)
    with tempfile.NamedTemporaryFile("w", suffix=".ndjson") as file:
        file.writelines(json.dumps({"text": f"imported {number}", "state": "notStarted", "id": f"00000000-0000-8000-8000-{number:012}",
                                    "createdAt": "2026-01-01T00:00:00Z"}) + "\n" for number in range(2000))
        file.flush()
        before = json.loads(tally("count", "--json"))["count"]
        for is_dry, words in [(True, "Nothing is changed yet"), (False, "2000 tasks added")]:
            page.visit("/transfer")
            document = page.call("DOM.getDocument")["root"]["nodeId"]
            node = page.call("DOM.querySelector", nodeId=document, selector="#import-file")["nodeId"]
            page.call("DOM.setFileInputFiles", nodeId=node, files=[file.name])
            page.evaluate(f"document.querySelector('#import input[name=dry]').checked = {json.dumps(is_dry)}")
            page.click("document.querySelector('#import .main')")
            page.wait(f"document.getElementById('outcome').textContent.includes({json.dumps(words)})", words, seconds=30)
            check(page, f"an import, {name}")
            assert json.loads(tally("count", "--json"))["count"] == before + (0 if is_dry else 2000)
    page.evaluate("document.getElementById('import-text').value = '- [ ] from a text'; document.getElementById('import-format').value = 'markdown'")
    page.visit("/history")
    page.click("[...document.querySelectorAll('#main button')].find(button => button.ariaLabel?.startsWith('Undo'))")
    page.wait("document.querySelector('.undone')", "the undone import")
    assert json.loads(tally("count", "--json"))["count"] == before


@scenario
def devices(page, tally, name):
    """The status of synchronisation, and what another device has deleted, which comes back."""
    page.visit("/sync")
    assert "tally sync setup" in page.evaluate("document.getElementById('main').innerText")
    with tempfile.TemporaryDirectory(prefix="tally-shared-") as folder:
        pathlib.Path(f"{folder}/shared").mkdir()
        invitation = json.loads(tally("sync", "setup", f"{folder}/shared", "--name", "laptop", "--json"))["invitation"]
        tally("add", "Call the dentist")
        tally("sync", "now")
        phone = Terminal(f"{folder}/phone")
        phone("sync", "join", invitation, "--at", f"{folder}/shared", "--name", "phone")
        phone("delete", json.loads(phone("all", "--json"))["sections"][0]["tasks"][0]["id"])
        phone("sync", "now")
        tally("sync", "now")
        page.visit("/sync")
        words = page.evaluate("document.getElementById('main').innerText")
        assert "phone" in words and "laptop" in words and "Call the dentist" in words, words
        check(page, f"a shared store, {name}")
        page.click("[...document.querySelectorAll('#main button')].find(button => button.innerText === 'Restore')")
        page.wait("!document.getElementById('main').innerText.includes('Call the dentist')", "the task to leave the list")
        assert json.loads(tally("count", "--json"))["count"] == 1


CROWD = """
(async () => {
  const rows = () => [...document.querySelectorAll('#rows .row')].map(row => row.dataset.id);
  const random = list => list[Math.floor(Math.random() * list.length)];
  const send = (path, fields) => fetch(path, { method: 'POST', body: new URLSearchParams(fields), headers: { Accept: 'application/json' } });
  for (let step = 0; step < STEPS; step += 1) {
    const [id, other] = [random(rows()), random(rows())];
    const kind = Math.random();
    if (kind < 0.2 || !id) await send('/capture', { text: `NAME ${step}`, place: document.querySelector('[name=place]').value, literal: 'yes' });
    else if (kind < 0.5) await send('/change', { action: 'advance', id });
    else if (kind < 0.85 && id !== other) await send('/change', { action: 'before', id, anchor: other });
    else if (kind < 0.9) await send('/change', { action: 'delete', id });
    else await send('/change', { action: 'priority', priority: 'high', id });
  }
  window.isDone = true;
})()
"""
# The titles of the rows that are there, by position, and the number of all.
SHOWN = """
(() => {
  const shown = {};
  let position = 0;
  for (const child of document.getElementById('rows').children) {
    if (child.matches('.row')) shown[position++] = child.dataset.id;
    else if (child.matches('.gap')) position += Number(child.dataset.count);
  }
  return [position, shown];
})()
"""


@once
def crowd(page, tally, _):
    """Two browsers and a terminal change one list 2,000 times at once: all show what the store has."""
    tally("lists", "add", "Shared")
    tally("add", "-", "--list", "Shared", text="".join(f"start {number}\n" for number in range(40)))
    path = f"/lists/{json.loads(tally('lists', '--json'))['lists'][0]['id']}"
    with Page(page.web, 390, 844, "light") as other:
        for browser, name in [(page, "left"), (other, "right")]:
            browser.visit(path)
            browser.call("Runtime.evaluate", expression=CROWD.replace("STEPS", "800").replace("NAME", name))
        for number in range(400):
            if number % 4:
                tally("add", f"terminal {number}", "--list", "Shared")
            else:
                tasks = json.loads(tally("list", "Shared", "--json"))["sections"][0]["tasks"]
                tally("edit", tasks[number % len(tasks)]["id"], "--tag", "seen", may_fail=True)
        for browser in [page, other]:
            browser.wait("window.isDone", "the changes of a browser", seconds=120)
        stored = [task["id"] for task in json.loads(tally("list", "Shared", "--json"))["sections"][0]["tasks"]]
        for browser, name in [(page, "left"), (other, "right")]:
            deadline = time.monotonic() + 10
            while True:
                count, shown = browser.evaluate(SHOWN)
                differing = [position for position, id in shown.items() if int(position) >= len(stored) or stored[int(position)] != id]
                if count == len(stored) and not differing and len(shown) > 30:
                    break
                assert time.monotonic() < deadline, f"{name}: {count} of {len(stored)} tasks, {len(differing)} of {len(shown)} rows differ"
                time.sleep(0.05)
            browser.keep_noise()
        assert tally("verify")
    noise = [event for event in page.noise if "404" not in json.dumps(event) and "409" not in json.dumps(event)]
    assert not noise, json.dumps(noise)[:500]


@once
def stopping(page, tally, _):
    """SIGTERM ends the server within a second although streams are open."""
    tally("add", "x", "--today")
    page.visit("/today")
    seconds = page.web.stop()
    assert seconds < 1, f"it took {seconds} s"


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
    PICTURES.mkdir(parents=True, exist_ok=True)
    chosen = [function for function in SCENARIOS + ONCE if not sys.argv[1:] or function.__name__ in sys.argv[1:]]
    for function in chosen:
        for width, height in SIZES if function in SCENARIOS else SIZES[1:]:
            for scheme in ["light", "dark"] if function in SCENARIOS else ["light"]:
                name = f"{width}-{scheme}"
                with tempfile.TemporaryDirectory(prefix="tally-web-") as folder, Web(f"{folder}/store") as web:
                    with Page(web, width, height, scheme) as page:
                        page.axe = axe
                        try:
                            function(page, Terminal(f"{folder}/store"), name)
                        except AssertionError as failure:
                            raise AssertionError(f"{function.__name__}, {name}: {failure}") from failure
        print(f"{function.__name__}: {function.__doc__.splitlines()[0]}", flush=True)
    print(f"web: {len(chosen)} scenarios at {' and '.join(str(width) for width, _ in SIZES)} pixels, light and dark, are sound")


if __name__ == "__main__":
    try:
        main()
    except AssertionError as failure:
        sys.exit(f"check-web: {failure}")
