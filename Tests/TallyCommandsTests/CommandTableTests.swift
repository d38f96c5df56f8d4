import Foundation
import Testing

@testable import TallyCommands

struct CommandTableTests {
  /// `TALLY_RECORD=1` writes the table, which belongs after every change of a command's arguments.
  @Test func tableHasWhatTheParserSays() throws {
    let commands = try CommandDescription.fromParser()
    if ProcessInfo.processInfo.environment["TALLY_RECORD"] == "1" {
      try Data(source(of: commands).utf8).write(to: Self.file)
    } else {
      for command in commands {
        #expect(CommandDescription(of: command.path) == command, "TALLY_RECORD=1 records the table again")
      }
      #expect(CommandDescription.table == commands.map(\.text))
    }
  }

  private static let file = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../Sources/TallyCommands/Arguments/CommandTable.swift").standardizedFileURL

  private func source(of commands: [CommandDescription]) -> String {
    let entries = commands.map { command in
      let lines = command.text.split(separator: "\n").map {
        "    " + String($0).replacing("\\", with: "\\\\").wrappedLiteral
      }
      return "    \"\"\"\n" + lines.joined(separator: "\n") + "\n    \"\"\",\n"
    }
    return """
      /// The commands as the parser describes them; `CommandTableTests` writes this file and compares it.
      extension CommandDescription {
        static let table: [String] = [
      \(entries.joined())  ]
      }

      """
  }
}

extension String {
  /// The line of a literal, continued on further lines where it is too long.
  fileprivate var wrappedLiteral: String {
    var lines = [""]
    for (index, word) in split(separator: " ", omittingEmptySubsequences: false).enumerated() {
      if lines[lines.count - 1].count + word.count > 108 {
        lines.append(String(word))
      } else {
        lines[lines.count - 1] += (index == 0 ? "" : " ") + word
      }
    }
    return lines.joined(separator: " \\\n    ")
  }
}
