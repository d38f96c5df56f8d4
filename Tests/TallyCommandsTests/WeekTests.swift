import Foundation
import SystemPackage
import Tally
import TallyTestSupport
import Testing

@testable import TallyCommands

/// Days with the program in a terminal, kept as text in folders of `Snapshots/`: a week of work, the first hour of somebody
/// who has read nothing, and the day on which a user of Taskwarrior moves in.
///
/// `commands.txt` has the commands: a line `@` sets the clock, and `{title}` stands for the handle of that task. The text
/// files beside it are what people see in some kinds of terminal; `TALLY_RECORD=1` writes them. Any other file is in the
/// directory in which the commands run.
struct WeekTests {
  /// A kind of terminal.
  struct Setting: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let columns: Int
    let environment: [String: String]
  }

  static let settings = [
    Setting(
      testDescription: "80-columns", columns: 80, environment: ["TERM": "xterm-256color", "LANG": "en_US.UTF-8"]),
    Setting(testDescription: "c-locale", columns: 80, environment: ["TERM": "vt100", "LC_ALL": "C"]),
    Setting(
      testDescription: "40-columns", columns: 40,
      environment: ["TERM": "xterm", "LANG": "en_US.UTF-8", "NO_COLOR": "1"]),
    Setting(
      testDescription: "no-colour", columns: 80,
      environment: ["TERM": "xterm", "LANG": "en_US.UTF-8", "NO_COLOR": "1"]),
  ].prefix(TestSize.pick(quick: 2, long: 4))

  /// Terminals without colours, in which a change of the words is easy to read.
  static let plainSettings = [80, 40].prefix(TestSize.pick(quick: 1, long: 2)).map { columns in
    Setting(
      testDescription: "\(columns)-columns", columns: columns,
      environment: ["TERM": "xterm", "LANG": "en_US.UTF-8", "NO_COLOR": "1"])
  }

  private static let directory = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Snapshots")

  @Test(.enabled(if: PseudoTerminal.isSupported), arguments: settings)
  func weekLooksAsItDid(setting: Setting) throws {
    try check("Week", setting)
  }

  @Test(.enabled(if: PseudoTerminal.isSupported), arguments: ["FirstHour", "Taskwarrior"], plainSettings)
  func storyLooksAsItDid(name: String, setting: Setting) throws {
    try check(name, setting)
  }

  private func check(_ name: String, _ setting: Setting) throws {
    let folder = Self.directory.appending(path: name)
    let file = folder.appending(path: setting.testDescription + ".txt")
    let expected = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    var (text, visible) = ("", "")
    // New tasks have random ids: one in a thousand ends like another one, or like a word or a year of the text.
    for _ in 0..<3 where visible.isEmpty || visible != expected {
      text = try story(in: folder, setting)
      visible = text.replacing("\u{1B}", with: "^[")
    }
    if setting.environment["LC_ALL"] == "C" { #expect(text.utf8.allSatisfy { $0 < 0x80 }) }
    if setting.environment["NO_COLOR"] != nil { #expect(!text.contains("\u{1B}[3")) }
    if ProcessInfo.processInfo.environment["TALLY_RECORD"] == "1" {
      return try Data(visible.utf8).write(to: file)
    }
    let (new, old) = (visible.split(separator: "\n"), expected.split(separator: "\n"))
    if let line = zip(new, old).first(where: { $0 != $1 }) {
      Issue.record("now «\(line.0)», was «\(line.1)»; TALLY_RECORD=1 records the new text")
    }
    #expect(new.count == old.count)
  }

  /// What one kind of terminal shows.
  private func story(in folder: URL, _ setting: Setting) throws -> String {
    try withProgram { program in
      for file in try FileManager.default.contentsOfDirectory(atPath: folder.path) where !file.hasSuffix(".txt") {
        try FileManager.default.copyItem(
          atPath: folder.appending(path: file).path, toPath: program.directory.appending(file).string)
      }
      var week = Week(program: program, setting: setting)
      let commands = try String(contentsOf: folder.appending(path: "commands.txt"), encoding: .utf8)
      for line in commands.split(separator: "\n") where !line.hasPrefix("#") { try week.run(line) }
      return week.text
    }
  }
}

/// A run of the commands.
private struct Week {
  private(set) var text = ""
  private var program: Program
  private let terminal: PseudoTerminal
  /// A second later with each command: tasks of the same instant would be in the order of their random ids.
  private var now = Timestamp.earliest
  /// The handles of the tasks so far, in the order of their creation.
  private var handles: [String] = []

  init(program: Program, setting: WeekTests.Setting) {
    self.program = program
    self.program.environment["COLUMNS"] = nil
    // A path of one length, as a message that names it is wrapped.
    self.program.environment["TALLY_STORE"] = "tasks.tally"
    // Nothing can be kept there, so what is said once in a terminal's session is said each time: terminals are numbered in
    // the order in which tests that run at the same time open them.
    self.program.environment["XDG_RUNTIME_DIR"] = "/dev/null"
    self.program.environment.merge(setting.environment) { $1 }
    terminal = PseudoTerminal(columns: UInt16(setting.columns), rows: 24)
  }

  mutating func run(_ line: Substring) throws {
    if line.hasPrefix("@ ") {
      now = try Timestamp(iso8601: String(line.dropFirst(2)))
      text += "\(line)\n\n"
      return
    }
    now = now.adding(seconds: 1)
    var arguments = ["--now", now.iso8601, "--time-zone", Program.timeZone]
    for word in Transcript.words(of: line).dropFirst() { arguments.append(try resolved(word)) }
    let (status, output) = try terminal.run(
      Program.executable, arguments, in: program.directory, environment: program.environment)
    if Self.creating.contains(line.split(separator: " ").dropFirst().first ?? "") { try noteHandles() }
    text += "$ \(line.allSatisfy(\.isASCII) ? String(line) : String(line).inASCII)\n\(steady(output))"
    text += status == 0 ? "\n" : "= \(status)\n\n"
  }

  /// The argument with handles in place of titles.
  private func resolved(_ word: String) throws -> String {
    guard let start = word.firstIndex(of: "{"), let end = word.lastIndex(of: "}"), start < end else { return word }
    let title = word[word.index(after: start)..<end]
    for line in try program.run(["all", "--plain"]).output.split(separator: "\n") {
      let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
      if fields[6] == title { return "\(word[..<start])\(fields[0])\(word[word.index(after: end)...])" }
    }
    Issue.record("there is no task \(title)")
    return word
  }

  /// The commands after which there may be new tasks.
  private static let creating: Set<Substring> = ["add", "quick", "log", "import", "done", "open", "redo"]

  private mutating func noteHandles() throws {
    for line in try program.run(["all", "--plain"]).output.split(separator: "\n") {
      let handle = String(line.prefix { $0 != "\t" })
      if !handles.contains(handle) { handles.append(handle) }
    }
  }

  /// The output with numbers in place of handles and ids.
  private func steady(_ output: String) -> String {
    var result = output.replacing(program.directory.string, with: "DIRECTORY")
    // A narrow terminal has an id on two lines.
    result = result.replacing(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[-0-9a-f]+(\n +[0-9a-f]+(?=\n))?/) { _ in "id" }
    for (number, handle) in handles.enumerated() {
      let name = "t" + String(repeating: "0", count: number < 9 ? 2 : number < 99 ? 1 : 0) + "\(number + 1)"
      result = result.replacing(handle, with: name)
    }
    return result
  }
}
