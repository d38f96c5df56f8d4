import Foundation
import Testing

@testable import TallyCommands

struct CommandTableTests {
  /// `TALLY_RECORD=1` writes the table, which belongs after every change of a command's arguments.
  @Test func tableHasWhatTheParserSays() throws {
    let commands = try CommandDescription.fromParser()
    let source = try source(of: commands)
    if ProcessInfo.processInfo.environment["TALLY_RECORD"] == "1" {
      try Data(source.utf8).write(to: Self.file)
    } else {
      for command in commands {
        #expect(CommandDescription(of: command.path) == command, "TALLY_RECORD=1 records the table again")
      }
      #expect(try String(contentsOf: Self.file, encoding: .utf8) == source)
    }
  }

  private static let file = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../Sources/TallyCommands/Arguments/CommandTable.swift").standardizedFileURL

  /// The source of the table, in which a group of arguments that several commands have is a line.
  private func source(of commands: [CommandDescription]) throws -> String {
    let groups = try CommandDescription.groupsFromParser()
    let table = commands.flatMap { command in
      groups.reduce(into: command.lines) { lines, group in
        let found = lines.indices.first { lines[$0...].starts(with: group.lines) }
        if let found { lines.replaceSubrange(found..<(found + group.lines.count), with: ["  @\(group.name)"]) }
      }
    }
    return """
      /// The commands as the parser describes them; `CommandTableTests` writes this file and compares it.
      extension CommandDescription {
        static let table = [
      \(literals(table))
        ]

        static let groups = [
      \(literals(groups.flatMap { ["\($0.name):"] + $0.lines }))
        ]
      }

      """
  }

  private func literals(_ lines: [String]) -> String {
    lines.map { line in
      "    \"\(line.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\","
    }.joined(separator: "\n")
  }
}
