import Testing

@testable import TallyCommands

/// What people see, kept as text in `Snapshots/`; see ``Transcript``.
struct TranscriptTests {
  @Test(arguments: Transcript.names)
  func programAnswersAsItsTranscriptSays(name: String) throws {
    try Transcript.check(name)
  }

  /// So that a command is neither added without its help on file nor removed unnoticed.
  @Test func helpOfEveryCommandIsOnFile() throws {
    let shown = try Transcript.commands(in: "help").filter { $0.first == "help" }.map { Array($0.dropFirst()) }
    #expect(Set(shown) == Set(Commands.names))
  }
}

/// The commands there are.
enum Commands {
  static let names = RootCommand.allCommands.map(\.path)

  /// Commands that only read and need no name: the views and a few others.
  static let reads = Set(((try? Transcript.commands(in: "views")) ?? []).filter { $0.count == 1 })
    .union([["info"], ["reminders"], ["stats"]])
}
