/// Commands by the words that other programs, and people, have for them.
enum CommandSynonyms {
  /// What may have been meant by a word that is not a command; nothing if the word is not known.
  static func commands(for word: String) -> [String] {
    meanings[word.lowercased(), default: []].filter(RootCommand.commandNames.contains)
  }

  private static let meanings: [String: [String]] = [
    "begin": ["start"], "cancel": ["delete"], "check": ["verify", "done"], "close": ["done"],
    "complete": ["done"], "create": ["add"], "del": ["delete"], "dump": ["export"], "erase": ["delete"],
    "finish": ["done"], "finished": ["completed"], "fsck": ["verify"], "grep": ["search"], "late": ["overdue"],
    "load": ["import"], "ls": ["list", "lists"], "mark": ["done"], "modify": ["edit"], "mv": ["move"], "new": ["add"],
    "notify": ["remind"], "plan": ["move"], "postpone": ["snooze"], "preferences": ["config"], "project": ["list"],
    "projects": ["lists"], "query": ["find"], "remove": ["delete"], "report": ["stats"],
    "restart": ["reopen"], "revert": ["undo"], "rm": ["delete"], "save": ["export", "backup"], "schedule": ["move"],
    "set": ["edit", "config"], "settings": ["config"], "summary": ["stats"], "task": ["show"], "tick": ["done"],
    "todo": ["add"], "trash": ["delete"], "uncomplete": ["reopen"], "undone": ["reopen"], "vacuum": ["compact"],
    "view": ["show"], "week": ["upcoming"],
  ]
}
