"""What must not be lost, doubled or hit by mistake: circles, the sheet, forms that are refused or sent twice, drags."""

import json
import time

from scenario import check, once, quick, scenario, task_id, until
from web import ALT, Web, row

LATENCY_IN_MILLISECONDS = 1500
STATE = ".querySelector(':scope > .state')"
CLOCK_OF_A_PRESS_IN_SECONDS = 0.6


def tasks(tally):
    """All tasks by title."""
    return {task["title"]: task for section in json.loads(tally("all", "--json"))["sections"] for task in section["tasks"]}


def states(tally):
    return {title: task["state"] for title, task in tasks(tally).items()}


def press_there(page, x, y):
    """A press where the pointer is: of a mouse on a desktop, of a finger on a phone."""
    if page.size[0] > 1000:
        for kind in ["mousePressed", "mouseReleased"]:
            page.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
    else:
        page.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        page.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])


@quick
@scenario
def circles(page, tally, name):
    """A press on a circle completes its task, which stays where it is; a second one takes that back and hits no neighbour."""
    titles = ["one", "two", "three", "four"]
    for title in titles:
        tally("add", title, "--today")
    for latency in [0] if page.is_quick else [0, LATENCY_IN_MILLISECONDS]:
        for is_moving in [True] if page.is_quick else [False, True]:
            page.slow(0)
            page.visit("/today")
            page.slow(latency)
            x, y = page.still_center(f"{row('two')}{STATE}")
            press_there(page, x, y)
            page.wait(f"{row('two')}.classList.contains('completed')", "the filled ring", seconds=1)
            if is_moving:
                # Another program moves the rows around.
                tally("start", task_id(tally, "four"))
                tally("add", "first", "--today", "--priority", "high")
                tally("start", task_id(tally, "first"))
                time.sleep(0.5)
            press_there(page, x, y)
            time.sleep(2.5 + 4 * latency / 1000)
            until(lambda: states(tally)["two"] == "notStarted", "the second press to take the first one back")
            others = {title: state for title, state in states(tally).items() if title != "two"}
            expected = {"one": "notStarted", "three": "notStarted", "four": "active" if is_moving else "notStarted"}
            expected |= {"first": "active"} if is_moving else {}
            assert others == expected, others
            if is_moving:
                page.wait("document.querySelector('#rows .title').textContent !== 'one'", "the rows to move in the end")
                tally("reopen", task_id(tally, "four"))
                tally("delete", task_id(tally, "first"))
    page.slow(0)
    page.visit("/today")
    x, y = page.still_center(f"{row('two')}{STATE}")
    press_there(page, x, y)
    until(lambda: states(tally)["two"] == "completed", "one press to complete")
    assert page.titles()[1] == "two", page.titles()
    check(page, f"a completed task before it settles, {name}")
    page.wait("[...document.querySelectorAll('#rows .title')].at(-1).textContent === 'two'", "the row to settle", seconds=5)
    # By keys: the same row, twice.
    page.evaluate(f"{row('three')}.querySelector('.title').focus()")
    page.press(" ")
    page.press(" ")
    time.sleep(2.5)
    assert states(tally) == {"one": "notStarted", "two": "completed", "three": "notStarted", "four": "notStarted"}, states(tally)
    assert page.evaluate("document.activeElement.textContent") == "three"


@scenario
def families_of_circles(page, tally, name):
    """A press that is taken back restores the sub-tasks that it had completed; one in the agenda moves nothing below it."""
    parent = json.loads(tally("add", "Move house", "--today", "--json"))["changed"][0]["id"]
    tally("add", "Pack the books", "--parent", parent)
    for title in ["late", "later"]:
        tally("add", title, "--due", "yesterday 18:00")
    page.visit("/today")
    x, y = page.still_center(f"{row('Move house')}{STATE}")
    press_there(page, x, y)
    until(lambda: states(tally)["Pack the books"] == "completed", "the sub-task to be completed, too")
    press_there(page, x, y)
    until(lambda: states(tally) == dict.fromkeys(states(tally), "notStarted"), "everything to be as it was")
    time.sleep(2.5)
    x, y = page.still_center(f"{row('late')}{STATE}")
    press_there(page, x, y)
    until(lambda: states(tally)["late"] == "completed", "the task of the agenda")
    time.sleep(0.5)
    press_there(page, x, y)
    time.sleep(2.5)
    assert set(states(tally).values()) == {"notStarted"}, states(tally)


@scenario
def starting(page, tally, name):
    """A circle that is held starts its task; so do a key and the menu; the sheet has all three states."""
    tally("add", "one", "--today")
    page.visit("/today")
    x, y = page.still_center(f"{row('one')}{STATE}")
    if page.size[0] > 1000:
        page.call("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, button="left", clickCount=1)
        time.sleep(CLOCK_OF_A_PRESS_IN_SECONDS)
        page.call("Input.dispatchMouseEvent", type="mouseReleased", x=x, y=y, button="left", clickCount=1)
    else:
        page.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        time.sleep(CLOCK_OF_A_PRESS_IN_SECONDS)
        page.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    until(lambda: states(tally)["one"] == "active", "the started task")
    time.sleep(2.5)
    assert states(tally)["one"] == "active", states(tally)
    check(page, f"a started task, {name}")
    page.evaluate(f"{row('one')}.querySelector('.title').focus()")
    page.press("s")
    until(lambda: states(tally)["one"] == "notStarted", "the stopped task")
    page.evaluate(f"{row('one')}.querySelector('.title').focus()")
    page.press("m")
    page.wait("document.querySelector('dialog[open] [role=menu]')", "the menu")
    page.press("Enter")
    until(lambda: states(tally)["one"] == "active", "the menu's first item")
    page.visit(f"/tasks/{task_id(tally, 'one')}")
    for state in ["completed", "active", "notStarted"]:
        page.evaluate(f"document.getElementById('state').value = '{state}'; document.getElementById('state').dispatchEvent(new Event('change', {{bubbles: true}}))")
        until(lambda state=state: states(tally)["one"] == state, f"the sheet's {state}")
        page.wait("!document.querySelector('#state').matches('[aria-invalid]')", "no refusal")


# Ways to leave a sheet on which notes are being typed, and what the page shows then.
def ways(page):
    def follow_link():
        page.click("document.querySelector('.top .name')")

    def press_keys():
        page.evaluate("document.querySelector('#subtasks .title, .top .name').focus()")
        page.press("g")
        page.press("t")

    def reload():
        page.call("Page.reload")

    def close():
        session = page.session
        page.new_tab()
        page.call("Page.navigate", url=page.web.address + "/inbox")
        page.wait("document.documentElement.classList.contains('scripted')", "another tab")
        other = page.session
        page.session = session
        page.call("Page.close")
        page.session = other

    return {
        "a link": follow_link,
        "keys": press_keys,
        "back": lambda: page.evaluate("history.back()"),
        "reload": reload,
        "Escape": lambda: page.press("Escape"),
        "a sub-task": lambda: (page.click("document.getElementById('subtask')"), page.type("a part"), page.press("Enter")),
        "the circle of a sub-task": lambda: page.click(f"document.querySelector('#subtasks .state')"),
        "the menu": lambda: (
            page.click("document.querySelector('#subtasks .handle')"),
            page.click("[...document.querySelectorAll('[role=menuitem]')].find(item => item.textContent === 'Plan for today')")),
        "undo": lambda: (
            page.evaluate("const field = document.getElementById('priority'); field.value = field.value === 'high' ? 'low' : 'high'; document.getElementById('priority').dispatchEvent(new Event('change', {bubbles: true}))"),
            page.wait("document.querySelector('.notice button')", "the notice"), page.click("document.querySelector('.notice button')")),
        "search": lambda: (page.click("document.getElementById('search-text')"), page.type("zzz")),
        "Save": lambda: page.click("document.querySelector('#sheet .main')"),
        "closing the tab": close,
    }


def notes(tally, task):
    return json.loads(tally("show", task, "--json")).get("notes") or ""


@quick
@scenario
def leaving(page, tally, name):
    """Whatever way a sheet is left, what was typed is saved."""
    task = json.loads(tally("add", "Write a letter", "--today", "--json"))["changed"][0]["id"]
    tally("add", "Buy stamps", "--parent", task)
    is_short = page.is_quick or page.size[2] == "dark"
    for way in ways(page):
        for latency in [0] if is_short else [0, LATENCY_IN_MILLISECONDS]:
            page.slow(0)
            page.visit("/today")
            page.click(f"{row('Write a letter')}.querySelector('.title')")
            page.wait("document.getElementById('notes') && document.documentElement.classList.contains('scripted')", "the sheet")
            page.click("document.getElementById('notes')")
            page.evaluate("document.getElementById('notes').select()")
            page.slow(latency)
            text = f"left by {way} with {latency} ms"
            page.type(text)
            ways(page)[way]()
            until(lambda text=text: notes(tally, task) == text, f"{text!r}; the store has {notes(tally, task)!r}", seconds=25)
            if way == "Escape":
                page.wait("location.pathname === '/today'", "the screen from which the sheet was opened")
    page.slow(0)
    assert json.loads(tally("count", "--json"))["count"] == (3 if is_short else 4), "each sub-task once"
    page.keep_noise()
    # An undo may come too late.
    page.noise = [event for event in page.noise if "409" not in json.dumps(event)]
    page.visit("/today")
    check(page, f"after the sheet, {name}")


@scenario
def expired(page, tally, name):
    """What is typed while the server restarts, or after the visit has expired, is saved once the browser is let in again."""
    store = tally.store
    task = json.loads(tally("add", "Write a letter", "--today", "--json"))["changed"][0]["id"]
    with Web(store) as first:
        page.web = first
        page.open(first.first_address, *page.size)
        page.visit(f"/tasks/{task}")
        port = int(first.address.split(":")[-1])
        page.click("document.getElementById('notes')")
        page.type("typed before")
    page.press("Tab")
    page.wait("document.getElementById('notes-refusal')?.innerText.includes('does not answer')", "the words beside the field", seconds=30)
    page.click("document.getElementById('subtask')")
    page.type("a part")
    page.press("Enter")
    page.click("document.getElementById('capture-text')")
    page.type("captured meanwhile")
    page.press("Enter")
    with Web(store, port=port) as second:
        page.web = second
        page.wait("document.getElementById('connection').innerText.includes('no longer has access')", "that the browser has no access", seconds=30)
        assert page.evaluate("document.getElementById('notes').value") == "typed before"
        page.noise = []
        page.events.clear()
        check(page, f"an expired visit, {name}")
        own, _ = page.new_tab()
        page.open(second.first_address, *page.size)
        page.turn(own)
        until(lambda: notes(tally, task) == "typed before", "the notes", seconds=30)
        until(lambda: set(tasks(tally)) == {"Write a letter", "a part", "captured meanwhile"}, "what was added", seconds=30)
        page.wait("!document.getElementById('notes-refusal')", "the words to go")
        time.sleep(6)
        assert len(tasks(tally)) == 3 and json.loads(tally("count", "--json"))["count"] == 3, "each once"
        page.noise = []
        page.events.clear()


@scenario
def refused_fields(page, tally, name):
    """A field that is not understood is refused beside it, the others are saved, and Escape keeps the sheet open once."""
    task = json.loads(tally("add", "Write a letter", "--today", "--json"))["changed"][0]["id"]
    wrong = {"due": "frday", "reminder": "sometime", "repeat": "sometimes", "tags": "x" * 65, "title": " "}
    page.visit("/inbox")
    page.visit(f"/tasks/{task}")
    for field, text in wrong.items():
        page.click(f"document.getElementById('{field}')")
        page.evaluate(f"document.getElementById('{field}').select()")
        page.type(text)
        page.click("document.getElementById('notes')")
        page.wait(f"document.getElementById('{field}-refusal')?.innerText.startsWith('Not saved')", f"the words beside {field}")
        assert page.evaluate(f"document.getElementById('{field}').value") == text, field
    page.noise = []
    page.events.clear()
    page.type("kept")
    page.press("Tab")
    until(lambda: notes(tally, task) == "kept", "the notes")
    page.noise = []
    page.events.clear()
    check(page, f"refused fields, {name}")
    page.press("Escape")
    page.wait("document.activeElement.getAttribute('aria-invalid') === 'true'", "the focus on a refused field")
    # The text is kept, also across another screen.
    page.visit("/inbox")
    page.visit(f"/tasks/{task}")
    page.wait("document.getElementById('due').value === 'frday' && document.getElementById('due-refusal')", "the refused text again", seconds=20)
    page.evaluate("document.getElementById('due').select()")
    page.click("document.getElementById('due')")
    page.evaluate("document.getElementById('due').select()")
    page.type("2031-05-07")
    page.press("Enter")
    until(lambda: json.loads(tally("show", task, "--json")).get("dueDay") == "2031-05-07", "the corrected field")
    page.noise = []
    page.events.clear()


# How many texts the browser keeps.
KEPT = "Object.keys(localStorage).filter(key => key.startsWith('tally-kept-')).length"


def button(place, words):
    """The expression of a button with words in a place."""
    return f"[...document.querySelectorAll('{place} button')].find(button => button.textContent === '{words}')"


def replace_text(page, field, text):
    page.click(f"document.getElementById('{field}')")
    page.evaluate(f"document.getElementById('{field}').select()")
    page.type(text)


def forget_noise(page):
    """The console shows each refusal."""
    page.keep_noise()
    page.noise = []


def refuse_subtasks(page):
    """Makes the page get a refusal, a while later, for a sub-task with this word, and note what it sends."""
    page.evaluate(
        "window.sent = []; const own = window.fetch; window.fetch = async (address, options = {}) => {"
        " if (options.method === 'POST') sent.push(address);"
        " if (!String(options.body).includes('title=a+refused')) return own(address, options);"
        f" await new Promise(resolve => setTimeout(resolve, {LATENCY_IN_MILLISECONDS}));"
        " return new Response(JSON.stringify({failure: 'It is refused', remedy: 'Write another one'}), {status: 422}); }")


@scenario
def refused_captures(page, tally, name):
    """A sentence that was refused comes back into its field, with the reason, and is sent again only by the person."""
    # More than a sentence may have.
    refused, other = "x" * 70_000, "y" * 70_000
    field, reason = "document.getElementById('capture-text')", "document.getElementById('capture-refusal').innerText.startsWith('Not added')"
    # The next sentence is in the field when the refusal comes.
    page.visit("/inbox")
    page.slow(LATENCY_IN_MILLISECONDS)
    page.click(field)
    page.type(refused)
    page.press("Enter")
    page.type("the next one")
    page.wait(f"document.querySelector('.notice')?.innerText.startsWith('Not added: “xxx') && {button('.notice', 'Discard')}", "the notice")
    page.slow(0)
    forget_noise(page)
    page.press("Enter")
    until(lambda: "the next one" in tasks(tally), "the next one")
    page.evaluate(f"{field}.blur()")
    page.wait(f"{field}.value[0] === 'x' && {reason}", "the refused sentence as soon as the field is left")
    for _ in range(2):
        page.visit("/today")
        page.wait(f"{field}.value[0] === 'x' && {reason}", "the refused sentence in the field", seconds=20)
        # Longer than a page waits before it sends kept texts.
        time.sleep(6)
        check(page, f"a refused sentence after a reload, {name}")
    assert page.evaluate(f"{field}.value") == refused
    replace_text(page, "capture-text", other)
    page.press("Enter")
    page.wait(reason, "another refusal")
    forget_noise(page)
    page.call("Page.reload")
    page.wait(button("#capture-refusal", "Discard"), "the other sentence", seconds=20)
    page.click(button("#capture-refusal", "Discard"))
    page.wait(f"{field}.value === '' && {KEPT} === 0", "nothing that is kept")
    page.visit("/today")
    time.sleep(2)
    assert page.evaluate(f"{field}.value + document.getElementById('capture-refusal').innerText") == ""
    # A shorter one is added.
    replace_text(page, "capture-text", other)
    page.press("Enter")
    page.wait(reason, "the same refusal")
    replace_text(page, "capture-text", "a shorter one")
    page.press("Enter")
    until(lambda: set(tasks(tally)) == {"the next one", "a shorter one"}, "the shorter one")
    page.wait(f"{KEPT} === 0", "nothing that is kept")
    forget_noise(page)
    check(page, f"no refused sentence, {name}")


@scenario
def refused_edits(page, tally, name):
    """A text of a sheet that was refused is shown there after a reload, with the reason, and is sent again only by the person."""
    task = json.loads(tally("add", "Write a letter", "--today", "--notes", "old", "--json"))["changed"][0]["id"]
    page.visit(f"/tasks/{task}")
    replace_text(page, "due", "frday")
    page.press("Tab")
    page.wait("document.getElementById('due-refusal')", "the refusal")
    reason = page.text("#due-refusal")
    replace_text(page, "notes", "mine")
    tally("edit", task, "--notes", "theirs")
    page.press("Tab")
    page.wait("document.getElementById('notes-refusal')?.innerText.includes('theirs')", "both texts")
    forget_noise(page)
    page.visit("/inbox")
    page.wait("document.querySelector('.notice')?.innerText.includes('Not saved')", "the notice", seconds=20)
    page.visit("/today")
    time.sleep(6)
    assert page.evaluate("document.querySelector('.notice') === null"), "the notice comes once"
    page.visit(f"/tasks/{task}")
    for field, text, words in [("due", "frday", reason), ("notes", "mine", "theirs")]:
        page.wait(
            f"document.getElementById('{field}').value === '{text}'"
            f" && document.getElementById('{field}-refusal')?.innerText.includes({json.dumps(words)})", f"{text} with the reason")
    time.sleep(6)
    check(page, f"refused fields after a reload, {name}")
    page.click(button("#due-refusal", "Discard"))
    page.click(button("#notes-refusal", "Save mine"))
    until(lambda: notes(tally, task) == "mine", "the notes")
    page.wait(f"document.getElementById('due').value === '' && !document.querySelector('#sheet .refusal') && {KEPT} === 0", "nothing that is kept")
    page.visit(f"/tasks/{task}")
    time.sleep(2)
    assert page.evaluate("document.getElementById('due').value + document.querySelectorAll('#sheet .refusal').length") == "0"
    check(page, f"a sheet without refusals, {name}")
    # A sub-task whose parent was deleted, which comes back.
    tally("delete", task)
    page.click("document.getElementById('subtask')")
    page.type("a part")
    page.press("Enter")
    page.wait("document.getElementById('subtask-refusal')", "the refusal of the sub-task")
    forget_noise(page)
    tally("undo")
    page.visit(f"/tasks/{task}")
    page.wait("document.getElementById('subtask').value === 'a part' && document.getElementById('subtask-refusal')", "the sub-task with the reason")
    time.sleep(6)
    check(page, f"a refused sub-task after a reload, {name}")
    page.press("Escape")
    page.visit(f"/tasks/{task}")
    page.wait("document.getElementById('subtask').value === 'a part'", "the sub-task once more", seconds=20)
    page.click("document.getElementById('subtask')")
    page.press("Enter")
    until(lambda: "a part" in tasks(tally), "the sub-task")
    page.wait(f"!document.getElementById('subtask-refusal') && {KEPT} === 0", "nothing that is kept")


@scenario
def refused_together(page, tally, name):
    """Several texts that were refused are told together, in a tab that somebody sees."""
    task = json.loads(tally("add", "Write a letter", "--today", "--json"))["changed"][0]["id"]
    page.visit(f"/tasks/{task}")
    for field, text in [("due", "frday"), ("repeat", "sometimes")]:
        replace_text(page, field, text)
        page.press("Tab")
        page.wait(f"document.getElementById('{field}-refusal')", "the refusal")
    forget_noise(page)
    hiding = "Object.defineProperty(document, 'visibilityState', {configurable: true, get: () => 'hidden'})"
    script = page.call("Page.addScriptToEvaluateOnNewDocument", source=hiding)["identifier"]
    page.visit("/inbox")
    # Longer than a page waits before it looks for kept texts.
    time.sleep(6)
    assert page.evaluate("document.querySelector('.notice') === null"), "nothing while nobody sees it"
    page.call("Page.removeScriptToEvaluateOnNewDocument", identifier=script)
    page.evaluate("delete document.visibilityState; document.dispatchEvent(new Event('visibilitychange'))")
    page.wait("['frday', 'sometimes'].every(text => document.getElementById('notice').innerText.includes(text))", "both texts")
    check(page, f"two refused texts, {name}")
    page.click(button(".notice", "Discard"))
    page.wait(f"document.querySelectorAll('.notice').length === 1 && {KEPT} === 1", "the other text")


@once
def refused_in_tabs(page, tally, _):
    """A text that was refused in one tab stays when another one saves or adds its own."""
    task = json.loads(tally("add", "Write a letter", "--today", "--json"))["changed"][0]["id"]
    page.visit(f"/tasks/{task}")
    replace_text(page, "due", "frday")
    page.press("Tab")
    page.wait("document.getElementById('due-refusal')", "the refusal")
    refuse_subtasks(page)
    replace_text(page, "subtask", "a refused part")
    page.press("Enter")
    page.wait("document.getElementById('subtask-refusal')", "the refusal of the sub-task")
    forget_noise(page)
    first, _ = page.new_tab()
    page.visit(f"/tasks/{task}")
    replace_text(page, "due", "2031-05-07")
    page.press("Tab")
    until(lambda: json.loads(tally("show", task, "--json")).get("dueDay") == "2031-05-07", "the other tab's text")
    replace_text(page, "subtask", "a part")
    page.press("Enter")
    until(lambda: "a part" in tasks(tally), "the other tab's sub-task")
    # Otherwise this tab may take the texts when the first one loads its page again: while it loads, nobody holds them.
    page.call("Page.navigate", url="about:blank")
    page.turn(first)
    page.visit(f"/tasks/{task}")
    page.wait("document.getElementById('due').value === 'frday' && document.getElementById('due-refusal')", "the refused text", seconds=20)
    page.wait("document.getElementById('subtask').value === 'a refused part' && document.getElementById('subtask-refusal')", "the refused sub-task", seconds=20)
    for field in ["due", "subtask"]:
        page.click(button(f"#{field}-refusal", "Take that" if field == "due" else "Discard"))
    page.wait(f"{KEPT} === 0", "nothing that is kept")


@once
def refused_places(page, tally, _):
    """A sentence that was refused goes where it was written, as it was typed."""
    field, sentence = "document.getElementById('capture-text')", "Read the !high book tomorrow"
    tally("lists", "add", "Garden")
    page.visit("/lists")
    page.visit(page.evaluate("[...document.querySelectorAll('#places [data-drop^=list]')][0].pathname"))
    tally("lists", "delete", "Garden")
    page.click(field)
    page.type(sentence)
    page.wait("document.querySelector('#understood input')", "the box")
    page.click("document.querySelector('#understood input')")
    page.click(field)
    page.press("Enter")
    page.wait("document.getElementById('capture-refusal').innerText.startsWith('Not added')", "the refusal")
    forget_noise(page)
    page.visit("/today")
    where = "document.getElementById('capture-refusal').innerText.includes('It goes to %s.')"
    page.wait(where % "a list that does not exist any more", "the place", seconds=20)
    tally("undo")
    page.visit("/today")
    page.wait(where % "Garden", "the name of the place", seconds=20)
    page.wait("document.querySelector('#understood input').checked", "the box as it was")
    # The corrected sentence goes there, too.
    page.click(field)
    page.press("End")
    page.type("!")
    page.press("Enter")
    until(lambda: f"{sentence}!" in tasks(tally), "the sentence as it was typed")
    assert [task["title"] for section in json.loads(tally("list", "Garden", "--json"))["sections"] for task in section["tasks"]] == [f"{sentence}!"]


@once
def refused_lists(page, tally, _):
    """A list that was chosen and does not exist any more leaves the task in its list."""
    tally("lists", "add", "Garden")
    task = json.loads(tally("add", "Water the plants", "--list", "Garden", "--json"))["changed"][0]["id"]
    page.visit(f"/tasks/{task}")
    page.evaluate(
        "const field = document.getElementById('list'); field.add(new Option('Work', '00000000-0000-7000-8000-000000000000')); field.selectedIndex = 2;"
        " for (const kind of ['input', 'change']) field.dispatchEvent(new Event(kind, {bubbles: true}))")
    page.wait("document.getElementById('list-refusal')", "the refusal")
    forget_noise(page)
    for _ in range(2):
        page.visit(f"/tasks/{task}")
        page.wait("document.getElementById('list-refusal')?.innerText.includes('The list that you chose does not exist any more')", "the reason", seconds=20)
        assert page.evaluate("document.getElementById('list').selectedOptions[0].text") == "Garden"
        replace_text(page, "notes", "wet")
        page.click("document.querySelector('#sheet .main')")
        until(lambda: notes(tally, task) == "wet", "the saved sheet")
    time.sleep(2)
    assert "Water the plants" in tally("list", "Garden")
    page.click(button("#list-refusal", "Discard"))
    page.wait(f"!document.getElementById('list-refusal') && {KEPT} === 0", "nothing that is kept")


@once
def refused_after_former(page, tally, _):
    """A later text that is refused on another page is not told as one that was changed elsewhere."""
    task = json.loads(tally("add", "Write a letter", "--today", "--json"))["changed"][0]["id"]
    page.visit(f"/tasks/{task}")
    stamp = page.evaluate("document.querySelector('[name=was-due]').value")
    # As a page leaves them that ends while the first of two texts is being saved.
    [first, later] = [[["key", f"00000000-0000-7000-8000-00000000000{number}"], ["due", text], ["was-due", stamp]]
                      for number, text in [(1, "2031-05-07"), (2, "frday")]]
    form = {"path": f"/tasks/{task}", "fields": later, "former": first, "since": 1, "page": "gone"}
    page.visit("/inbox")
    page.evaluate(f"localStorage.setItem('tally-kept-{task}-due', {json.dumps(json.dumps(form))})")
    page.visit("/inbox")
    page.wait("document.querySelector('.notice')?.innerText.includes('frday')", "the refused text", seconds=20)
    forget_noise(page)
    page.visit(f"/tasks/{task}")
    page.wait("document.getElementById('due').value === 'frday' && document.getElementById('due-refusal')", "the text with the reason", seconds=20)
    assert json.loads(tally("show", task, "--json")).get("dueDay") == "2031-05-07"
    assert "elsewhere" not in page.text("#due-refusal"), page.text("#due-refusal")


@once
def refused_subtasks(page, tally, _):
    """A sub-task that was refused waits until its field is free; adding others sends no refused text again."""
    task = json.loads(tally("add", "Write a letter", "--today", "--json"))["changed"][0]["id"]
    subtask = "document.getElementById('subtask')"
    page.visit(f"/tasks/{task}")
    replace_text(page, "due", "frday")
    page.press("Tab")
    page.wait("document.getElementById('due-refusal')", "the refusal")
    refuse_subtasks(page)
    page.click(subtask)
    page.type("a refused part")
    page.press("Enter")
    page.type("a part")
    page.wait(f"document.querySelector('.notice')?.innerText.startsWith('Not added: “a refused part”. It is refused.') && {button('.notice', 'Discard')}", "the notice")
    page.click("document.querySelector('#sheet [value=subtask]')")
    until(lambda: "a part" in tasks(tally), "the next sub-task")
    time.sleep(1)
    assert page.evaluate("sent.every(address => address.endsWith('/subtasks'))"), page.evaluate("sent")
    page.evaluate(f"{subtask}.blur()")
    page.wait(f"{subtask}.value === 'a refused part' && document.getElementById('subtask-refusal')", "the refused sub-task in its field")
    page.click(button("#subtask-refusal", "Discard"))
    page.click("document.querySelector('#sheet .main')")
    page.wait("sent.at(-1).endsWith(location.pathname)", "Save to send the refused text again")
    page.wait(f"document.getElementById('due-refusal') && {KEPT} === 1", "another refusal")
    forget_noise(page)


@scenario
def both(page, tally, name):
    """A field that was changed elsewhere while it was edited is asked about beside it; neither text is lost before."""
    task = json.loads(tally("add", "Write a letter", "--today", "--notes", "old", "--json"))["changed"][0]["id"]
    for choice, expected in [("Save mine", "mine"), ("Take that", "theirs")]:
        tally("edit", task, "--notes", "old")
        page.visit(f"/tasks/{task}")
        page.click("document.getElementById('notes')")
        page.evaluate("document.getElementById('notes').select()")
        page.type("mine")
        tally("edit", task, "--notes", "theirs")
        page.wait("!document.getElementById('elsewhere').hidden", "that it was changed elsewhere")
        page.press("Tab")
        page.wait("document.getElementById('notes-refusal')?.innerText.includes('theirs')", "both texts")
        assert notes(tally, task) == "theirs" and page.evaluate("document.getElementById('notes').value") == "mine"
        page.noise = []
        page.events.clear()
        check(page, f"a field of two authors, {name}")
        page.click(f"[...document.querySelectorAll('#notes-refusal button')].find(button => button.textContent === '{choice}')")
        until(lambda expected=expected: notes(tally, task) == expected, expected)
        page.wait(f"document.getElementById('notes').value === '{expected}' && !document.getElementById('notes-refusal')", "one text")


@quick
@scenario
def several_subtasks(page, tally, name):
    """Sub-tasks are added one after the other without losing the focus, each once and in order, also over a slow network."""
    task = json.loads(tally("add", "Write a letter", "--today", "--json"))["changed"][0]["id"]
    page.visit(f"/tasks/{task}")
    page.slow(LATENCY_IN_MILLISECONDS)
    page.click("document.getElementById('subtask')")
    for title in ["paper", "ink", "stamps"]:
        page.type(title)
        # An impatient person.
        for _ in range(3):
            page.press("Enter")
        assert page.evaluate("document.activeElement.id") == "subtask"
    page.type("half a")
    until(lambda: len(tasks(tally)) == 4, "three sub-tasks")
    page.wait("document.querySelectorAll('#subtasks .row').length === 3", "their rows", seconds=20)
    assert page.evaluate("[...document.querySelectorAll('#subtasks .title')].map(title => title.textContent)") == ["paper", "ink", "stamps"]
    shown = page.evaluate("[document.activeElement.id, document.getElementById('subtask').value]")
    assert shown == ["subtask", "half a"], shown
    page.slow(0)
    time.sleep(2)
    assert len(tasks(tally)) == 4, tasks(tally).keys()
    # A title that is typed and not added waits on the sheet.
    page.visit("/today")
    page.visit(f"/tasks/{task}")
    assert page.evaluate("document.getElementById('subtask').value") == "half a"
    check(page, f"sub-tasks, {name}")


@scenario
def once_only(page, tally, name):
    """Every form is taken once, however often its button is pressed, with and without scripts, over a slow network."""
    page.visit("/lists")
    page.slow(LATENCY_IN_MILLISECONDS)
    for is_scripted, list_name in [(True, "Home"), (False, "Work")]:
        if not is_scripted:
            page.plain("/lists")
        page.evaluate(f"document.getElementById('new-name').value = '{list_name}'")
        x, y = page.still_center("[...document.querySelectorAll('#main button')].find(button => button.innerText === 'Create')")
        for _ in range(3):
            press_there(page, x, y)
            time.sleep(0.2)
        page.wait(f"[...document.querySelectorAll('.cards bdi')].some(name => name.innerText === '{list_name}')", list_name, seconds=20)
    assert [item["name"] for item in json.loads(tally("lists", "--json"))["lists"]] == ["Home", "Work"]
    for is_scripted, title in [(True, "with a script"), (False, "without one")]:
        page.slow(0)
        if is_scripted:
            page.scripted()
            page.visit("/inbox")
        else:
            page.plain("/inbox")
        page.slow(LATENCY_IN_MILLISECONDS)
        page.click("document.getElementById('capture-text')")
        page.type(title)
        x, y = page.still_center("document.querySelector('#capture button')")
        for _ in range(3):
            press_there(page, x, y)
            time.sleep(0.2)
        page.wait(row(title), title, seconds=20)
    assert sorted(tasks(tally)) == ["with a script", "without one"] and json.loads(tally("count", "--json"))["count"] == 2
    # An undo is sent once, too: a second one would take back something else.
    page.slow(0)
    page.plain("/history")
    page.slow(LATENCY_IN_MILLISECONDS)
    x, y = page.still_center("document.querySelector('.changes button')")
    for _ in range(2):
        press_there(page, x, y)
        time.sleep(0.2)
    page.wait("document.querySelector('.undone')", "the undone change", seconds=20)
    page.slow(0)
    page.scripted()
    assert list(tasks(tally)) == ["with a script"], tasks(tally).keys()


@once
def lost_answers(page, tally, _):
    """A form whose answer was lost is sent again, and taken once."""
    page.visit("/inbox")
    # The first answer to each change is lost on its way.
    page.evaluate(
        "window.lost = 0; const own = window.fetch; window.fetch = async (address, options = {}) => {"
        " const answer = await own(address, options);"
        " if (options.method === 'POST' && lost++ % 2 === 0) throw new TypeError('lost');"
        " return answer; }")
    page.click("document.getElementById('capture-text')")
    for title in ["one", "two"]:
        page.type(title)
        page.press("Enter")
        page.wait(row(title), title)
    page.click(f"{row('one')}{STATE}")
    until(lambda: states(tally)["one"] == "completed", "the completed task")
    page.evaluate(f"{row('two')}.querySelector('.title').focus()")
    page.press("Delete")
    page.wait(f"!{row('two')}", "the deleted task to go")
    time.sleep(2)
    page.press("u")
    page.wait(row("two"), "the task again")
    time.sleep(2)
    assert states(tally) == {"one": "completed", "two": "notStarted"}, states(tally)


# Forms with something that is not understood: screen, what to type, the button, and where the words stand.
REFUSALS = [
    ("/inbox", {"capture-text": " "}, "#capture > button", "capture-text"),
    ("/lists", {"new-name": " "}, "form[action='/lists'] .main", "new-name"),
    ("/filters", {"find-text": "due<frday"}, "form[action='/find'] button", "find-text"),
    ("/filters", {"filter-name": "Soon", "filter-text": "due<frday"}, "form[action='/filters'] .main", "filter-text"),
    ("/filters", {"filter-name": " ", "filter-text": "#home"}, "form[action='/filters'] .main", "filter-name"),
    ("/statistics", {"filter": "due<frday", "from": "2031-01-01"}, "form[action='/statistics'] button", "filter"),
    ("/statistics", {"goal": "many", "filter": "#home"}, "form[action='/statistics'] button", "goal"),
    ("/transfer", {"export-filter": "due<frday"}, "form[action='/export'] button", "export-filter"),
    ("/transfer", {"import-text": "{\"tasks\":["}, "#import .main", "import-text"),
    ("/settings", {"day-start": "13:00"}, "form[action='/settings'] .main", "day-start"),
    ("/tag?name=home", {"tag-name": "a,b"}, "form[action='/tag'] button", "tag-name"),
    ("/tasks/ID", {"due": "frday", "notes": "typed", "title": "Another title"}, "#sheet .main", "due"),
    ("/tasks/ID", {"repeat": "sometimes", "notes": "typed", "subtask": "a part"}, "#sheet .main", "repeat"),
]


@scenario
def refusals(page, tally, name):
    """What is not understood stays in its field, with the sentence beside it, in every form, with and without scripts."""
    task = json.loads(tally("add", "tagged", "--tag", "home", "--json"))["changed"][0]["id"]
    before = tally("history", "--plain")
    for is_scripted in [False, True]:
        for path, fields, button, field in REFUSALS:
            # What a script refuses by itself has scenarios of its own.
            if is_scripted and (path.startswith("/tasks") or "capture" in field):
                continue
            path = path.replace("ID", task)
            if is_scripted:
                page.scripted()
                page.visit(path)
            else:
                page.plain(path)
            page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
            page.evaluate("for (const field of document.querySelectorAll('[required], [max]')) { field.required = false; field.removeAttribute('max'); }")
            for id, text in fields.items():
                page.evaluate(f"document.getElementById({json.dumps(id)}).value = {json.dumps(text)}")
            page.evaluate(f"document.querySelector({json.dumps(button)}).click()")
            page.wait(
                f"document.readyState === 'complete' && document.getElementById({json.dumps(field)})?.getAttribute('aria-invalid') === 'true'",
                f"the refusal of {field} on {path}")
            beside = page.evaluate(
                f"(() => {{ const field = document.getElementById({json.dumps(field)});"
                " return document.getElementById(field.getAttribute('aria-describedby').split(' ')[0]).innerText; })()")
            assert len(beside) > 10, (path, field, beside)
            for id, text in fields.items():
                assert page.evaluate(f"document.getElementById({json.dumps(id)}).value") == text, (path, id)
            assert page.evaluate("!!document.querySelector('nav.tabs') && !document.body.innerText.includes('Bad Request')"), path
            page.keep_noise()
            page.noise = []
            if is_scripted or path.startswith("/tasks"):
                # The checker is a script itself.
                page.scripted()
                check(page, f"refused {field} at {path.split('?')[0].split('/')[1]}, {name}")
    page.scripted()
    assert tally("history", "--plain") == before, "nothing has changed"
    for path in ["/none", "/tasks/00000000-0000-7000-8000-000000000000", "/lists/x", "/today?from=-1", "/filter?name=x", "/tag?name=", "/done?hour=99"]:
        page.visit(path)
        assert page.evaluate("!!document.querySelector('nav.tabs') && document.body.innerText.length > 100"), path
        page.keep_noise()
        page.noise = []
        check(page, f"a wrong address, {path}, {name}")


@scenario
def plain_sheet(page, tally, name):
    """Without scripts a sheet saves what was typed whichever of its buttons is pressed."""
    task = json.loads(tally("add", "Write a letter", "--today", "--json"))["changed"][0]["id"]
    tally("add", "Buy stamps", "--parent", task)
    for way, press in [
        ("Add", "document.querySelector('#sheet button[value=subtask]').click()"),
        ("a circle", "document.querySelector('#sheet .state').click()"),
        ("Save", "document.querySelector('#sheet .main').click()"),
    ]:
        page.plain(f"/tasks/{task}")
        page.evaluate(f"document.getElementById('notes').value = 'by {way}'; document.getElementById('subtask').value = 'part of {way}'")
        page.evaluate(press)
        until(lambda way=way: notes(tally, task) == f"by {way}" and f"part of {way}" in tasks(tally), way)
    assert states(tally)["Buy stamps"] == "completed", states(tally)
    page.plain(f"/tasks/{task}")
    page.evaluate("document.getElementById('notes').value = 'at last'; document.querySelector('#sheet button[value=delete]').click()")
    until(lambda: not tasks(tally), "the deletion")
    page.wait("document.querySelector('.notice form button')", "the notice")
    page.evaluate("document.querySelector('.notice form button').click()")
    until(lambda: tasks(tally), "the undone deletion")
    assert notes(tally, task) == "at last"
    # A form that comes after the visit has expired is given back.
    page.plain(f"/tasks/{task}")
    page.evaluate("document.getElementById('notes').value = 'too late'")
    cookie = page.web.cookie()
    page.call("Network.deleteCookies", name=cookie.split("=")[0], url=page.web.address)
    page.evaluate("document.querySelector('#sheet .main').click()")
    page.wait("[...document.querySelectorAll('textarea')].some(area => area.value === 'too late')", "the text on the page")
    own, _ = page.new_tab()
    page.open(page.web.first_address, *page.size)
    page.turn(own)
    page.evaluate("document.querySelector('form .main').click()")
    until(lambda: notes(tally, task) == "too late", "the form that is sent again")
    page.scripted()
    page.noise = []
    page.events.clear()


@scenario
def honest_drags(page, tally, name):
    """A drag does what its line shows, or shows none: overdue into today, across states, sub-tasks, days and lists."""
    tally("lists", "add", "Work")
    late = json.loads(tally("add", "late", "--due", "yesterday 18:00", "--list", "Work", "--json"))["changed"][0]["id"]
    parent = json.loads(tally("add", "parent", "--today", "--json"))["changed"][0]["id"]
    for title in ["part one", "part two"]:
        tally("add", title, "--parent", parent)
    for title in ["one", "two"]:
        tally("add", title, "--today", "--list", "Work")
    tally("start", task_id(tally, "parent"))
    tally("add", "done", "--today")
    tally("done", task_id(tally, "done"))
    page.visit("/today")

    def shown():
        return page.evaluate("[...document.querySelectorAll('#rows > .row > .words .title')].map(title => title.textContent)")

    def carry(title, over, below, to="row"):
        """Drags a row over another one, and returns what was shown before it was dropped."""
        target = over if to == "place" else row(over)
        return page.drag(f"{row(title)}.querySelector('.handle')", target, below)

    assert shown() == ["parent", "one", "two", "done"], shown()
    before = tally("history", "--plain")
    # Not among the tasks of other states, not out of a family.
    for title, over, below in [
        ("two", "parent", -10), ("one", "done", 12), ("part one", "two", 12), ("part one", "one", -12), ("parent", "two", 12), ("one", "one", 4),
        ("one", "two", -12), ("late", "done", 12),
    ]:
        assert carry(title, over, below) == "", (title, over)
    assert tally("history", "--plain") == before, "where there is no line, a drop changes nothing"
    if page.size[0] > 1000:
        work = "[...document.querySelectorAll('#places a')].find(link => link.innerText.includes('Work'))"
        assert carry("one", work, 0, "place") == "", "the list in which it is"
        assert carry("part one", work, 0, "place") == "", "a sub-task stays in the list of its parent"
        assert carry("one", "document.querySelector('#places a[href=\"/today\"]')", 0, "place") == "", "the day on which it is"
        assert tally("history", "--plain") == before
    # Overdue into today: it is planned for today, where the line was.
    assert carry("late", "two", -12) == "drop-before"
    page.wait("[...document.querySelectorAll('#rows > .row > .words .title')].map(title => title.textContent).join() === 'parent,one,late,two,done'", "late between one and two")
    assert json.loads(tally("show", late, "--json"))["scheduledDate"] == tasks(tally)["one"]["scheduledDate"]
    # Among sub-tasks.
    assert carry("part two", "part one", -10) == "drop-before"
    page.wait("[...document.querySelectorAll('.family .title')].map(title => title.textContent).join() === 'part two,part one'", "the other order")
    # To the edge of its own state.
    assert carry("two", "one", -12) == "drop-before"
    page.wait("[...document.querySelectorAll('#rows > .row > .words .title')].map(title => title.textContent).join() === 'parent,two,one,late,done'", "two first of its state")
    assert [task["title"] for task in json.loads(tally("today", "--json"))["sections"][0]["tasks"] if not task.get("parent")] == shown()
    # The keys go as far as a drag does.
    before = tally("history", "--plain")
    page.evaluate(f"{row('two')}.querySelector('.title').focus()")
    page.press("ArrowUp", ALT)
    page.wait("document.querySelector('.notice')?.innerText.includes('no place further up')", "the reason")
    assert tally("history", "--plain") == before
    # From day to day.
    tally("add", "soon", "--on", "+1d")
    tally("add", "later", "--on", "+2d")
    tally("add", "last", "--on", "+2d")
    page.visit("/upcoming")
    assert carry("soon", "last", -12) == "drop-before"
    page.wait("[...document.querySelectorAll('#rows .title')].map(title => title.textContent).join() === 'later,soon,last'", "soon between the others")
    assert tasks(tally)["soon"]["scheduledDate"] == tasks(tally)["last"]["scheduledDate"]
    # Screens that have an order of their own.
    before = tally("history", "--plain")
    page.visit("/all")
    assert carry("two", "one", -12) == "" and tally("history", "--plain") == before
    check(page, f"after drags, {name}")


@quick
@scenario
def swipes(page, tally, name):
    """A swipe scrolls wherever it begins, also on a handle and on a circle; a finger that stays carries the row."""
    tally("add", "-", "--today", text="".join(f"task {number}\n" for number in range(40)))
    page.call("Emulation.setTouchEmulationEnabled", enabled=True)
    before = tally("history", "--plain")
    for start in [".handle", ".title", ".state", ".words"]:
        page.visit("/today")
        page.evaluate("scrollTo(0, 0)")
        page.swipe(f"{row('task 6')}.querySelector('{start}')", -250)
        page.wait("scrollY > 100", f"the page to scroll from {start}")
        time.sleep(0.3)
        assert page.titles()[:3] == ["task 0", "task 1", "task 2"], page.titles()[:3]
        assert tally("history", "--plain") == before, start
    for start in [".handle", ".title"]:
        page.visit("/today")
        first, second = page.titles()[:2]
        page.drag(f"{row(second)}.querySelector('{start}')", row(first), below=-12, is_mouse=False)
        page.wait(f"document.querySelector('#rows .title').textContent === {json.dumps(second)}", f"the carried row from {start}")
        assert page.evaluate("location.pathname") == "/today"
    page.call("Emulation.setTouchEmulationEnabled", enabled=False)


@scenario
def large_undo(page, tally, name):
    """Before an undo that cannot be redone the screens say just that, and what came before can still be undone."""
    tally("add", "small")
    tally("import", "-", "--format", "ndjson", text=json.dumps({"text": "large", "notes": "x" * 9_000_000}) + "\n")
    page.visit("/inbox")
    page.evaluate("document.querySelector('.title').focus()")
    page.press("u")
    page.wait("document.querySelector('[role=alertdialog][open]')", "the question", seconds=20)
    words = page.evaluate("document.querySelector('[role=alertdialog]').innerText")
    assert "cannot be redone" in words and "Everything else can still be undone" in words and "nor any earlier change" not in words, words
    page.keep_noise()
    page.noise = []
    check(page, f"an undo that cannot be redone, {name}")
    page.press("Tab")
    page.press("Enter")
    page.wait(f"!{row('large')}", "the undone import", seconds=20)
    page.evaluate("document.querySelector('.title').focus()")
    page.press("u")
    page.wait(f"!{row('small')}", "the earlier change, undone, too")
