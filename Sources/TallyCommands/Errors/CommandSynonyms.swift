/// Commands by the words that other programs, and people, have for them.
enum CommandSynonyms {
  /// What may have been meant by a word that is not a command, as a command with what it needs; nothing if the word is not
  /// known.
  static func commands(for word: String) -> [String] {
    meanings[word.lowercased(), default: []].filter { meaning in
      meaning.hasPrefix("-")
        || meaning.split(separator: " ").first.map { RootCommand.commandNames.contains(String($0)) } ?? false
    }
  }

  private static let meanings: [String: [String]] = [
    "annotate": ["edit HANDLE --notes TEXT"], "append": ["edit HANDLE --notes TEXT"], "begin": ["start"],
    "cal": ["upcoming", "due DAY"], "calendar": ["upcoming", "due DAY"], "cancel": ["delete"],
    "check": ["verify", "done"], "close": ["done"],
    "complete": ["done"], "context": ["filter NAME", "config default-list"], "copy": ["add"], "create": ["add"],
    "defer": ["move HANDLE --to DAY", "snooze"], "del": ["delete"], "dump": ["export"], "duplicate": ["add"],
    "erase": ["delete"],
    "finish": ["done"], "finished": ["completed"], "fsck": ["verify"], "grep": ["search"], "late": ["overdue"],
    "load": ["import"], "ls": ["list", "lists"], "mark": ["done"], "modify": ["edit"], "mv": ["move"], "new": ["add"],
    "note": ["edit HANDLE --notes TEXT"],
    "notify": ["remind"], "plan": ["move"], "postpone": ["snooze"], "preferences": ["config"], "project": ["list"],
    "projects": ["lists"], "query": ["find"], "remove": ["delete"], "report": ["stats"],
    "restart": ["reopen"], "revert": ["undo"], "rm": ["delete"], "save": ["export", "backup"], "schedule": ["move"],
    "set": ["edit", "config"], "settings": ["config"], "skip": ["move HANDLE --to DAY", "done"],
    "someday": ["move HANDLE --to none"], "stop": ["reopen"], "summary": ["stats"], "task": ["show"], "tick": ["done"],
    "todo": ["add"], "trash": ["delete"], "uncomplete": ["reopen"], "undone": ["reopen"], "vacuum": ["compact"],
    "version": ["--version"],
    "view": ["show"], "wait": ["move HANDLE --to DAY", "snooze"], "waiting": ["upcoming"], "week": ["upcoming"],
  ]
}
