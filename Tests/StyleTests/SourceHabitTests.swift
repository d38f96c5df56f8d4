import Foundation
import Testing

/// Habits that a search of the text can check; the formatter has the others (`.swift-format`).
struct SourceHabitTests {
  struct Habit: CustomTestStringConvertible {
    let testDescription: String
    let remedy: String
    /// Without one of these a file has no breach; to look for them is quick.
    let words: [String]
    /// Found in the code of a line or, if `isOfComments`, in its comment.
    let pattern: String
    var isOfComments = false
    /// Given a path relative to the repository.
    let appliesTo: @Sendable (String) -> Bool

    /// One line per breach, each with file, line and remedy.
    func findings(in text: String, of path: String) throws -> [String] {
      guard appliesTo(path), words.contains(where: { text.contains($0) }) else { return [] }
      let regex = try Regex(pattern)
      return text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap { index, line in
        let comment = line.firstRange(of: "//")?.lowerBound ?? line.endIndex
        let part = isOfComments ? line[comment...] : line[..<comment]
        return part.contains(regex) ? "\(path):\(index + 1): \(testDescription): \(remedy)" : nil
      }
    }
  }

  static let habits = [
    Habit(
      testDescription: "no fatalError", remedy: "throw a typed error; state a programmer's error with `precondition`",
      words: ["fatalError("], pattern: #"\bfatalError\("#, appliesTo: { !$0.hasPrefix("Tests/StyleTests/") }),
    Habit(
      testDescription: "libraries do not print", remedy: "return the value, log it, or use the commands' output type",
      words: ["print(", "debugPrint(", "dump("], pattern: #"(^|[^.\w ]|[^c] |\bSwift\.)(print|debugPrint|dump)\("#,
      appliesTo: { $0.hasPrefix("Sources/") }),
    Habit(
      testDescription: "the C library is called in one folder", remedy: "call the typed binding in Sources/LMDB",
      words: ["mdb_", "CLMDB"], pattern: #"\bmdb_\w+\(|\bimport CLMDB\b"#,
      appliesTo: { !$0.hasPrefix("Sources/LMDB/") && !$0.hasPrefix("Tests/StyleTests/") }),
    Habit(
      testDescription: "no leftovers", remedy: "do it now, or open an issue and remove the mark",
      words: ["TODO", "FIXME", "XXX"], pattern: #"\b(TODO|FIXME|XXX)\b"#, isOfComments: true, appliesTo: { _ in true }),
  ]

  @Test(arguments: habits)
  func everySourceKeeps(habit: Habit) throws {
    let paths = Repository.paths().filter { $0.hasSuffix(".swift") }
    for folder in ["Sources/LMDB/", "Sources/Tally/", "Sources/TallyCommands/", "Tests/StyleTests/"] {
      #expect(paths.contains { $0.hasPrefix(folder) }, "no Swift file under \(folder)")
    }
    for path in paths {
      for finding in try habit.findings(in: try Repository.text(of: path), of: path) { Issue.record("\(finding)") }
    }
  }

  @Test(
    arguments: zip(
      habits,
      [
        "a()\nfatalError(\"no\")", "\n  if a { print(1) }\n", "a()\nmdb_env_close(environment)",
        "\nlet a = 1  // TO" + "DO: more",
      ]))
  func breachIsFoundOnItsLine(habit: Habit, text: String) throws {
    let findings = try habit.findings(in: text, of: "Sources/Tally/Sample.swift")
    #expect(findings == ["Sources/Tally/Sample.swift:2: \(habit.testDescription): \(habit.remedy)"])
  }

  @Test(arguments: [
    "// fatalError(\"no\")", "func print(_ a: Int)", "output.print(1)", "/// print(seed)", "fingerprint(a)",
    "let operation = \"mdb_put\"", "let text = \"TO" + "DO\"", "// the escape \\uXXXX", "let method = \"list\"",
  ])
  func harmlessSourceIsLeftAlone(text: String) throws {
    for habit in Self.habits { #expect(try habit.findings(in: text, of: "Sources/Tally/Sample.swift") == []) }
  }

  @Test func bindingCallsTheLibraryAndTestsPrint() throws {
    for (path, text) in [
      ("Sources/LMDB/A.swift", "mdb_env_close(environment)"), ("Tests/TallyTests/A.swift", "print(1)"),
    ] {
      for habit in Self.habits { #expect(try habit.findings(in: text, of: path) == []) }
    }
  }
}
