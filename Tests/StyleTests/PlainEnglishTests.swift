import Testing

extension PlainEnglish: CustomTestStringConvertible {
  var testDescription: String { phrase }
}

struct PlainEnglishTests {
  private static let texts = Result {
    try Repository.paths().filter(PlainEnglish.covers).map { (path: $0, text: try Repository.text(of: $0)) }
  }

  @Test(arguments: PlainEnglish.all)
  func phraseOccursNoMoreOftenThanAllowed(rule: PlainEnglish) throws {
    let places = try Self.texts.get().flatMap { try rule.places(in: $0.text, of: $0.path) }
    let summary = "`\(rule.phrase)` \(places.count) times, \(rule.allowed) allowed; write: \(rule.instead)"
    if places.count > rule.allowed { Issue.record("\(summary)\n\(places.joined(separator: "\n"))") }
  }

  @Test func repositoryHasPagesSourcesAndScriptsToRead() throws {
    let paths = try Self.texts.get().map(\.path)
    for path in ["README.md", "Makefile", "docs/design.md", "Scripts/set-up.sh", "Sources/Tally/Store/TaskStore.swift"]
    {
      #expect(paths.contains(path))
    }
  }

  @Test(arguments: [
    "It tells why", "as it was", "This is no task.", "built anew", "for whoever asks", "none but for one",
    "so many pages",
    "sees to it", "takes it back", "taken back", "takes the last change back", "makes no change", "as he likes",
    "What is stored", "a line nobody would miss",
  ])
  func manneredPhraseIsFoundOnItsLine(text: String) throws {
    let places = try PlainEnglish.all.flatMap { try $0.places(in: "first\n\(text)\nlast", of: "a.md") }
    #expect(places == ["a.md:2: \(text)"])
  }

  @Test(arguments: ["There is no store", "a task is not a list", "renewal", "this", "the backup it takes", "whatever"])
  func plainPhraseIsLeftAlone(text: String) throws {
    #expect(try PlainEnglish.all.flatMap { try $0.places(in: text, of: "a.md") }.isEmpty)
  }
}
