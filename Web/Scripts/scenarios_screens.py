"""What each screen shows."""

import datetime
import json
import pathlib
import tempfile

from scenario import HOSTILE, check, compare_trees, fill, scenario, task_id
from web import Terminal, row

SCREENS = [
    "today", "inbox", "upcoming", "past", "overdue", "next", "waiting", "active", "completed", "all", "lists", "history", "keyboard",
    "more", "search?q=the", "tags", "filters", "find?q=is:open", "statistics", "done", "settings", "transfer", "sync",
]


@scenario
def screens(page, tally, name):
    """Every screen can be opened, is sound, and is kept as a picture."""
    fill(tally)
    task = json.loads(tally("find", "Prepare", "--json"))["sections"][0]["tasks"][0]["id"]
    garden = json.loads(tally("lists", "--json"))["lists"][0]["id"]
    for path in [*SCREENS, f"tasks/{task}", f"lists/{garden}"]:
        page.visit(f"/{path}")
        kind = f"{path.split('/')[0]}-one" if "/" in path else path.split("?")[0]
        check(page, f"/{kind}, {name}")
    page.visit("/inbox")
    assert HOSTILE in page.titles(), page.titles()


@scenario
def trees(page, tally, name):
    """Screen readers get the same trees of the screens as those that were recorded."""
    compare_trees(page, tally)


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
    page.click("document.querySelector('.notice button')")
    page.wait("document.querySelector('.notice')?.innerText.startsWith('Undone')", "the undone import")
    assert json.loads(tally("count", "--json"))["count"] == before
    page.visit("/transfer")
    page.evaluate("document.getElementById('import-text').value = '- [ ] from a text'; document.getElementById('import-format').value = 'markdown'")
    page.click("document.querySelector('#import .main')")
    page.wait("document.getElementById('outcome')?.textContent.includes('1 task added') && document.querySelector('.notice form button')", "the outcome of the text")
    page.click("document.querySelector('.notice form button')")
    page.wait("document.querySelector('.notice')?.innerText.startsWith('Undone') || !document.querySelector('#outcome').textContent", "the undone text")
    assert json.loads(tally("count", "--json"))["count"] == before


def share(tally, folder):
    """Sets up a space in a folder, and returns the command line of another device in it."""
    pathlib.Path(f"{folder}/shared").mkdir()
    invitation = json.loads(tally("sync", "setup", f"{folder}/shared", "--name", "laptop", "--json"))["invitation"]
    tally("sync", "now")
    phone = Terminal(f"{folder}/phone")
    phone("sync", "join", invitation, "--at", f"{folder}/shared", "--name", "phone")
    return phone


@scenario
def devices(page, tally, name):
    """The status of synchronisation, and what another device has deleted, which comes back."""
    page.visit("/sync")
    assert "tally sync setup" in page.evaluate("document.getElementById('main').innerText")
    with tempfile.TemporaryDirectory(prefix="tally-shared-") as folder:
        tally("add", "Call the dentist")
        phone = share(tally, folder)
        phone("delete", json.loads(phone("all", "--json"))["sections"][0]["tasks"][0]["id"])
        phone("sync", "now")
        tally("sync", "now")
        page.visit("/sync")
        words = page.evaluate("document.getElementById('main').innerText")
        assert "phone" in words and "laptop" in words and "Call the dentist" in words, words
        check(page, f"a shared store, {name}")
        page.visit("/history")
        changes = page.evaluate("[...document.querySelectorAll('.changes > li')].map(item => item.innerText)")
        authors = {change.splitlines()[0]: "by phone" in change for change in changes}
        assert authors == {"Deleted “Call the dentist”": True, "Added “Call the dentist”": False}, changes
        check(page, f"the history of two devices, {name}")
        page.visit("/sync")
        page.click("document.querySelector('form[action=\"/sync/trash\"] button[aria-label=\"Restore: Call the dentist\"]')")
        page.wait("!document.getElementById('main').innerText.includes('Call the dentist')", "the task to leave the list")
        assert json.loads(tally("count", "--json"))["count"] == 1
        page.wait("document.querySelector('.notice form button')", "the notice")
        page.click("document.querySelector('.notice form button')")
        page.wait("document.getElementById('main').innerText.includes('Call the dentist')", "the task in the list again")
        assert json.loads(tally("count", "--json"))["count"] == 0


@scenario
def days(page, tally, name):
    """Upcoming and Past show their tasks by day, nearest day first and newest day first."""
    for title, day in [("in three days", "+3d"), ("tomorrow", "tomorrow"), ("the day before", str(datetime.date.today() - datetime.timedelta(2))), ("a day ago", "yesterday")]:
        tally("add", title, "--on", day)
    for path, titles in [("/upcoming", ["tomorrow", "in three days"]), ("/past", ["a day ago", "the day before"])]:
        page.visit(path)
        kinds = page.evaluate("[...document.querySelectorAll('#rows > li')].map(item => item.className.split(' ')[0])")
        assert kinds == ["day", "row", "day", "row"] and sorted(page.titles()) == sorted(titles), (path, kinds, page.titles())
        check(page, f"{path}, {name}")
    assert json.loads(tally("past", "--json"))["sections"][0]["tasks"][0]["title"] == page.titles()[0]


@scenario
def lists(page, tally, name):
    """A list is created with its colour, renamed, moved and deleted with its tasks; undo brings it back."""
    page.visit("/lists")
    for list_name, color in [("Home", "#34c759"), ("Work", "#ff9500")]:
        page.evaluate(f"document.getElementById('new-name').value = '{list_name}'; document.getElementById('new-color').value = '{color}'")
        page.click("[...document.querySelectorAll('#main button')].find(button => button.innerText === 'Create')")
        page.wait(f"[...document.querySelectorAll('.cards bdi')].some(name => name.innerText === '{list_name}')", list_name)
    assert page.evaluate("[...document.querySelectorAll('.cards circle')].map(dot => dot.getAttribute('fill'))") == ["#34C759", "#FF9500"]
    check(page, f"the lists, {name}")
    page.click("document.querySelector('[aria-label=\"Move Work up\"]')")
    page.wait("document.querySelector('.cards bdi')?.innerText === 'Work'", "the order")
    page.click("document.querySelector('.cards a')")
    page.wait("document.querySelector('h1')?.innerText === 'Work' && document.documentElement.classList.contains('scripted')", "the list")
    page.click("document.getElementById('capture-text')")
    page.type("captured here")
    page.press("Enter")
    page.wait(row("captured here"), "the task of the list")
    # The notice comes with the answer; what moves under the pointer is not clicked.
    page.wait("document.querySelector('#notice button') && document.getElementById('empty').hidden", "the notice")
    page.click("document.querySelector('#main details summary')")
    page.wait("document.querySelector('#main details').open", "the form")
    page.evaluate("document.getElementById('list-name').value = 'Office'")
    check(page, f"the form of a list, {name}")
    page.evaluate("document.getElementById('list-name').focus()")
    page.press("Enter")
    page.wait("document.querySelector('h1')?.innerText === 'Office' && document.documentElement.classList.contains('scripted')", "the new name")
    page.click("document.querySelector('details summary')")
    page.click("[...document.querySelectorAll('details button')].find(button => button.value === 'delete')")
    page.wait("location.pathname === '/lists' && document.querySelector('.notice form button')", "the notice")
    assert json.loads(tally("count", "--json"))["count"] == 0
    page.click("document.querySelector('.notice form button')")
    page.wait("[...document.querySelectorAll('.cards bdi')].some(name => name.innerText === 'Office')", "the list again")
    assert json.loads(tally("count", "--json"))["count"] == 1


@scenario
def history(page, tally, name):
    """Any change of the history can be undone, and the last undo is undone."""
    tally("add", "first")
    tally("add", "second")
    tally("done", task_id(tally, "second"))
    page.visit("/history")
    page.click("[...document.querySelectorAll('#main button')].find(button => button.ariaLabel === 'Undo: Added “first”')")
    page.wait("document.querySelector('.undone')", "the undone change")
    assert [task["title"] for task in json.loads(tally("all", "--json"))["sections"][0]["tasks"]] == ["second"]
    check(page, f"the history, {name}")
    page.click("[...document.querySelectorAll('#main button')].find(button => button.innerText === 'Redo')")
    page.wait("document.querySelector('.changes > li').innerText.includes('Added “first”')", "the change done again")
    assert json.loads(tally("count", "--json"))["count"] == 2


@scenario
def recurrence(page, tally, name):
    """A recurrence is read and shown in words; completing a task gives the next one."""
    page.visit("/today")
    page.click("document.getElementById('capture-text')")
    page.type("Water the plants today every 3 days")
    page.wait("document.getElementById('understood').innerText.includes('every 3 days')", "the words while typing")
    page.press("Enter")
    page.wait(f"{row('Water the plants')}?.innerText.includes('repeats every 3 days')", "the words in the row")
    page.click(f"{row('Water the plants')}.querySelector('.title')")
    page.wait("document.getElementById('repeat')?.value === 'every 3 days'", "the words of the sheet")
    tally("done", task_id(tally, "plants"))
    page.visit("/upcoming")
    page.wait(row("Water the plants"), "the next one")
    check(page, f"a recurrence, {name}")


@scenario
def conflicts(page, tally, name):
    """A value that another device has overwritten is shown, and can be restored."""
    with tempfile.TemporaryDirectory(prefix="tally-shared-") as folder:
        tally("add", "Call the dentist")
        phone = share(tally, folder)
        task = json.loads(phone("all", "--json"))["sections"][0]["tasks"][0]["id"]
        tally("edit", task, "--title", "Call the doctor")
        phone("edit", task, "--title", "Call the surgery")
        for device in [phone, tally, phone, tally]:
            device("sync", "now")
        page.visit("/sync")
        restore = "document.querySelector('form[action=\"/sync/conflicts\"] button[aria-label^=\"Restore: title\"]')"
        page.wait(f"{restore}?.innerText === 'Restore'", "the overwritten value")
        check(page, f"a conflict, {name}")
        shown = json.loads(tally("show", task, "--json"))["title"]
        assert page.evaluate(f"document.querySelector('#main a[href*=\"{task.lower()}\"]').innerText") == shown, "the task whose value was overwritten"
        page.click(restore)
        page.wait("document.getElementById('main').innerText.includes('None.')", "no conflict")
        assert {shown, json.loads(tally("show", task, "--json"))["title"]} == {"Call the doctor", "Call the surgery"}
        page.click("document.querySelector('.notice form button')")
        page.wait("!document.querySelector('.notice form button')", "the undone value")
        assert json.loads(tally("show", task, "--json"))["title"] == shown


@scenario
def dismissals(page, tally, name):
    """Overwritten values are dismissed one by one or all at once, on every device, however often a button is pressed."""
    with tempfile.TemporaryDirectory(prefix="tally-shared-") as folder:
        phone = share(tally, folder)
        for title in ["one", "two", "three"]:
            tally("add", title)
        for device in [tally, phone]:
            device("sync", "now")
        for title in ["one", "two", "three"]:
            task = task_id(tally, title)
            tally("edit", task, "--notes", f"of the laptop, {title}")
            phone("edit", task, "--notes", f"of the phone, {title}")
        for device in [phone, tally, phone, tally]:
            device("sync", "now")
        buttons = "[...document.querySelectorAll('#main button')].filter(button => button.innerText === '{}')"
        page.visit("/sync")
        assert page.evaluate(buttons.format("Dismiss") + ".length") == 3
        check(page, f"three conflicts, {name}")
        page.evaluate(f"{buttons.format('Dismiss')}[1].click(), {buttons.format('Dismiss')}[1].click()")
        page.wait(f"{buttons.format('Dismiss')}.length === 2", "two that are left")
        assert len(json.loads(tally("conflicts", "--json"))["conflicts"]) == 2
        page.click(f"{buttons.format('Dismiss all')}[0]")
        page.wait("document.getElementById('main').innerText.includes('None.')", "none that is left")
        for device in [tally, phone, tally]:
            device("sync", "now")
        for device in [tally, phone]:
            assert json.loads(device("conflicts", "--json"))["conflicts"] == []
        # A dismissal changes no task.
        assert {json.loads(device("show", task_id(device, "one"), "--json"))["notes"] for device in [tally, phone]} == {"of the phone, one"}
        check(page, f"no conflict, {name}")


@scenario
def twins(page, tally, name):
    """Two lists of one name, which two devices have made, become one with the tasks of both; undo makes two of it again."""
    with tempfile.TemporaryDirectory(prefix="tally-shared-") as folder:
        phone = share(tally, folder)
        for device, title in [(tally, "Bread"), (phone, "Butter")]:
            device("lists", "add", "Groceries")
            device("add", title, "--list", "Groceries")
        tally("lists", "add", "Work")
        for device in [phone, tally]:
            device("sync", "now")
        button = "[...document.querySelectorAll('#main button')].find(button => button.innerText.startsWith('Merge with'))"
        page.visit("/lists")
        assert page.evaluate("[...document.querySelectorAll('.cards bdi')].map(name => name.innerText)").count("Groceries") == 2
        check(page, f"two lists of one name, {name}")
        for is_last in [False, True]:
            page.click(button)
            page.wait(f"!{button} && document.querySelector('.notice form button')", "one list")
            assert sorted(page.evaluate("[...document.querySelectorAll('.cards bdi')].map(name => name.innerText)")) == ["Groceries", "Work"]
            assert {task["title"] for task in json.loads(tally("list", "Groceries", "--json"))["sections"][0]["tasks"]} == {"Bread", "Butter"}
            if not is_last:
                page.click("document.querySelector('.notice form button')")
                page.wait(button, "two lists again")
        for device in [tally, phone]:
            device("sync", "now")
            assert sorted(item["name"] for item in json.loads(device("lists", "--json"))["lists"]) == ["Groceries", "Work"]
        check(page, f"one list, {name}")


def shown(tally, words):
    """The newest task with words in its title that is not cancelled; waiting ones are found, too."""
    tasks = [task for section in json.loads(tally("all", "--json"))["sections"] for task in section["tasks"]]
    return next(task for task in reversed(tasks) if words in task["title"] and task["state"] != "cancelled")


def fill_field(page, field, text):
    """Types into a field of the sheet and leaves it."""
    page.follow("the sheet")
    page.click(f"document.getElementById('{field}')")
    page.evaluate(f"document.getElementById('{field}').select()")
    page.type(text)
    if not text:
        page.evaluate(f"document.getElementById('{field}').value = ''; document.getElementById('{field}').dispatchEvent(new Event('input', {{bubbles: true}}))")
    page.press("Tab")


def saved(page, condition, what):
    """Waits until the page has saved and the store is as a condition says."""
    for _ in range(200):
        if condition():
            return
        page.draw()
    raise AssertionError(f"waited in vain for {what}; the page shows:\n{page.text()}")


@scenario
def waiting(page, tally, name):
    """A task that waits for its start is on the screen Waiting and on no screen of what to do; the sheet changes its start."""
    tally("add", "Book the ferry", "--wait", "+3d")
    tally("add", "Learn the oboe", "--wait", "someday")
    tally("add", "Buy milk")
    page.visit("/inbox")
    assert page.titles() == ["Buy milk"], page.titles()
    page.press("g")
    page.press("w")
    page.wait("location.pathname === '/waiting' && window.tallyRows && document.documentElement.classList.contains('scripted')", "the screen Waiting")
    assert page.titles() == ["Book the ferry", "Learn the oboe"], page.titles()
    details = page.evaluate("[...document.querySelectorAll('#rows .details')].map(details => details.innerText)")
    assert "waits until" in details[0] and "waits for someday" in details[1], details
    tally("add", "Plan the garden", "--wait", "+1d")
    page.wait(f"{row('Plan the garden')} === document.querySelector('#rows .row')", "the task of the terminal, before the others")
    check(page, f"tasks that wait, {name}")
    is_wide = page.size[0] > 1000
    page.visit("/today" if is_wide else "/more")
    page.click(f"document.querySelector('#{'places' if is_wide else 'main'} a[href=\"/waiting\"]')")
    page.wait(row("Learn the oboe"), "the same screen by the menu")
    page.click(f"{row('Learn the oboe')}.querySelector('.title')")
    page.wait("document.getElementById('start')?.value === 'someday' && document.documentElement.classList.contains('scripted')", "the start on the sheet")
    assert "waits for someday" in page.text("#start-help")
    fill_field(page, "start", "2031-05-06")
    saved(page, lambda: shown(tally, "oboe")["startDay"] == "2031-05-06", "the start day")
    page.wait("document.getElementById('wait')?.innerText.includes('waits until')", "the words on the sheet")
    check(page, f"a sheet with a start, {name}")
    fill_field(page, "start", "frday")
    page.wait("document.getElementById('start-refusal')?.innerText.startsWith('Not saved')", "the refusal beside the field")
    page.keep_noise()
    page.noise = []
    fill_field(page, "start", "")
    saved(page, lambda: shown(tally, "oboe")["startDay"] is None, "no start")
    page.wait("!document.getElementById('wait')", "no words about a start")
    page.visit(f"/tasks/{task_id(tally, 'milk')}")
    fill_field(page, "start", "Someday")
    saved(page, lambda: shown(tally, "milk")["someday"] is True, "someday")
    page.visit("/inbox")
    assert page.titles() == ["Learn the oboe"], page.titles()


@scenario
def occurrences(page, tally, name):
    """The sheet changes one task of a series or, with its box, those that follow; one is skipped or deleted alone."""
    tally("add", "Water the plants", "--today", "--repeat", "every day")
    box = "document.getElementById('series')"

    def open_sheet():
        task = shown(tally, "Water")
        page.visit(f"/tasks/{task['id']}")
        return task["id"]

    def press(words):
        page.click(f"[...document.querySelectorAll('#sheet button')].find(button => button.innerText === '{words}')")

    open_sheet()
    fill_field(page, "title", "Water them twice")
    saved(page, lambda: shown(tally, "Water")["title"] == "Water them twice", "the title of one")
    tally("done", shown(tally, "Water")["id"])
    assert shown(tally, "Water")["title"] == "Water the plants", "the next one keeps the title of the series"
    open_sheet()
    page.click(box)
    fill_field(page, "title", "Water all plants")
    saved(page, lambda: shown(tally, "Water")["title"] == "Water all plants", "the title of the series")
    check(page, f"a sheet of a series, {name}")
    # The field is left by ticking the box.
    page.visit(f"/tasks/{shown(tally, 'Water')['id']}")
    page.click("document.getElementById('notes')")
    page.type("from the butt")
    page.click(f"{box}.closest('label')")
    saved(page, lambda: shown(tally, "Water")["notes"] == "from the butt", "the notes")
    first = open_sheet()
    press("Skip this one")
    page.wait("location.pathname === '/today' && document.querySelector('.notice')?.innerText.includes('the next one is')", "the notice of the next one")
    task = shown(tally, "Water")
    assert task["id"] != first and (task["title"], task["notes"]) == ("Water all plants", "from the butt"), task
    assert len(task["series"]["skipped"]) == 1, task["series"]
    page.click("document.querySelector('.notice button')")
    saved(page, lambda: shown(tally, "Water")["id"] == first, "the undone skip")
    open_sheet()
    press("Delete only this one")
    page.wait("location.pathname === '/today' && document.querySelector('.notice')?.innerText.includes('the next one is')", "the notice of the next one")
    second = shown(tally, "Water")["id"]
    assert second != first and json.loads(tally("count", "is:open", "--json"))["count"] == 1
    # The menu of a row does the same.
    page.visit("/upcoming")
    page.click(f"{row('Water all plants')}.querySelector('.handle')")
    page.click("[...document.querySelectorAll('[role=menuitem]')].find(item => item.textContent === 'Skip this one')")
    saved(page, lambda: shown(tally, "Water")["id"] != second, "the next one")
    open_sheet()
    press("Delete, and end the series")
    page.wait("location.pathname === '/today' && document.querySelector('.notice')?.innerText.includes('no other one of its series')", "the end of the series")
    assert json.loads(tally("count", "is:open", "--json"))["count"] == 0


@scenario
def dependencies(page, tally, name):
    """The sheet shows and changes the tasks for which a task waits, and shows those that it blocks."""
    first = json.loads(tally("add", "Dig the bed", "--json"))["changed"][0]["id"]
    second = json.loads(tally("add", "Sow the beans", "--after", first, "--json"))["changed"][0]["id"]
    for task, group, other in [(second, "Waits for", "Dig the bed"), (first, "Blocks", "Sow the beans")]:
        page.visit(f"/tasks/{task}")
        groups = page.evaluate(
            "[...document.querySelectorAll('.dependencies:has(a)')].map(group => [group.querySelector('h2').innerText, group.querySelector('a').innerText])")
        assert groups == [[group, other]], groups
        check(page, f"{group}, {name}")
    page.click("document.querySelector('.dependencies a')")
    page.wait("document.querySelector('h1')?.innerText === 'Sow the beans'", "the other task")
    change_dependencies(page, tally, second, name)
    tally("done", first)
    page.wait("document.querySelector('.dependencies')?.innerText.includes('Completed')", "the state of the first one")


WAITS = "[...document.querySelectorAll('#waits li a')].map(link => link.innerText).sort().join()"


def change_dependencies(page, tally, task, name):
    """Adds and removes tasks on the sheet of one that waits for the bed, so that it waits for the bed again."""
    field = "document.getElementById('after')"
    for title in ["Buy seeds", "Call", "Call", HOSTILE]:
        tally("add", title)
    tally("add", "Eat the beans", "--after", task)
    page.visit(f"/tasks/{task}")
    # A word is enough to be shown a task; a suggestion that is chosen is saved at once, and the field is free for the next one.
    page.click(field)
    page.type("seed")
    page.wait(f"[...{field}.list.options].map(option => option.value).join() === 'Buy seeds'", "the suggestion")
    chosen = "new InputEvent('input', {bubbles: true, inputType: 'insertReplacementText'})"
    page.evaluate(f"{field}.value = 'Buy seeds'; {field}.dispatchEvent({chosen})")
    page.wait(f"{WAITS} === 'Buy seeds,Dig the bed' && {field}.value === ''", "the chosen task")
    assert page.evaluate(f"document.activeElement === {field}")
    page.wait("document.querySelector('.notice')?.innerText.includes('it waits for “Buy seeds”')", "the notice")
    # With Enter, and by leaving the field.
    for title, leave in [("buy SEEDS", "Enter"), (HOSTILE, "Tab")]:
        page.click(field)
        page.type(title)
        page.press(leave)
        page.wait(f"{field}.value === ''", "the saved field")
    page.wait("document.querySelectorAll('#waits li').length === 3", "three tasks")
    check(page, f"three dependencies, {name}")
    # What is refused stays, with the words, until it is changed.
    for text, words in [
        ("Call", "matches 2 tasks"), ("Sow the beans", "cannot depend on itself"), ("seeds", "such as “Buy seeds”"),
        ("Eat the beans", "“Sow the beans”, which depends on “Eat the beans”"),
    ]:
        page.click(field)
        page.evaluate(f"{field}.select()")
        page.type(text)
        page.press("Tab")
        page.wait(f"document.getElementById('after-refusal')?.innerText.includes({json.dumps(words)})", f"the words about {text}")
        assert page.evaluate(f"{field}.value") == text
    page.keep_noise()
    page.noise = []
    check(page, f"a refused dependency, {name}")
    page.click("document.querySelector('#after-refusal button')")
    page.wait(f"{field}.value === '' && !document.getElementById('after-refusal')", "the discarded text")
    for title in ["Buy seeds", "<script>"]:
        remove(page, title)
        page.wait(f"!document.getElementById('waits').querySelector('ul').innerText.includes('{title}')", "the removal")
        assert page.evaluate(f"document.activeElement === {field}")
    page.wait("document.querySelector('.notice')?.innerText.includes('does not wait for “<script>')", "the notice")
    page.click("document.querySelector('.notice button')")
    page.wait("document.querySelectorAll('#waits li').length === 2", "the undone removal")
    # Without scripts.
    page.plain(f"/tasks/{task}")
    remove(page, "<script>")
    page.wait(f"{WAITS} === 'Dig the bed'", "the page without it")
    page.click(field)
    page.type("Buy seeds")
    page.press("Enter")
    page.wait(f"{WAITS} === 'Buy seeds,Dig the bed'", "the page with it")
    page.scripted()
    page.visit("/inbox")
    page.wait("document.querySelector('#rows').innerText.includes('after 2 other tasks')", "the row")
    page.visit(f"/tasks/{task}")
    remove(page, "Buy seeds")
    page.wait(f"{WAITS} === 'Dig the bed'", "the first one alone")


def remove(page, title):
    """Presses the button that ends waiting for a task."""
    page.click(f"[...document.querySelectorAll('#waits li')].find(item => item.innerText.includes('{title}')).querySelector('button')")
