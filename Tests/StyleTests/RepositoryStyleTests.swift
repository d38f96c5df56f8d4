import Testing

struct RepositoryStyleTests {
  static let files = Result { try SourceFile.inRepository() }

  @Test func repositoryIsFoundWithItsLibrariesAndTests() throws {
    let paths = try Self.files.get().map(\.path)
    for folder in ["Sources/LMDB/", "Sources/Tally/", "Sources/TallyCommands/", "Tests/StyleTests/"] {
      #expect(paths.contains { $0.hasPrefix(folder) }, "no Swift file under \(folder)")
    }
  }

  @Test(arguments: StyleRule.all)
  func everySourceFileKeeps(rule: StyleRule) throws {
    for finding in try Self.files.get().flatMap(rule.findings) { Issue.record("\(finding)") }
  }
}
