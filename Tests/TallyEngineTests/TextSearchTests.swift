import Foundation
import TestSupport
import Testing

@testable import TallyEngine

/// A record with two texts.
private struct Note: StoredRecord, Codable, Hashable {
  var id: Int
  var day: Int
  var title: String
  var body = ""
}

extension Note {
  static let text = text("text", by: { Descending($0.day) }) { [$0.title, $0.body] }
  static let titles = text("titles") { [$0.title] }
  static let collection = Collection<Note>("notes") {
    text
    titles
  }
}

extension StoreQueries where Self: ~Copyable {
  /// The ids of the notes that a search finds.
  fileprivate func ids(
    _ index: TextIndex<Note>, _ query: String, completesLastWord: Bool = true, limit: Int = .max
  ) throws -> [Int] {
    try search(index, query, completesLastWord: completesLastWord, limit: limit).map(\.id)
  }
}

/// Searches in the texts of records.
struct TextSearchTests {
  private func store(_ texts: String...) throws -> TemporaryStore {
    let temporary = try TemporaryStore(Schema(Note.collection))
    try temporary.store.writeAndWait { writer in
      try writer.insert(contentsOf: texts.enumerated().map { Note(id: $0, day: $0, title: $1) })
    }
    return temporary
  }

  @Test(
    arguments: [
      ("run", [2, 1, 0]), ("RÜN", [2, 1, 0]), ("run ber", [1, 0]), ("berlin run", [1, 0]), ("ber", [3, 1, 0]),
      ("berlin", [1, 0]),
      ("ber run", []), ("bern x", []), ("xyz", []), ("run xyz", []), ("", []), (" -- !", []), ("run -", [2, 1, 0]),
      ("run run", [2, 1, 0]), ("本語", [5]), ("日語", []), ("日", [6, 5]), ("日本語", [5]), ("本日", [6]), ("語", [6, 5]),
      ("creme lodz", [4]), ("l'eau", [4]), ("eau 3.14", [4]), ("strasse", [7]),
      (String(repeating: "w", count: 70) + "a", [8]), (String(repeating: "w", count: 70) + "b", []),
      (String(repeating: "w", count: 60), [8]), (String(repeating: "w", count: 60) + " x", []),
    ] as [(String, [Int])])
  func wordsAreFoundWhateverTheirForm(_ query: String, _ expected: [Int]) throws {
    let temporary = try store(
      "Run to Berlin", "A run: Berlin, again", "runs and rün", "Bern", "Crème de l'eau — Łódź 3.14", "日本語", "本日の語",
      "Straße", String(repeating: "W", count: 70) + "A")
    try temporary.store.read { reader in
      let found = try reader.ids(Note.text, query)
      #expect(found == expected)
      let byID = try reader.ids(Note.titles, query)
      #expect(byID == expected.sorted())
      let first = try reader.ids(Note.text, query, limit: 1)
      #expect(first == Array(expected.prefix(1)))
    }
  }

  @Test func theLastWordIsWholeIfThatIsWanted() throws {
    let temporary = try store("run", "runs", "running")
    try temporary.store.read { reader in
      let completed = try reader.ids(Note.text, "run")
      #expect(completed == [2, 1, 0])
      let whole = try reader.ids(Note.text, "run", completesLastWord: false)
      #expect(whole == [0])
    }
  }

  @Test func tooManyWordsAreRefused() throws {
    let temporary = try store("a")
    let words = (0..<65).map { "w\($0)" }.joined(separator: " ")
    for query in [words, String(repeating: "a", count: 10_001)] {
      let error = #expect(throws: TallyError.self) { try temporary.store.read { try $0.search(Note.text, query) } }
      #expect(error?.code == .valueOutOfRange)
    }
  }

  @Test func aChangeOfATextChangesWhatIsFound() throws {
    let temporary = try store("old words", "other words")
    try temporary.store.writeAndWait { writer in
      try writer.update(Note.self, 0) { $0.title = "new words" }
      // A write finds what it has changed itself.
      #expect(try writer.ids(Note.text, "new") == [0])
      #expect(try writer.search(Note.text, "old").isEmpty)
    }
    try temporary.store.writeAndWait { try $0.undo() }
    #expect(try temporary.store.read { try $0.search(Note.text, "old") }.map(\.id) == [0])
    try temporary.store.writeAndWait { try $0.delete(Note.self, 0) }
    #expect(try temporary.store.read { try $0.search(Note.text, "words") }.map(\.id) == [1])
    #expect(try temporary.store.verify().isSound)
  }

  @Test func manyCompletionsAreFoundBesideAWord() throws {
    let temporary = try TemporaryStore(Schema(Note.collection))
    try temporary.store.writeAndWait { writer in
      try writer.insert(
        contentsOf: (0..<700).map { Note(id: $0, day: $0, title: $0 % 7 == 0 ? "seven" : "six", body: "word\($0)") })
    }
    try temporary.store.read { reader in
      let beside = try reader.ids(Note.text, "seven word")
      #expect(beside == (0..<700).reversed().filter { $0 % 7 == 0 })
      let newest = try reader.ids(Note.text, "word", limit: 3)
      #expect(newest == [699, 698, 697])
      let found = try reader.search(Note.text, "seven word1")
      #expect(!found.isEmpty && found.allSatisfy { $0.body.hasPrefix("word1") })
    }
  }

  @Test func anObserverSeesWhatItsSearchFinds() async throws {
    let temporary = try store("run in Berlin")
    var results = temporary.store.observe(Note.text, "run ber", limit: 10).makeAsyncIterator()
    #expect(try await results.next()?.map(\.id) == [0])
    try await temporary.store.write { try $0.save(Note(id: 7, day: 7, title: "swim")) }
    try await temporary.store.write { try $0.save(Note(id: 8, day: 8, title: "Bern", body: "a run")) }
    #expect(try await results.next()?.map(\.id) == [8, 0])
    try await temporary.store.write { _ = try $0.delete(Note.self, 0) }
    #expect(try await results.next()?.map(\.id) == [8])
  }
}

/// Random texts and queries against a model that knows the words of each text from the start.
struct RandomTextTests {
  /// Words as they are written, with what they are when folded, and whether they are of a script without spaces.
  private static let vocabulary: [(written: String, folded: String, isUnspaced: Bool)] = [
    ("run", "run", false), ("Run", "run", false), ("RUNS", "runs", false), ("runner", "runner", false),
    ("Rúnä", "runa", false), ("café", "cafe", false), ("Ｃａｆｅ", "cafe", false), ("cafés", "cafes", false),
    ("Straße", "strasse", false), ("STRASSE", "strasse", false), ("Łódź", "lodz", false), ("2026", "2026", false),
    ("бег", "бег", false), ("БЕГУН", "бегун", false), ("日本", "日本", true), ("日本語", "日本語", true),
    ("本語日", "本語日", true), ("語", "語", true),
    (String(repeating: "x", count: 64), String(repeating: "x", count: 64), false),
    (String(repeating: "x", count: 63) + "y", String(repeating: "x", count: 63) + "y", false),
  ]
  private static let separators = [" ", ", ", "\n", " — ", "/", "'", ".  "]

  private struct Model {
    var note: Note
    var words: [(folded: String, isUnspaced: Bool)]

    func has(_ word: (folded: String, isUnspaced: Bool), isLast: Bool) -> Bool {
      words.contains { own in
        guard own.isUnspaced == word.isUnspaced else { return false }
        if own.isUnspaced { return own.folded.contains(word.folded) }
        return isLast ? own.folded.hasPrefix(word.folded) : own.folded == word.folded
      }
    }
  }

  private static func random(_ id: Int, using generator: inout some RandomNumberGenerator) -> Model {
    var words: [(folded: String, isUnspaced: Bool)] = []
    func text(_ generator: inout some RandomNumberGenerator) -> String {
      var text = ""
      for _ in 0..<Int.random(in: 0...4, using: &generator) {
        guard let word = vocabulary.randomElement(using: &generator) else { continue }
        text += word.written + (separators.randomElement(using: &generator) ?? " ")
        words.append((word.folded, word.isUnspaced))
      }
      return text
    }
    let (title, body) = (text(&generator), text(&generator))
    return Model(
      note: Note(id: id, day: .random(in: 0...30, using: &generator), title: title, body: body), words: words)
  }

  @Test func everySearchIsThatOfAPlainModel() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "everySearchIsThatOfAPlainModel"))
    let temporary = try TemporaryStore(Schema(Note.collection))
    let count = TestSize.of("TALLY_ENGINE_NOTES", quick: 150, long: 3_000)
    var model: [Int: Model] = [:]
    for step in 0..<(count / 5) {
      var written: [Model] = []
      for _ in 0..<8 { written.append(Self.random(.random(in: 0..<count, using: &generator), using: &generator)) }
      let removed = Int.random(in: 0..<count, using: &generator)
      try temporary.store.writeAndWait { writer in
        for each in written { try writer.save(each.note) }
        try writer.delete(Note.self, removed)
      }
      for each in written { model[each.note.id] = each }
      model[removed] = nil
      if step % 10 == 7 { try temporary.reopen() }
      try temporary.store.read { try Self.compare($0, model, &generator) }
    }
    #expect(try temporary.store.verify().isSound)
    // A program without the indexes makes them stale, and who reads only computes them.
    try temporary.reopen(Schema(Collection<Note>("notes")))
    let last = Self.random(count, using: &generator)
    try temporary.store.writeAndWait { _ = try $0.save(last.note) }
    model[count] = last
    try temporary.store.close()
    var configuration = StoreConfiguration()
    configuration.isReadOnly = true
    let reading = try Store(at: temporary.directory, schema: Schema(Note.collection), configuration: configuration)
    for _ in 0..<5 { try reading.read { try Self.compare($0, model, &generator) } }
    try reading.close()
    try temporary.reopen()
    try temporary.store.read { try Self.compare($0, model, &generator) }
    #expect(try temporary.store.verify().isSound)
  }

  private static func compare(
    _ queries: borrowing some StoreQueries & ~Copyable, _ model: [Int: Model],
    _ generator: inout some RandomNumberGenerator
  ) throws {
    for _ in 0..<8 {
      var words: [(folded: String, isUnspaced: Bool)] = []
      var text = ""
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        guard let word = vocabulary.randomElement(using: &generator) else { continue }
        text += word.written + " "
        words.append((word.folded, word.isUnspaced))
      }
      if let last = words.popLast() {
        // The beginning of the last word is enough.
        let length = Int.random(in: 1...last.folded.count, using: &generator)
        words.append((String(last.folded.prefix(length)), last.isUnspaced))
        text = words.map(\.folded).joined(separator: " ")
      }
      let found = model.values.filter { each in
        words.indices.allSatisfy { each.has(words[$0], isLast: $0 == words.count - 1) }
      }
      let expected = found.map(\.note).sorted { ($1.day, $0.id) < ($0.day, $1.id) }
      #expect(try queries.search(Note.text, text) == expected, "\(text)")
      var (pages, position): ([Note], Position?) = ([], nil)
      repeat {
        let page = try queries.page(in: Note.text, matching: text, after: position, limit: 3)
        #expect(page.records.count == 3 || page.next == nil)
        pages += page.records
        position = page.next
      } while position != nil
      #expect(pages == expected, "\(text)")
    }
  }
}
