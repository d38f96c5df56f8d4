import Foundation
import SystemPackage
import Testing

@testable import TallyCommands

/// Dialogues with the program, kept as text in `Snapshots/`: each file is a test.
///
/// A line `$` is a command that is run, `<` its input; the lines after it are what it printed: `|` standard output, `!`
/// standard error, `=` an exit status other than zero. A line `# small:`, `# history:` or `# none:` begins with a new
/// store of that kind and says what the commands below it show.
///
/// A command may begin with variables of its environment, such as `COLUMNS=40`.
///
/// To add a dialogue, write its `$` and `<` lines and run the tests with `TALLY_RECORD=1`, which writes the rest; then
/// read what `git diff` shows.
struct Transcript {
  let name: String
  private var text = ""
  /// The text since the last new store.
  private var part = ""
  private var program: Program

  private static let directory = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Snapshots")

  /// The names of all files.
  static let names = ((try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? [])
    .filter { $0.hasSuffix(".txt") }.map { String($0.dropLast(4)) }.sorted()

  /// Runs the commands of a file, and compares what they print with it, or writes the file.
  static func check(_ name: String) throws {
    let file = directory.appending(path: name + ".txt")
    let expected = try String(contentsOf: file, encoding: .utf8)
    var shown = ""
    // New tasks have random ids: one in a thousand ends like another one, or like a word or a year of the text.
    for _ in 0..<3 where shown != expected {
      shown = try withProgram { program in
        var transcript = Transcript(name: name, program: program)
        return try transcript.replay(expected)
      }
    }
    if ProcessInfo.processInfo.environment["TALLY_RECORD"] == "1" {
      return try Data(shown.utf8).write(to: file)
    }
    // `#expect` would print both texts in full.
    if shown != expected {
      Issue.record("\(name): \(difference(shown, expected)); TALLY_RECORD=1 records the new text")
    }
  }

  /// The lines of a file that are commands, without the program's name.
  static func commands(in name: String) throws -> [[String]] {
    try String(contentsOf: directory.appending(path: name + ".txt"), encoding: .utf8).split(separator: "\n")
      .filter { $0.hasPrefix("$ ") }.map { Array(words(of: $0.dropFirst(2)).drop { $0 != "tally" }.dropFirst()) }
  }

  private init(name: String, program: Program) {
    self.name = name
    self.program = program
  }
}

extension Transcript {
  private mutating func replay(_ file: String) throws -> String {
    var lines = file.split(separator: "\n", omittingEmptySubsequences: false)[...]
    while let line = lines.popFirst() {
      if line.hasPrefix("# ") {
        try beginPart(line)
      } else if line.hasPrefix("$ ") {
        let input = lines.prefix { $0.hasPrefix("< ") || $0 == Self.unended }
        lines = lines.dropFirst(input.count)
        try run(line, input)
      }
    }
    text += try steady(part)
    return text
  }

  private mutating func beginPart(_ line: Substring) throws {
    text += try steady(part)
    part = "\(line)\n\n"
    program = Program(in: program.directory.appending("part-\(UUID().uuidString)"))
    try FileManager.default.createDirectory(atPath: program.directory.string, withIntermediateDirectories: true)
    switch line.dropFirst(2).prefix(while: { $0 != ":" }) {
    case "small": try Fixture.fill(program)
    case "history": try HistoryFixture.fill(program, seed: 20_261_121)
    case "values": try Fixture.fillWithValues(program)
    case "none": break
    case let kind: Issue.record("\(name): there is no store of the kind \(kind)")
    }
  }

  private mutating func run(_ line: Substring, _ inputLines: ArraySlice<Substring>) throws {
    var words = Self.words(of: line.dropFirst(2))
    let settings = words.prefix { $0 != "tally" }
    words.removeFirst(settings.count + 1)
    var program = program
    for setting in settings {
      let parts = setting.split(separator: "=", maxSplits: 1).map(String.init)
      program.environment[parts[0]] = parts[1]
    }
    let columns = settings.first { $0.hasPrefix("COLUMNS=") }.flatMap { Int($0.dropFirst(8)) }
    let isEnded = inputLines.last != Self.unended
    let input = inputLines.filter { $0 != Self.unended }.map { String($0.dropFirst(2)) }.joined(separator: "\n")
    let outcome = try program.run(
      words.map { $0.replacing("DIRECTORY", with: program.directory.string) },
      input: input.isEmpty ? "" : input + (isEnded ? "\n" : ""))
    part += "\(line)\n" + inputLines.map { "\($0)\n" }.joined()
    part += Self.marked(outcome.output, "|") + Self.marked(outcome.errors, "!")
    if outcome.status != 0 { part += "= \(outcome.status)\n" }
    part += "\n"
    if let columns {
      for line in outcome.output.split(separator: "\n") where line.displayWidth > columns {
        Issue.record("\(name): wider than \(columns) columns: \(line)")
      }
    }
  }

  private static let unended: Substring = "(no line break at the end)"

  /// The words of a command line, in which single quotes hold words together and `\n` in them is a line break.
  static func words(of line: Substring) -> [String] {
    var words: [String] = []
    for (index, piece) in line.split(separator: "'", omittingEmptySubsequences: false).enumerated() {
      if index % 2 == 1 {
        words.append(String(piece).replacing("\\n", with: "\n"))
      } else {
        words += piece.split(separator: " ").map(String.init)
      }
    }
    return words
  }

  private static func marked(_ text: String, _ mark: String) -> String {
    guard !text.isEmpty else { return "" }
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let isEnded = lines.last?.isEmpty == true
    if isEnded { lines.removeLast() }
    let shown = lines.map { $0.isEmpty ? "\(mark)\n" : "\(mark) \($0)\n" }.joined()
    return isEnded ? shown : shown + "\(unended)\n"
  }

  /// The text with what differs from run to run named instead: the directory, and the ids the program created.
  private func steady(_ text: String) throws -> String {
    var result = text.replacing(program.directory.string, with: "DIRECTORY")
    let tasks = try program.run(["all", "--plain"]).output.split(separator: "\n")
      .map { $0.split(separator: "\t", omittingEmptySubsequences: false) }
    // The handles of a view have the length of its longest one.
    for id in tasks.map({ $0[7] }) where !id.hasPrefix(Fixture.idPrefix) {
      let tails = (4...11).reversed().map { String(id.suffix($0)) }.joined(separator: "|")
      result = result.replacing(try Regex("\\b(?:\(tails))\\b"), with: "made")
    }
    // Tasks that are gone are in the history.
    let history = try program.run(["history", "--json"]).output
    for match in history.matches(of: /"id":"([-0-9a-f]{36})","handle":"([0-9a-f]+)"/)
    where !match.1.hasPrefix(Fixture.idPrefix) {
      result = result.replacing(try Regex("\\b\(match.2)\\b"), with: "made")
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
