import Foundation
import Tally
import Testing

@testable import TallyCommands

struct ExitStatusTests {
  @Test func everyCodeOfTheLibrariesHasItsStatus() throws {
    let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources")
    let files = [
      "TallyEngine/Basics/TallyError.swift", "Tally/Basics/TaskErrors.swift", "TallySync/Wire/Invitation.swift",
      "TallySync/Exchange/SyncErrors.swift",
    ]
    let names = try files.flatMap { file in
      try String(contentsOf: sources.appending(path: file), encoding: .utf8)
        .matches(of: /public static let (\w+) = (?:TallyError\.)?Code/).map { String($0.1) }
    }
    #expect(names.count > 20)
    #expect(Set(names) == Set(ExitStatus.byCode.keys.map(\.description)))
  }

  @Test func errorWithAPositionIsAboutAFile() {
    let typed = TallyError(.blankTitle, "x", remedy: "y")
    let imported = TallyError(.blankTitle, "x", remedy: "y", at: TextPosition(line: 3, column: 7))
    #expect(ExitStatus(for: typed) == .usage)
    #expect(ExitStatus(for: imported) == .badData)
    #expect(CommandFailure(imported).message.contains("line 3, column 7"))
  }

  @Test func failureForAProgramIsOneObject() throws {
    let failure = CommandFailure.usage("No \"x\"\u{1B}", remedy: "Do y")
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(failure.json)) as? [String: [String: String]]
    )
    #expect(object == ["error": ["code": "usage", "message": "No \"x\"\u{1B}", "remedy": "Do y"]])
    #expect(!failure.json.contains(0x1B))
  }
}
