import Foundation
import Tally

/// Draws the tasks: over the last drawing on a terminal, one drawing after the other elsewhere.
actor Screen {
  private let isTerminal = isatty(STDOUT_FILENO) == 1

  func draw(_ tasks: [TaskItem], message: String) {
    var lines = ["Today", ""]
    for (index, task) in tasks.enumerated() {
      lines.append("\(index + 1). \(Self.mark(of: task.state)) \(Self.shown(task.title))")
    }
    if tasks.isEmpty { lines.append("Nothing to do.") }
    lines += ["", message, "Type a task to add it, its number to go on with it, nothing to quit."]
    write((isTerminal ? "\u{1B}[H\u{1B}[2J" : "") + lines.joined(separator: "\n") + "\n")
  }

  /// Draws the last line.
  func finish(_ message: String) {
    write(message + "\n")
  }

  private static func mark(of state: TaskState) -> String {
    switch state {
    case .notStarted: "[ ]"
    case .active: "[~]"
    case .completed: "[x]"
    case .cancelled: "[-]"
    }
  }

  /// A title on one line that cannot drive the terminal.
  private static func shown(_ title: String) -> String {
    String(String.UnicodeScalarView(title.unicodeScalars.map { $0.properties.generalCategory == .control ? "␀" : $0 }))
  }

  private func write(_ text: String) {
    // Not `print`, which buffers the output into a pipe.
    FileHandle.standardOutput.write(Data(text.utf8))
  }
}
