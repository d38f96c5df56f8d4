/// The action of each key; `keyboard.js` has the same keys, which a scenario compares.
enum KeyboardSheet {
  static let keys: [(key: String, words: String)] = [
    ("c", "Type a new task"), ("/", "Search"), ("j", "Go to the next task"), ("k", "Go to the previous task"),
    ("↓", "From a task to the next one"), ("↑", "From a task to the previous one"),
    ("Space", "Complete the task, or reopen it"), ("s", "Start the task, or stop it"), ("Enter", "Open the task"),
    ("x", "Select the task"), ("Escape", "Select nothing; close the menu or the sheet"), ("t", "Plan for today"),
    ("w", "Plan for tomorrow"), ("n", "Plan for no day"), ("Alt ↑", "Move the task up"),
    ("Alt ↓", "Move the task down"),
    ("m", "Menu of the task: move, plan, more"), ("Delete", "Delete the task"), ("u", "Undo the last change"),
    ("g t", "Go to Today"), ("g i", "Go to Inbox"), ("g u", "Go to Upcoming"), ("g l", "Go to the lists"),
    ("g w", "Go to Waiting"), ("?", "Show this sheet"),
  ]

  static var rows: [[String: String]] { keys.map { ["key": $0.key, "words": $0.words] } }
}
