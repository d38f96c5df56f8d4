/// The commands as the parser describes them; `CommandTableTests` writes this file and compares it.
extension CommandDescription {
  static let table: [String] = [
    """
    : Manage tasks and count what got done.
    option | --store | dir |  | The store's directory. Default: $TALLY_STORE, else $XDG_DATA_HOME/tally, else \
    ~/.local/share/tally.
    flag | --json |  |  | Print JSON with stable keys.
    flag | --plain |  |  | Print one record per line, tab-separated, without colour or wrapping.
    option | --columns | names |  | With --plain: the columns of tasks, as in handle,title,dueDay.
    option | --now | instant |  | Answer as of this ISO 8601 instant, and record changes with it.
    option | --time-zone | id |  | The IANA time zone days are counted in. Default: the system's.
    option | --week-start | day | monday tuesday wednesday thursday friday saturday sunday | The day a week \
    starts on. Default: the locale's.
    flag | --no-color |  |  | Use no colour, as with NO_COLOR; FORCE_COLOR turns it on.
    flag | --quiet |  |  | Print no messages about changes.
    """,
    """
    agenda: Show what asks for attention today; 'tally' alone does the same.
    option | --limit | n |  | Show at most this many.
    """,
    """
    today: Show the tasks planned for today or due today, including completed ones.
    flag | --open |  |  | Show open tasks only.
    flag | --tree |  |  | Show sub-tasks below their parents, also those that the view does not hold.
    option | --limit | n |  | Show at most this many.
    """,
    """
    inbox: Show the tasks with no list and no day.
    flag | --open |  |  | Show open tasks only.
    flag | --tree |  |  | Show sub-tasks below their parents, also those that the view does not hold.
    option | --limit | n |  | Show at most this many.
    """,
    """
    upcoming: Show the tasks planned after today, by day.
    flag | --open |  |  | Show open tasks only.
    flag | --tree |  |  | Show sub-tasks below their parents, also those that the view does not hold.
    option | --limit | n |  | Show at most this many.
    """,
    """
    past: Show open tasks planned for earlier days, newest day first.
    flag | --open |  |  | Show open tasks only.
    flag | --tree |  |  | Show sub-tasks below their parents, also those that the view does not hold.
    option | --limit | n |  | Show at most this many.
    """,
    """
    overdue: Show open tasks that are past their due time, oldest first.
    flag | --open |  |  | Show open tasks only.
    flag | --tree |  |  | Show sub-tasks below their parents, also those that the view does not hold.
    option | --limit | n |  | Show at most this many.
    """,
    """
    active: Show the tasks in progress.
    flag | --open |  |  | Show open tasks only.
    flag | --tree |  |  | Show sub-tasks below their parents, also those that the view does not hold.
    option | --limit | n |  | Show at most this many.
    """,
    """
    next: Show open tasks in the order in which to do them.
    flag | --open |  |  | Show open tasks only.
    flag | --tree |  |  | Show sub-tasks below their parents, also those that the view does not hold.
    option | --limit | n |  | Show at most this many.
    """,
    """
    all: Show all tasks, in order of creation.
    flag | --open |  |  | Show open tasks only.
    flag | --tree |  |  | Show sub-tasks below their parents, also those that the view does not hold.
    option | --limit | n |  | Show at most this many.
    """,
    """
    due: Show the tasks that are due on a day, including completed ones.
    positional* |  | day |  | The day; today without one.
    flag | --open |  |  | Show open tasks only.
    flag | --tree |  |  | Show sub-tasks below their parents, also those that the view does not hold.
    option | --limit | n |  | Show at most this many.
    """,
    """
    find: Show the tasks that a filter finds.
    positional* |  | filter |  | Which tasks to look for; all of them without any.
    option=place | --sort | order | place due due:reversed priority priority:reversed created created:reversed \
    updated updated:reversed completed completed:reversed next | How to sort the tasks. Default: place.
    option | --limit | n |  | Show at most this many.
    flag | --explain |  |  | Print how the tasks are found instead of the tasks.
    """,
    """
    count: Print only the number of tasks that a filter finds, for use in a shell prompt.
    positional* |  | filter |  | Which tasks to look for; all of them without any.
    """,
    """
    filter: Show the tasks that a saved filter finds.
    positional! |  | name |  | The filter's name.
    option=place | --sort | order | place due due:reversed priority priority:reversed created created:reversed \
    updated updated:reversed completed completed:reversed next | How to sort the tasks. Default: place.
    option | --limit | n |  | Show at most this many.
    """,
    """
    search: Find tasks by words in their titles, notes and tags.
    positional!* |  | words |  | The words to look for.
    flag | --substring |  |  | Look for the words inside others, too.
    option | --limit | n |  | Show at most this many.
    """,
    """
    completed: Show completed tasks, newest first.
    positional* |  | filter |  | Which tasks to look for; all of them without any.
    option | --from | day |  | The first day.
    option | --to | day |  | The last day.
    option | --list | name |  | Only tasks completed in this list, by name or id, even if they were moved since.
    option | --tag | tag |  | Only completions with this tag.
    option | --day-start | hh:mm |  | When a day begins, for people who work past midnight. Default: the setting, \
    else 00:00.
    flag | --as-recorded |  |  | Count days in the time zone where the work was done, so that travel changes \
    nothing.
    option | --limit | n |  | Show at most this many.
    """,
    """
    list: Show the tasks of a list, or the lists.
    positional |  | name |  | The list's name, in any case, or its id.
    flag | --open |  |  | Show open tasks only.
    flag | --tree |  |  | Show sub-tasks below their parents, also those that the view does not hold.
    option | --limit | n |  | Show at most this many.
    """,
    """
    show: Show one task in full, with its sub-tasks and recent changes.
    positional! |  | task |  | The task's handle, a longer tail of its id, or its id.
    """,
    """
    history: Show what changed, when, by which command and on which device.
    positional |  | task |  | The task, if not all.
    option | --limit | n |  | Show at most this many.
    """,
    """
    stats: Count what got done: today, trends, series, streaks, profiles.
    positional* |  | filter |  | Which tasks to look for; all of them without any.
    option | --from | day |  | The first day.
    option | --to | day |  | The last day.
    option | --list | name |  | Only tasks completed in this list, by name or id, even if they were moved since.
    option | --tag | tag |  | Only completions with this tag.
    option | --day-start | hh:mm |  | When a day begins, for people who work past midnight. Default: the setting, \
    else 00:00.
    flag | --as-recorded |  |  | Count days in the time zone where the work was done, so that travel changes \
    nothing.
    option=day | --by | period | day week month year | The length of a bar of the series.
    option | --goal | goal |  | A number of tasks per day or week, as 5/day or 20/week.
    option | --html | file |  | Write a page to this file, or '-' for standard output.
    """,
    """
    web: Show the tasks in a browser on this machine.
    option | --port | port |  | The port; 0 for any free one.
    flag | --open |  |  | Open the address in a browser.
    """,
    """
    add: Capture a task.
    positional!* |  | text |  | The title, or '-' to read lines from standard input.
    flag | --today |  |  | Schedule it for today.
    flag | --tomorrow |  |  | Schedule it for tomorrow.
    option | --on | day |  | Schedule it for this day, or none.
    option | --list | name |  | Put it in this list, by name or id, or in none.
    option | --due | when |  | When it is due, or none. A day alone is a due day: the task is overdue once it is \
    over.
    option | --remind | when |  | When to send a reminder, or none. A day alone means 09:00.
    option | --notes | text |  | Notes; none for no notes.
    option* | --tag | tag |  | A tag; may be given several times, 'none' removes all tags.
    option | --priority | priority |  | low, medium, high or none.
    option | --parent | task |  | The task that it is a part of, or none.
    option | --repeat | rule |  | How it repeats, or none: 'every 2 weeks', 'every monday', 'every month on the \
    last friday', '3 days after completion', or an RRULE. Once it is done, the next one is there.
    option* | --set | name=value |  | A field of your own; may be given several times, 'none' removes it.
    """,
    """
    quick: Capture a task from one sentence, with its dates, tags and more.
    positional!* |  | text |  | The sentence; its words are joined by spaces.
    flag | --dry-run |  |  | Show the task that the sentence gives, and add nothing.
    """,
    """
    log: Record something that is done already.
    positional!* |  | text |  | The title, or '-' to read lines from standard input.
    option | --at | when |  | When it was done, not in the future: a WHEN with its time. A weekday is the last \
    one.
    flag | --today |  |  | Schedule it for today.
    flag | --tomorrow |  |  | Schedule it for tomorrow.
    option | --on | day |  | Schedule it for this day, or none.
    option | --list | name |  | Put it in this list, by name or id, or in none.
    option | --due | when |  | When it is due, or none. A day alone is a due day: the task is overdue once it is \
    over.
    option | --remind | when |  | When to send a reminder, or none. A day alone means 09:00.
    option | --notes | text |  | Notes; none for no notes.
    option* | --tag | tag |  | A tag; may be given several times, 'none' removes all tags.
    option | --priority | priority |  | low, medium, high or none.
    option | --parent | task |  | The task that it is a part of, or none.
    option | --repeat | rule |  | How it repeats, or none: 'every 2 weeks', 'every monday', 'every month on the \
    last friday', '3 days after completion', or an RRULE. Once it is done, the next one is there.
    option* | --set | name=value |  | A field of your own; may be given several times, 'none' removes it.
    """,
    """
    edit: Change anything about tasks.
    positional* |  | task |  | Handles, longer tails of ids, or ids.
    option | --where | filter |  | Instead of names: the tasks that this filter finds.
    option | --title | text |  | The new title, of one task.
    flag | --today |  |  | Schedule it for today.
    flag | --tomorrow |  |  | Schedule it for tomorrow.
    option | --on | day |  | Schedule it for this day, or none.
    option | --list | name |  | Put it in this list, by name or id, or in none.
    option | --due | when |  | When it is due, or none. A day alone is a due day: the task is overdue once it is \
    over.
    option | --remind | when |  | When to send a reminder, or none. A day alone means 09:00.
    option | --notes | text |  | Notes; none for no notes.
    option* | --tag | tag |  | A tag; may be given several times, 'none' removes all tags.
    option | --priority | priority |  | low, medium, high or none.
    option | --parent | task |  | The task that it is a part of, or none.
    option | --repeat | rule |  | How it repeats, or none: 'every 2 weeks', 'every monday', 'every month on the \
    last friday', '3 days after completion', or an RRULE. Once it is done, the next one is there.
    option* | --set | name=value |  | A field of your own; may be given several times, 'none' removes it.
    option* | --untag | tag |  | A tag to remove; may be given several times.
    flag | --editor |  |  | Edit the notes of one task in $VISUAL or $EDITOR.
    """,
    """
    start: Mark tasks as in progress.
    positional* |  | task |  | Handles, longer tails of ids, or ids.
    option | --where | filter |  | Instead of names: the tasks that this filter finds.
    """,
    """
    done: Complete tasks, with their sub-tasks.
    positional* |  | task |  | Handles, longer tails of ids, or ids.
    option | --where | filter |  | Instead of names: the tasks that this filter finds.
    option | --at | when |  | When it was done, not in the future: a WHEN with its time. A weekday is the last \
    one.
    flag | --only |  |  | Leave open sub-tasks open.
    """,
    """
    reopen: Mark tasks as not started, from any state.
    positional* |  | task |  | Handles, longer tails of ids, or ids.
    option | --where | filter |  | Instead of names: the tasks that this filter finds.
    """,
    """
    move: Move tasks to a day, to a list, or next to another task.
    positional* |  | task |  | Handles, longer tails of ids, or ids.
    option | --where | filter |  | Instead of names: the tasks that this filter finds.
    option | --to | place |  | inbox, today, tomorrow, another DAY or none.
    option | --list | name |  | A list's name or id, or none.
    option | --before | task |  | Put them before this task, in the same list or on the same day.
    option | --after | task |  | Put them after this task, in the same list or on the same day.
    """,
    """
    delete: Delete tasks with their sub-tasks.
    positional* |  | task |  | Handles, longer tails of ids, or ids.
    option | --where | filter |  | Instead of names: the tasks that this filter finds.
    """,
    """
    undo: Undo the last change, the last N, or one of them.
    positional |  | n |  | How many changes, or the number of one, see 'tally history'.
    flag | --dry-run |  |  | Report what would be undone, and change nothing.
    """,
    """
    redo: Redo the last undone change, or the last N.
    positional |  | n |  | How many changes.
    """,
    """
    open: Follow a link: add a task, or show one.
    positional! |  | url |  | The link.
    option=tally | --scheme | scheme |  | The scheme of the link; applications have their own.
    """,
    """
    reminders: Show upcoming reminders, soonest first.
    option | --from | when |  | Start at this instant instead of now.
    option | --limit | n |  | Show at most this many.
    """,
    """
    snooze: Postpone the reminders of tasks.
    positional* |  | task |  | Handles, longer tails of ids, or ids.
    option | --where | filter |  | Instead of names: the tasks that this filter finds.
    option | --until | when |  | When to be reminded. A day alone means 09:00.
    """,
    """
    remind: Wait, and notify or run a program for each reminder as it falls due.
    option | --exec | program |  | The program, by path or by its name in PATH.
    flag | --notify |  |  | Show a notification on the desktop.
    flag | --service |  |  | Print what starts this command when you log in, and do nothing else.
    flag | --once |  |  | Run the reminders that are due, then exit: for a scheduler that starts it every minute.
    option | --journal | file |  | The journal file.
    positional* |  | argument |  | Arguments of the program.
    """,
    """
    lists: Show the lists, or add, rename, recolour, reorder, merge and delete them.
    """,
    """
    lists add: Create a list.
    positional! |  | name |  | The list's name.
    option=007AFF | --color | rrggbb |  | Its colour, six hexadecimal digits.
    flag | --force |  |  | Create it even if another list has this name.
    """,
    """
    lists rename: Rename a list.
    positional! |  | name |  | The list's name, in any case, or its id.
    positional! |  | new |  | The new name.
    flag | --force |  |  | Rename it even if another list has this name.
    """,
    """
    lists color: Change the colour of a list.
    positional! |  | name |  | The list's name, in any case, or its id.
    positional! |  | rrggbb |  | Six hexadecimal digits.
    """,
    """
    lists move: Move a list before or after another list.
    positional! |  | name |  | The list's name, in any case, or its id.
    option | --before | name |  | Put it before this list.
    option | --after | name |  | Put it after this list.
    """,
    """
    lists merge: Move the tasks of a list into another one, and delete the emptied list.
    positional! |  | name |  | The list that is emptied: its name, its id or the end of that.
    positional! |  | name |  | The list that takes its tasks.
    """,
    """
    lists delete: Delete a list; with --force, also one that holds tasks, together with them.
    positional! |  | name |  | The list's name, in any case, or its id.
    flag | --force |  |  | Delete the list's tasks, too.
    """,
    """
    tags: Show the tags that tasks have, or rename and delete them.
    """,
    """
    tags rename: Rename a tag on every task and in saved filters, merging it into an existing one.
    positional! |  | tag |  | The tag.
    positional! |  | new |  | Its new name.
    """,
    """
    tags delete: Remove a tag from every task; the tasks stay.
    positional! |  | tag |  | The tag.
    """,
    """
    filters: Show the saved filters, or add and delete them.
    """,
    """
    filters add: Save a filter under a name.
    positional! |  | name |  | The filter's name.
    positional* |  | filter |  | Which tasks to look for; all of them without any.
    flag | --force |  |  | Replace an existing filter of that name.
    """,
    """
    filters delete: Delete a saved filter; the tasks that it finds stay.
    positional! |  | name |  | The filter's name.
    """,
    """
    sync: Keep this store the same as those of other devices, through a shared folder or a hub.
    """,
    """
    sync setup: Create a space in a folder or at a hub, with all that this store has.
    positional! |  | folder |  | A folder that all devices share, or the address of a hub.
    option | --passphrase-file | file |  | Let devices join with the passphrase in a file's first line.
    option | --account-file | file |  | Use the account of a hub whose token is a file's first line.
    option | --hub-secret-file | file |  | Create an account with the hub's secret in a file's first line.
    flag | --no-encryption |  |  | Do not encrypt: everyone who sees the folder can read the tasks.
    option | --name | device |  | The name of this device.
    flag | --insecure |  |  | Reach a hub without TLS: others on the way read its tokens.
    """,
    """
    sync invite: Print an invitation for another device.
    option | --valid | duration |  | How long it can be used, 24h unless given.
    option | --role | role |  | What it may do at a hub: owner, writer (unless given) or reader.
    """,
    """
    sync join: Join the space of another device.
    positional |  | invitation |  | The invitation or the recovery code.
    option | --at | folder |  | The folder on this device, or with a recovery code the address of a hub.
    option | --passphrase-file | file |  | Join with the passphrase in a file's first line.
    option | --name | device |  | The name of this device.
    flag | --insecure |  |  | Reach a hub without TLS: others on the way read its tokens.
    """,
    """
    sync now: Send and fetch changes until nothing is left.
    """,
    """
    sync run: Keep synchronising until stopped.
    flag | --service |  |  | Print what starts this command when you log in, and do nothing else.
    """,
    """
    sync status: Show when this store last synchronised, and what waits.
    """,
    """
    sync members: Show the devices of the space, this one first, or rename one.
    """,
    """
    sync members rename: Give a device another name, on every device.
    positional! |  | device |  | The device's name, handle or replica. A single word renames this device.
    positional |  | new |  | The new name.
    """,
    """
    sync role: Change what another device may do at the hub.
    positional! |  | device |  | The device's name, handle or replica, as 'tally sync members' shows it.
    positional! |  | role |  | What it may do: owner, writer or reader.
    """,
    """
    sync revoke: Revoke a device and give the space a new key.
    positional! |  | device |  | The device's name, handle or replica, as 'tally sync members' shows it.
    option | --passphrase-file | file |  | Let devices join with the passphrase in a file's first line; without \
    this option, nobody can join with a passphrase any more.
    """,
    """
    sync recovery-code: Show the recovery code again: the key of the space, to be kept on paper.
    """,
    """
    sync move: Continue with the space in another folder or at a hub.
    positional! |  | folder |  | The folder, the address of a hub, or an invitation to one.
    option | --account-file | file |  | Use the account of a hub whose token is a file's first line.
    option | --hub-secret-file | file |  | Create an account with the hub's secret in a file's first line.
    flag | --same-hub |  |  | The address is a new address of the same hub; this device keeps its token.
    flag | --insecure |  |  | Reach a hub without TLS: others on the way read its tokens.
    """,
    """
    sync stop: Stop synchronising until the next 'tally sync now'; changes wait.
    """,
    """
    sync leave: Leave the space; this store keeps all tasks.
    """,
    """
    sync diff: Write all that this store knows into a sealed file, for another store of the space.
    positional! |  | file |  | The file to write.
    option | --from | file |  | A file that the other store has written.
    """,
    """
    sync apply: Merge a file that 'tally sync diff' has written in another store of the space.
    positional! |  | file |  | The file to merge.
    """,
    """
    conflicts: Show conflicts between devices, and restore or dismiss the overwritten values.
    """,
    """
    conflicts restore: Restore the overwritten value of a conflict, or of all.
    positional |  | number |  | The number of the conflict.
    flag | --all |  |  | Restore all of them, in one change.
    """,
    """
    conflicts dismiss: Dismiss conflicts, on every device.
    positional* |  | number |  | The numbers of the conflicts.
    flag | --all |  |  | Dismiss all of them.
    """,
    """
    trash: Show deleted tasks and lists of a store that synchronises, or restore them.
    """,
    """
    trash restore: Restore deleted tasks and lists, on every device.
    positional* |  | task |  | The handles that 'tally trash' shows, ids or titles.
    option | --since | time |  | Restore everything that this device has deleted, or learned to be deleted, since \
    then.
    """,
    """
    export: Write tasks to a file, in Tally's format or another one.
    option | -o | file |  | The file, or '-' for standard output.
    option | --format | format | json ndjson taskwarrior todotxt ical csv markdown todoist ticktick org | The \
    format. Default: by the file's extension; an import also looks at the contents.
    flag | --plain-lines |  |  | Write only what the format itself can say.
    positional* |  | filter |  | Which tasks to look for; all of them without any.
    """,
    """
    import: Import the tasks of a file, all of them or none.
    positional! |  | file |  | The file, or '-' for standard input.
    option | --format | format | json ndjson taskwarrior todotxt ical csv markdown todoist ticktick org | The \
    format. Default: by the file's extension; an import also looks at the contents.
    flag | --dry-run |  |  | Report what would change, and change nothing.
    option | --source | name |  | The name of the source. Default: the file's.
    option | --date-order | order | dmy mdy | How 3/4/2026 is read: dmy or mdy.
    option | --completed-on | day |  | When tasks were completed that are done without a date.
    flag | --lenient |  |  | Ignore keys that the format does not define.
    flag | --strict |  |  | Refuse a file of another program for anything that is not understood.
    flag | --overwrite |  |  | Do as the file says, even where the store has something newer.
    """,
    """
    backup: Copy the whole store into one file.
    positional! |  | file |  | The file to write.
    """,
    """
    restore: Replace the store with a backup.
    positional! |  | file |  | A file written by 'tally backup'.
    """,
    """
    verify: Check the store for inconsistencies.
    flag | --repair |  |  | Repair what disagrees, after keeping a copy of the store.
    """,
    """
    compact: Return the space of deleted data to the disk.
    """,
    """
    info: Show where the store is, how large it is and which processes read it.
    """,
    """
    values: Show the values that applications keep beside the tasks.
    positional |  | namespace |  | The namespace whose values to show.
    """,
    """
    config: Show or change the settings that hold for all commands.
    positional |  | key |  | The setting.
    positional |  | value |  | Its new value, or none.
    """,
  ]
}
