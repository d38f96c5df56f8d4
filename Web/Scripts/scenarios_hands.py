"""What hands do: capture, states, order, selection, the sheet, the keyboard."""

import json
import re
import time

from scenario import HOSTILE, check, once, scenario, task_id, tree, until
from web import ALT, SHIFT, row


@scenario
def capture(page, tally, name):
    """The field shows what it understands, and adds the task where it says; a notice undoes it."""
    tally("lists", "add", "Work")
    page.visit("/today")
    assert page.evaluate("document.querySelector('.first-steps')?.checkVisibility()"), "an empty store has first steps"
    assert "Nothing is planned" in page.text(), "an empty screen says what to do"
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
    assert not page.evaluate("document.querySelector('.first-steps')?.checkVisibility()"), "first steps vanish after the first task"
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
    """A press completes and reopens, by mouse, finger and keyboard."""
    tally("add", "Water the plants", "--today")
    page.visit("/today")

    def state():
        return json.loads(tally("all", "--json"))["sections"][0]["tasks"][0]["state"]

    for expected, act in [
        ("completed", lambda: page.click(f"{row('Water the plants')}.querySelector('.state')")),
        ("notStarted", lambda: page.touch(f"{row('Water the plants')}.querySelector('.state')")),
        ("completed", lambda: (page.evaluate(f"{row('Water the plants')}.querySelector('.title').focus()"), page.press(" "))),
    ]:
        act()
        page.wait(f"{row('Water the plants')}.classList.contains('{expected}')", expected)
        page.wait(f"document.querySelector('.notice') && {row('Water the plants')}.querySelector('.state').ariaLabel.startsWith('{expected[0].upper()}')", f"the server's {expected}")
        until(lambda expected=expected: state() == expected, f"the store's {expected}")
        # A press that has not settled would be taken back.
        time.sleep(2.2)
    check(page, f"states, {name}")
    page.press("u")
    page.wait(f"{row('Water the plants')}.classList.contains('notStarted')", "undo by keyboard")


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

    page.drag(f"{row('three')}.querySelector('.handle')", row("one"), below=-12, is_mouse=True)
    expect(["three", "one", "two"])
    page.evaluate(f"{row('two')}.querySelector('.title').focus()")
    page.press("ArrowUp", ALT)
    expect(["three", "two", "one"])
    page.click(f"{row('two')}.querySelector('.handle')")
    page.wait("document.querySelector('dialog[open] [role=menu]')", "the menu")
    check(page, f"the menu, {name}")
    page.click("[...document.querySelectorAll('[role=menuitem]')].find(item => item.textContent === 'Move up')")
    expect(["two", "three", "one"])
    page.drag(f"{row('one')}.querySelector('.handle')", row("two"), below=-12, is_mouse=False)
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
    # A page that has just found its server saves by itself, perhaps before all these fields are filled in.
    page.wait("[...document.querySelectorAll('#fields input, #fields textarea')].every(field => field.value === field.defaultValue)", "every field to be saved")
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
    page.wait("location.pathname === '/keyboard' && document.documentElement.classList.contains('scripted')", "the sheet of keys")
    broken = page.evaluate("[...document.querySelectorAll('.keys kbd')].filter(key => key.getClientRects().length > 1).map(key => key.textContent)")
    assert not broken, f"keys on several lines: {broken}"
    listed = page.evaluate("[...document.querySelectorAll('.keys kbd')].map(key => key.textContent)")
    known = page.evaluate("import(document.querySelector('script').src.replace('app.js', 'keyboard.js')).then(keys => keys.KEYS)", awaits=True)
    assert sorted(listed) == sorted(known), (listed, known)


@scenario
def tools(page, tally, name):
    """Enter in a field of the tools presses its own button; an empty day or list changes nothing."""
    tally("lists", "add", "Work")
    for title in ["one", "two"]:
        tally("add", title, "--today", "--list", "Work")
    page.visit("/today")
    page.click(f"{row('one')}.querySelector('input')")
    page.press("Enter")
    before = tally("history", "--plain")
    for field, words in [("tool-day", "Choose a day"), ("tool-list", "Choose a list")]:
        page.evaluate(f"document.getElementById('{field}').focus()")
        page.press("Enter")
        page.wait(f"document.querySelector('.notice')?.innerText.includes('{words}')", words)
    assert tally("history", "--plain") == before, "nothing has changed"
    check(page, f"the tools, {name}")
    page.evaluate("document.getElementById('tool-day').value = '2031-05-06'; document.getElementById('tool-day').focus()")
    page.press("Enter")
    page.wait("document.querySelectorAll('#rows .row').length === 1", "the planned task to go")
    task = json.loads(tally("find", "one", "--json"))["sections"][0]["tasks"][0]
    assert (task["scheduledDate"], task["state"]) == ("2031-05-06", "notStarted"), task
    # A screen without tools: Enter on a box does not press the circle of the first row.
    page.visit("/search?q=two")
    page.evaluate(f"{row('two')}.querySelector('input').focus()")
    page.press("Enter")
    assert json.loads(tally("find", "two", "--json"))["sections"][0]["tasks"][0]["state"] == "notStarted"


@scenario
def silent(page, tally, name):
    """Keys of one character can be switched off; the others still work."""
    tally("add", "one", "--today")
    page.visit("/settings")
    page.click("document.querySelector('#main [name=keys]')")
    page.click("document.querySelector('#main .main')")
    page.wait("document.documentElement?.dataset.keys === 'off'", "the setting")
    check(page, f"the settings, {name}")
    page.visit("/today")
    page.evaluate(f"{row('one')}.querySelector('.title').focus()")
    for key in ["c", "x", "t", "?", "/"]:
        page.press(key)
        assert page.evaluate("document.activeElement.textContent") == "one" and page.evaluate("location.pathname") == "/today", key
    assert page.evaluate("document.querySelectorAll('.chosen').length") == 0
    page.press(" ")
    page.wait(f"{row('one')}.classList.contains('completed')", "the next state")
    page.visit("/keyboard")
    assert "switched off" in page.text()
    check(page, f"the keys, {name}")


@scenario
def families(page, tally, name):
    """Sub-tasks stand below their parents, with how many are done; they can be folded, and follow the store."""
    parent = json.loads(tally("add", "Move house", "--today", "--json"))["changed"][0]["id"]
    for title in ["Pack the books", "Call the movers"]:
        tally("add", title, "--today", "--parent", parent)
    tally("add", "Something else", "--today")
    page.visit("/today")
    family = f"{row('Move house')}.querySelector('details')"
    tops = "[...document.querySelectorAll('#rows > .row > .words .title')].map(title => title.textContent).join()"
    assert page.evaluate(tops) == "Move house,Something else", page.evaluate(tops)
    assert page.evaluate(f"{family}.querySelector('summary').innerText") == "0 of 2 sub-tasks done"
    check(page, f"sub-tasks, {name}")
    heard = tree(page)
    assert re.search(r"listitem.*\n(.*\n)*?\s+list 'Sub-tasks of Move house'\n\s+listitem", heard), heard
    page.click(f"{row('Pack the books')}.querySelector('.state')")
    page.wait(f"{row('Pack the books')}.querySelector('.state').ariaLabel.startsWith('Completed')", "the state of the sub-task")
    page.wait(f"{family}.querySelector('summary').innerText.startsWith('1 of 2')", "one of two")
    tally("reopen", task_id(tally, "books"))
    page.wait(f"{family}.querySelector('summary').innerText.startsWith('0 of 2')", "none of two")
    tally("add", "Paint the walls", "--parent", parent)
    page.wait(f"{family}.querySelectorAll('.row').length === 3", "the third one")
    page.evaluate(f"{row('Pack the books')}.querySelector('.title').focus()")
    page.press("ArrowDown")
    assert page.evaluate("document.activeElement.textContent") == "Call the movers" or page.evaluate("document.activeElement.closest('.family') !== null")
    page.click(f"{family}.querySelector('summary')")
    page.wait(f"!{family}.open", "the folded sub-tasks")
    tally("edit", parent, "--title", "Move the house")
    page.wait(row("Move the house"), "the new title")
    folded = f"{row('Move the house')}.querySelector('details').open === false"
    assert page.evaluate(folded), "a change does not unfold"
    page.visit("/today")
    assert page.evaluate(folded), "the browser remembers"
    # Without its parent in the view a sub-task stands alone.
    tally("edit", parent, "--on", "+3d")
    page.wait(f"!{row('Move the house')} && {row('Pack the books')}?.parentElement.id === 'rows'", "the sub-task alone")
    tally("edit", parent, "--on", "today")
    page.wait(f"{row('Move the house')}?.contains({row('Pack the books')})", "the sub-task below its parent")


@scenario
def nesting(page, tally, name):
    """The menu makes a task a part of the one above, with the other selected ones, and takes it out again."""
    for title in ["Move house", "Pack the books", "Call the movers"]:
        tally("add", title, "--today")
    page.visit("/today")

    def choose(title, item):
        page.evaluate(f"{row(title)}.querySelector('.title').focus()")
        page.press("m")
        page.wait("document.querySelector('dialog[open] [role=menu]')", "the menu")
        page.evaluate(f"[...document.querySelectorAll('[role=menuitem]')].find(item => item.textContent === {json.dumps(item)}).focus()")
        page.press("Enter")

    choose("Move house", "Make a sub-task of the one above")
    page.wait("document.querySelector('.notice')?.innerText.includes('no task above')", "the reason")
    page.click(f"{row('Pack the books')}.querySelector('input')")
    page.click(f"{row('Call the movers')}.querySelector('input')")
    choose("Call the movers", "Make a sub-task of the one above")
    page.wait(f"{row('Move house')}.querySelectorAll('.family .row').length === 2", "both below their parent")
    check(page, f"nested tasks, {name}")
    page.press("Escape")
    choose("Pack the books", "Take out of its parent")
    page.wait(f"{row('Pack the books')}?.parentElement.id === 'rows'", "the task by itself")
    assert json.loads(tally("show", task_id(tally, "books"), "--json")).get("parent") is None
    page.press("u")
    page.wait(f"{row('Move house')}.contains({row('Pack the books')})", "the task below its parent again")


@scenario
def question(page, tally, name):
    """A change that cannot be undone is asked about in a dialog; Escape changes nothing."""
    tally("import", "-", "--format", "ndjson", text=json.dumps({"text": "large", "notes": "x" * 9_000_000}) + "\n")
    page.visit("/inbox")
    page.evaluate(f"{row('large')}.querySelector('.title').focus()")
    page.press("Delete")
    page.wait("document.querySelector('[role=alertdialog][open]')", "the question", seconds=20)
    # The answer of the server was 409.
    page.keep_noise()
    page.noise = []
    check(page, f"a question, {name}")
    assert page.evaluate("document.activeElement.textContent") == "Leave everything as it is"
    page.press("Escape")
    page.wait("!document.querySelector('[role=alertdialog]')", "the question to go")
    assert page.evaluate("document.activeElement.textContent") == "large", "the focus comes back"
    assert json.loads(tally("count", "--json"))["count"] == 1
    page.press("Delete")
    page.wait("document.querySelector('[role=alertdialog][open]')", "the question again", seconds=20)
    page.press("Tab")
    page.press("Enter")
    page.wait(f"!{row('large')}", "the deleted task to go", seconds=20)
    assert json.loads(tally("count", "--json"))["count"] == 0


@scenario
def drops(page, tally, name):
    """Rows are dropped on the inbox, days and lists, by mouse, finger, menu and keyboard."""
    tally("lists", "add", "Work")
    for title in ["one", "two", "three", "four"]:
        tally("add", title, "--today", "--list", "Work")
    page.visit("/today")

    def stored(title):
        task = json.loads(tally("find", title, "--json"))["sections"][0]["tasks"][0]
        return task.get("list"), task.get("scheduledDate")

    place = ".places" if page.size[0] > 1000 else ".tabs"
    today = stored("one")[1]
    page.drag(f"{row('one')}.querySelector('.handle')", f"document.querySelector('{place} a[href=\"/inbox\"]')")
    page.wait(f"!{row('one')}", "the task to leave today")
    assert stored("one") == (None, None), stored("one")
    page.drag(f"{row('two')}.querySelector('.handle')", f"document.querySelector('{place} a[href=\"/upcoming\"]')")
    page.wait(f"!{row('two')}", "the task to leave today")
    assert stored("two")[0] == "Work" and stored("two")[1] > today, stored("two")
    # The menu does the same, by keyboard alone.
    page.evaluate(f"{row('three')}.querySelector('.title').focus()")
    page.press("m")
    page.wait("document.querySelector('dialog[open] [role=menu]')", "the menu")
    page.evaluate("[...document.querySelectorAll('[role=menuitem]')].find(item => item.textContent.startsWith('Move to a list')).focus()")
    page.press("Enter")
    page.wait("document.querySelector('dialog[open] h2').textContent === 'Move to a list'", "the lists")
    check(page, f"the lists of the menu, {name}")
    page.press("End")
    page.press("Enter")
    page.wait(f"!{row('three')}.innerText.includes('Work')", "the task without its list")
    assert stored("three") == (None, today), stored("three")
    page.click(f"{row('three')}.querySelector('.handle')")
    page.click("[...document.querySelectorAll('[role=menuitem]')].find(item => item.textContent.startsWith('Plan for a day'))")
    page.wait("document.querySelector('dialog[open] input')", "the field of the day")
    page.evaluate("document.querySelector('dialog input').value = '2031-05-06'")
    check(page, f"the day of the menu, {name}")
    page.press("Enter")
    page.wait(f"!{row('three')}", "the planned task to go")
    assert stored("three") == (None, "2031-05-06"), stored("three")
    if page.size[0] < 1000:
        page.drag(f"{row('four')}.querySelector('.handle')", "document.querySelector('.tabs a[href=\"/lists\"]')")
        page.wait("document.querySelector('dialog[open] h2')?.textContent === 'Move to a list'", "the lists")
        page.press("Escape")
    # Onto a day of another screen.
    tally("add", "five", "--on", "+2d")
    page.visit("/upcoming")
    page.drag(f"{row('two')}.querySelector('.handle')", "document.querySelectorAll('.day')[1]")
    page.wait(f"{row('two')}?.dataset.day === {row('five')}?.dataset.day", "the other day")


@scenario
def ranges(page, tally, name):
    """Shift selects everything in between, and Cancel nothing."""
    for title in ["one", "two", "three", "four"]:
        tally("add", title)
    page.visit("/inbox")
    page.click(f"{row('one')}.querySelector('input')")
    page.click(f"{row('three')}.querySelector('input')", modifiers=SHIFT)
    page.wait("document.getElementById('selected').textContent === '3 selected'", "three selected tasks")
    page.click("[...document.querySelectorAll('.tools button')].find(button => button.value === 'none')")
    page.wait("!document.querySelector('.chosen')", "no selected task")
    assert page.evaluate("getComputedStyle(document.querySelector('.tools')).display") == "none"


@once
def notices(page, tally, _):
    """A notice stays for ten seconds, longer under the pointer; the undo of one that the server has rendered leads back."""
    tally("add", "one", "--tag", "home")
    page.visit("/inbox")
    page.click(f"{row('one')}.querySelector('.state')")
    page.wait("document.querySelector('.notice')", "the notice")
    time.sleep(8)
    assert page.evaluate("!!document.querySelector('.notice')"), "it stays"
    page.wait("!document.querySelector('.notice')", "the notice to go", seconds=4)
    page.click(f"{row('one')}.querySelector('.state')")
    page.wait("document.querySelector('.notice')", "the second notice")
    x, y = page.center("document.querySelector('.notice')")
    page.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    time.sleep(11)
    assert page.evaluate("!!document.querySelector('.notice')"), "it stays under the pointer"
    page.visit("/tag?name=home")
    page.click("document.querySelector('details summary')")
    page.evaluate("document.getElementById('tag-name').value = 'house'")
    page.click("[...document.querySelectorAll('details button')].find(button => button.value === 'rename')")
    page.wait("document.querySelector('h1')?.innerText === '#house' && document.querySelector('.notice form button')", "the notice of the server")
    page.click("document.querySelector('.notice form button')")
    page.wait("location.search.includes('name=house') && document.getElementById('empty')?.checkVisibility()", "the tag without tasks")
    assert "home" in tally("tags", "--plain")


@scenario
def comfort(page, tally, name):
    """What comes and goes is announced; nothing moves where motion is reduced; every stop of the Tab key can be seen."""
    tally("add", "one", "--today")
    page.call("Emulation.setEmulatedMedia", features=[
        {"name": "prefers-color-scheme", "value": page.size[2]}, {"name": "prefers-reduced-motion", "value": "reduce"}])
    page.visit("/today")
    page.call("Emulation.setEmulatedMedia", features=[
        {"name": "prefers-color-scheme", "value": page.size[2]}, {"name": "prefers-reduced-motion", "value": "reduce"}])
    moving = page.evaluate("[...document.querySelectorAll('*')].filter(element => parseFloat(getComputedStyle(element).transitionDuration) > 0 || getComputedStyle(element).animationName !== 'none').length")
    assert moving == 0, f"{moving} elements move"
    tally("add", "two", "--today")
    page.wait("document.getElementById('live').textContent === '1 task added, 2 shown'", "the announcement")
    stops = []
    for _ in range(60):
        page.press("Tab")
        stop = page.evaluate(
            "(() => { const element = document.activeElement; const box = element.getBoundingClientRect(); const style = getComputedStyle(element);"
            " return [element.textContent.trim().slice(0, 20) || element.ariaLabel || element.id, parseFloat(style.outlineWidth) >= 2 && style.outlineStyle !== 'none',"
            " box.bottom > 0 && box.top < innerHeight && box.width > 0, element === document.body]; })()")
        if stop[3]:
            break
        stops.append(stop)
    assert len(stops) > 12, stops
    hidden = [stop for stop in stops if not stop[1] or not stop[2]]
    assert not hidden, hidden
    assert stops[0][0] == "Skip to the content", stops[0]
