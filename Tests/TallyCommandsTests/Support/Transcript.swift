import Foundation
import SystemPackage
import Testing

/// A dialogue with the program, compared with the one on file.
///
/// Run the tests with `TALLY_RECORD=1` to write the files anew; then read what `git diff` shows.
///
/// A line `$` is a command, `|` standard output, `!` standard error, `=` an exit status other than zero.
struct Transcript {
  let program: Program
  private(set) var text = ""

  init(_ program: Program) {
    self.program = program
  }

  mutating func run(_ arguments: String..., input: String = "", columns: Int = 80) throws {
    try run(arguments, input: input, columns: columns)
  }

  mutating func run(_ arguments: [String], input: String = "", columns: Int = 80) throws {
    var program = program
    program.environment["COLUMNS"] = String(columns)
    let outcome = try program.run(arguments, input: input)
    let width = columns == 80 ? "" : "COLUMNS=\(columns) "
    add("$ \((["\(width)tally"] + arguments.map(Self.quoted)).joined(separator: " "))\n")
    for line in input.split(separator: "\n", omittingEmptySubsequences: false).dropLast() { add("< \(line)\n") }
    add(Self.marked(outcome.output, "|") + Self.marked(outcome.errors, "!"))
    if outcome.status != 0 { add("= \(outcome.status)\n") }
    add("\n")
  }

  /// Compares the dialogue with the file of the given name, or writes it.
  func check(_ name: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let file = Self.directory.appending(path: name + ".txt")
    let shown = try steady(text)
    if ProcessInfo.processInfo.environment["TALLY_RECORD"] == "1" {
      try FileManager.default.createDirectory(at: Self.directory, withIntermediateDirectories: true)
      return try Data(shown.utf8).write(to: file)
    }
    let expected = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    // `#expect` would print both texts in full.
    if shown != expected {
      Issue.record(
        "\(name): \(Self.difference(shown, expected)); TALLY_RECORD=1 records anew",
        sourceLocation: sourceLocation
      )
    }
  }
}

extension Transcript {
  private static let directory = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Snapshots")

  private mutating func add(_ more: String) {
    text += more
  }

  private static func quoted(_ argument: String) -> String {
    argument.contains { $0.isWhitespace } || argument.isEmpty ? "'\(argument.replacing("\n", with: "\\n"))'" : argument
  }

  private static func marked(_ text: String, _ mark: String) -> String {
    guard !text.isEmpty else { return "" }
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let isEnded = lines.last?.isEmpty == true
    if isEnded { lines.removeLast() }
    let shown = lines.map { $0.isEmpty ? "\(mark)\n" : "\(mark) \($0)\n" }.joined()
    return isEnded ? shown : shown + "(no line break at the end)\n"
  }

  /// The text with what differs from run to run named instead: the directory, and the ids the program made.
  private func steady(_ text: String) throws -> String {
    var result = text.replacing(program.directory.string, with: "DIRECTORY")
    let tasks = try program.run(["all", "--plain"]).output.split(separator: "\n")
      .map { $0.split(separator: "\t", omittingEmptySubsequences: false) }
    for task in tasks where task.last?.hasPrefix(Fixture.idPrefix) == false {
      result = result.replacing(try Regex("\\b\(task[0])\\b"), with: "made")
    }
    return result.replacing(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/) {
      $0.output.hasPrefix(Fixture.idPrefix) ? $0.output : "made-id"
    }
  }

  private static func difference(_ shown: String, _ expected: String) -> String {
    let (new, old) = (shown.split(separator: "\n"), expected.split(separator: "\n"))
    let index = zip(new, old).enumerated().first { $1.0 != $1.1 }?.offset ?? min(new.count, old.count)
    return "line \(index + 1) is «\(index < new.count ? new[index] : "")», was «\(index < old.count ? old[index] : "")»"
  }
}
