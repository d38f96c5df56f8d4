import Foundation
import Testing

/// Runs `Scripts/git-log-to-tasks.sh` on repositories created here, whose subjects are as awkward as git allows.
struct GitLogScriptTests {
  private struct Line: Decodable, Equatable {
    let id: String
    let text: String
    let state: String
    let createdAt: String
    let completedAt: String
  }

  private static let environment = [
    "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin",
    "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_AUTHOR_DATE": "2008-04-19T21:54:30-0400",
    "GIT_COMMITTER_NAME": "B", "GIT_COMMITTER_EMAIL": "b@example.org", "GIT_COMMITTER_DATE": "2020-01-01T00:00:00+0545",
  ]

  /// The script's lines for a repository with a commit for each message, oldest first.
  private func lines(forCommitsOf messages: [Data]) throws -> [Line] {
    let folder = URL.temporaryDirectory.appending(path: "tally-git-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try git(["init", "--quiet"], in: folder)
    for message in messages {
      try message.write(to: folder.appending(path: "message"))
      try git(
        ["commit", "--quiet", "--allow-empty", "--allow-empty-message", "--cleanup=verbatim", "--file=message"],
        in: folder
      )
    }
    let run = try ScriptRun("Scripts/git-log-to-tasks.sh", [folder.path], environment: Self.environment)
    #expect(run.status == 0)
    return try run.output.split(separator: "\n").reversed().map { line in
      try JSONDecoder().decode(Line.self, from: Data(line.utf8))
    }
  }

  private func git(_ arguments: [String], in folder: URL) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["git"] + arguments
    process.currentDirectoryURL = folder
    process.environment = Self.environment
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
  }

  @Test func subjectsComeBackUnchangedFromJSON() throws {
    let subjects = [
      #"a "quoted" word, a \ and \u0041"#, "tabs\tinside\ttwice", "\u{1}\u{1B}[31mred\u{1F}\u{7F}", "家族 👩‍👩‍👧 e\u{301}",
      "</script> {\"a\": 1}", String(repeating: "long ", count: 2_000) + "end",
    ]
    #expect(try lines(forCommitsOf: subjects.map { Data($0.utf8) }).map(\.text) == subjects)
  }

  @Test func commitWithoutASubjectIsNamedByItsHash() throws {
    let texts = try lines(forCommitsOf: [Data(), Data(" \t ".utf8)]).map(\.text)
    for text in texts { #expect(text.wholeMatch(of: /\(no subject\) [0-9a-f]{10}/) != nil) }
    #expect(Set(texts).count == 2)
  }

  @Test func bytesThatAreNotUTF8DoNotBreakTheLine() throws {
    let texts = try lines(forCommitsOf: [Data([0x61, 0xFF, 0xC3, 0x28, 0x62])]).map(\.text)
    #expect(texts.count == 1)
    #expect(texts.first?.hasPrefix("a") == true)
    #expect(texts.first?.hasSuffix("b") == true)
  }

  @Test func timesKeepTheirOffsetsAndTheIdIsTheSameEachTime() throws {
    let first = try lines(forCommitsOf: [Data("one".utf8), Data("two".utf8)])
    #expect(first.map(\.createdAt) == ["2008-04-19T21:54:30-04:00", "2008-04-19T21:54:30-04:00"])
    #expect(first.map(\.completedAt) == ["2020-01-01T00:00:00+05:45", "2020-01-01T00:00:00+05:45"])
    #expect(first.allSatisfy { $0.state == "completed" })
    #expect(Set(first.map(\.id)).count == 2)
    for line in first {
      #expect(line.id.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil)
    }
    // The same content and times make the same commits.
    #expect(try lines(forCommitsOf: [Data("one".utf8), Data("two".utf8)]) == first)
  }
}
