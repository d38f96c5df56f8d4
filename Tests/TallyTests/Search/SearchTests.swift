import Foundation
import SystemPackage
import TallyTestSupport
import TestSupport
import Testing

@testable import Tally

@Suite struct SearchTests {
  @Test func aTransactionFindsWhatItHasJustWritten() throws {
    try withStore { store in
      try store.writeAndWait { transaction in
        let task = try transaction.add("File the tax form")
        #expect(try transaction.titles("form tax") == ["File the tax form"])
        _ = try transaction.update(task.id) { $0.title = "Water the plants" }
        #expect(try transaction.titles("form") == [])
        #expect(try transaction.titles("plant") == ["Water the plants"])
        try transaction.delete(task.id)
        #expect(try transaction.titles("plant") == [])
      }
    }
  }

  @Test func matchesComeInOrderAndAreMarked() throws {
    let clock = TestClock.noon
    try withStore(.testing(clock: clock)) { store in
      for title in ["old form", "form by hand", "forms", "a note", "a tag", "done form"] {
        clock.now = Timestamp(clamping: clock.now.microsecondsSince1970 + 1_000_000)
        try store.writeAndWait { transaction in
          let task = try transaction.add(title)
          _ = try transaction.update(task.id) { task in
            if title == "a note" { task.notes = "The ＦＯＲＭ" }
            if title == "a tag" { task.tags = ["home", "Form"] }
          }
          if title == "done form" { _ = try transaction.complete(task.id) }
        }
      }
      let matches = try store.search(SearchQuery("form"))
      #expect(matches.map(\.task.title) == ["form by hand", "old form", "done form", "forms", "a tag", "a note"])
      #expect(matches.map { $0.titleRanges.map(\.self).count } == [1, 1, 1, 1, 0, 0])
      let note = try #require(matches.last)
      #expect(note.notesRanges.map { String(note.task.notes?[$0] ?? "") } == ["ＦＯＲＭ"])
      let tagged = matches[4]
      #expect(zip(tagged.task.tags, tagged.tagRanges).map { tag, ranges in ranges.map { tag[$0] } } == [["Form"], []])
      #expect(try store.search(SearchQuery("form"), limit: 2).map(\.task.title) == ["form by hand", "old form"])
      #expect(try store.search(SearchQuery("form"), limit: 0).isEmpty)
      #expect(try store.search(SearchQuery("orm", .substrings)).count == 6)
      for text in ["", " ", "!?", "\"\""] {
        #expect(SearchQuery(text).isEmpty)
        expect(.emptySearch) { _ = try store.search(SearchQuery(text)) }
      }
    }
  }

  /// The reference reads every task; the index is behind, half done, and up to date.
  @Test func theIndexFindsWhatReadingEveryTaskFinds() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "search"))
    try withStore { store in
      var ids: [UUID] = []
      for round in 0..<TestSize.pick(quick: 3, long: 6) {
        try store.writeAndWait { try $0.change(&ids, using: &generator) }
        try Self.compareWithReference(store, using: &generator)
        try Self.advance(store, atMost: [30, 200, 1_000][round % 3])
        try Self.compareWithReference(store, using: &generator)
        try checkInvariants(of: store)
      }
      try store.updateSearchIndex()
      #expect(try store.read { try SearchIndex($0.tables, in: $0.base).state.through.sequence == $0.sequence })
      try Self.compareWithReference(store, using: &generator)
    }
  }

  private static func compareWithReference(_ store: TaskStore, using generator: inout SeededGenerator) throws {
    let tasks = try store.read { try $0.view(.all).tasks }
    for _ in 0..<40 {
      let query = SearchQuery(RandomText.query(using: &generator), generator.oneIn(6) ? .substrings : .words)
      if query.isEmpty { continue }
      let expected = Self.found(query, in: tasks)
      #expect(try store.search(query).map(\.task) == expected, "\(query.text.debugDescription)")
      #expect(try store.search(query, limit: 3).map(\.task) == Array(expected.prefix(3)))
    }
  }

  /// What reading every task finds, best first.
  static func found(_ query: SearchQuery, in tasks: [TaskItem]) -> [TaskItem] {
    var matcher = SearchMatcher(query)
    var found: [(rank: SearchRank, task: TaskItem)] = []
    for task in tasks {
      matcher.begin()
      matcher.read(task.title, as: .title)
      if let notes = task.notes { matcher.read(notes, as: .notes) }
      for tag in task.tags { matcher.read(tag, as: .tags) }
      guard let quality = matcher.quality else { continue }
      let rank = SearchRank(
        quality: quality, isCompleted: task.isClosed, createdAt: task.createdAt, id: task.id)
      found.append((rank, task))
    }
    return found.sorted { $0.rank < $1.rank }.map(\.task)
  }

  /// One step of the indexer.
  static func advance(_ store: TaskStore, atMost limit: Int) throws {
    try store.writeAndWait { transaction in
      _ = try SearchIndexer(tables: transaction.tables).advance(atMost: limit, byteCount: .max, in: &transaction.base)
    }
  }

  /// The bug: the steps counted tasks, so that one write indexed 200 MB of notes at once.
  @Test func aStepEndsAfterSomeBytesHoweverFewTheTasksAre() throws {
    try withStore { store in
      let notes = String(repeating: "alpha beta ", count: 2_000)
      for number in 0..<12 {
        try store.writeAndWait { _ = try $0.add("Task \(number)", to: .inbox) { $0.notes = notes } }
      }
      func segmentSizes() throws -> [Int] {
        try store.read { try SearchIndex($0.tables, in: $0.base).segments.map(\.taskCount) }
      }
      for step in 1...2 {
        try store.writeAndWait { transaction in
          _ = try SearchIndexer(tables: transaction.tables).advance(
            atMost: SearchIndexer.taskLimitOfWrite, byteCount: 100_000, in: &transaction.base)
        }
        // 22,000 bytes each: the fifth goes beyond the limit.
        #expect(try segmentSizes() == Array(repeating: 5, count: step))
      }
      #expect(try store.search(SearchQuery("beta alph")).count == 12)
      try store.updateSearchIndex()
      #expect(try segmentSizes().reduce(0, +) == 12)
      #expect(try store.search(SearchQuery("beta alph")).count == 12)
    }
  }

  /// Segments of long texts are not joined into one, which would take as long as making all of them.
  @Test(.enabled(if: TestSize.isLong, "every byte takes its time in a debug build: half a minute"))
  func onlyAsManyBytesAreIndexedAgainAtOnce() throws {
    try withStore { store in
      let notes = String(repeating: "gamma ", count: 180_000)
      for number in 0..<20 {
        try store.writeAndWait { _ = try $0.add("Task \(number)", to: .inbox) { $0.notes = notes } }
      }
      try store.updateSearchIndex()
      let before = try store.read { try SearchIndex($0.tables, in: $0.base).segments.count }
      for _ in 0..<20 {
        try store.writeAndWait { transaction in
          _ = try transaction.add("another", to: .inbox)
          _ = try SearchIndexer(tables: transaction.tables).advance(atMost: 1, byteCount: 1, in: &transaction.base)
        }
      }
      let sizes = try store.read { try SearchIndex($0.tables, in: $0.base).segments.map(\.taskCount) }
      #expect(sizes.filter { $0 > 16 }.count <= 1 && sizes.count > before, "\(sizes)")
      #expect(try store.search(SearchQuery("gamma")).count == 20)
    }
  }

  /// The bug: a search of 12,000 different words took 21 s, and every one of them was looked for in each text.
  @Test(arguments: [SearchQuery.Matching.words, .substrings])
  func aSearchForTooManyWordsIsRefused(matching: SearchQuery.Matching) throws {
    try withStore { store in
      try store.writeAndWait { _ = try $0.add("a \((0..<300).map { "w\($0)" }.joined(separator: " "))", to: .inbox) }
      func query(_ count: Int, _ word: (Int) -> String) -> SearchQuery {
        SearchQuery((0..<count).map(word).joined(separator: " "), matching)
      }
      #expect(try store.search(query(256) { "w\($0)" }).count == 1)
      // Repeating a word adds nothing to look for, except that the last one is a prefix.
      #expect(try store.search(query(12_000) { _ in "a" }).count == 1)
      let tooLong = [
        query(257) { "w\($0)" }, query(12_000) { "w\($0)" },
        SearchQuery("\"" + String(repeating: "w1 ", count: 300) + "\"", .words),
        SearchQuery(String(repeating: "漢字", count: 2_000), matching),
        SearchQuery(String(repeating: "x", count: 10_001), matching),
      ]
      for query in tooLong { expect(.valueOutOfRange) { _ = try store.search(query) } }
    }
  }

  @Test func fewTasksWithSeveralWordsOfOneBeginningComeInOrder() throws {
    try withStore { store in
      try store.writeAndWait { transaction in
        for number in 0..<400 {
          let word = number % 200 == 10 ? "zebu" : number % 200 == 60 ? "zebra" : "horse"
          _ = try transaction.add("Task \(number) \(word)", to: .inbox)
        }
      }
      try store.updateSearchIndex()
      let tasks = try store.read { try $0.view(.all).tasks }
      // Four of four hundred are sorted; the horses are found by looking at all.
      for words in ["zeb", "task zeb", "zebra", "ho"] {
        let query = SearchQuery(words)
        let expected = Self.found(query, in: tasks)
        #expect(try store.search(query).map(\.task) == expected, "\(words)")
      }
    }
  }

  /// The bug: the title's prefix hid that the whole phrase is in the notes, so that a worse match came first.
  @Test func aPhraseInTheNotesIsNotRankedByItsWordsInTheTitle() throws {
    try withStore { store in
      try store.writeAndWait { transaction in
        _ = try transaction.add("tax") { $0.notes = "don't" }
        for _ in 0..<3 { _ = try transaction.add("plan") { $0.notes = "don't" } }
        _ = try transaction.add("taxes") { $0.notes = "don today" }
      }
      let before = try store.search(SearchQuery("don't")).map(\.task.title)
      try store.updateSearchIndex()
      #expect(try store.search(SearchQuery("don't")).map(\.task.title) == before)
      #expect(before == ["tax", "plan", "plan", "plan", "taxes"])
    }
  }

  /// Every example is one task; each must be found by its own query among all of them, before and after indexing.
  @Test func everyScriptIsFoundInTheIndex() throws {
    try withStore { store in
      let examples = SearchMatcherTests.examples
      try store.writeAndWait { transaction in for example in examples { _ = try transaction.add(example.text) } }
      for isIndexed in [false, true] {
        if isIndexed { try store.updateSearchIndex() }
        for example in examples {
          let found = try store.search(SearchQuery(example.query)).contains { $0.task.title == example.text }
          #expect(found == (example.marked != nil), "\(example.query) in \(example.text), indexed: \(isIndexed)")
        }
      }
    }
  }

  /// Tasks from elsewhere, one JSON object per line, in the file that `TALLY_SEARCH_HISTORY` names.
  @Test(.enabled(if: SearchTests.historyPath != nil)) func aHistoryIsFoundAsReadingItFindsIt() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "history"))
    try withStore { store in
      _ = try store.importDocument(from: FilePath(Self.historyPath ?? ""), format: .ndjson)
      try store.updateSearchIndex()
      let tasks = try store.read { try $0.view(.all).tasks }
      for _ in 0..<60 {
        let words = (0...1).compactMap { _ in tasks.randomElement(using: &generator)?.title.split(separator: " ").last }
        let query = SearchQuery(words.joined(separator: " "))
        let first = SearchQuery(String(words.first?.prefix(3) ?? "a"))
        if query.isEmpty || first.isEmpty { continue }
        #expect(try store.search(query).map(\.task) == Self.found(query, in: tasks), "\(query.text.debugDescription)")
        #expect(try store.search(first, limit: 20).map(\.task) == Array(Self.found(first, in: tasks).prefix(20)))
      }
    }
  }

  private static let historyPath = ProcessInfo.processInfo.environment["TALLY_SEARCH_HISTORY"]

  @Test func writesIndexTheirTailNowAndThen() throws {
    try withStore { store in
      // The thread that merges does it, now or with one of the next merges.
      var (index, count) = (try store.read { try SearchIndex($0.tables, in: $0.base) }, 0)
      while index.segments.isEmpty, count < 40 * SearchIndexer.tailLimit {
        for number in count..<count + SearchIndexer.tailLimit {
          try store.writeAndWait { _ = try $0.add("task number\(number)") }
        }
        count += SearchIndexer.tailLimit
        index = try store.read { try SearchIndex($0.tables, in: $0.base) }
      }
      #expect(!index.segments.isEmpty)
      #expect(index.taskCount >= SearchIndexer.tailLimit)
      #expect(try store.search(SearchQuery("number500 ")).count == 1)
    }
  }

  @Test func segmentsAreJoinedAndThoseOfChangedTasksRenewed() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "segments"))
    try withStore { store in
      var ids: [UUID] = []
      for _ in 0..<40 {
        try store.writeAndWait { try $0.change(&ids, using: &generator, count: 20) }
        try Self.advance(store, atMost: 1_000)
        #expect(try store.read { try SearchIndex($0.tables, in: $0.base).segments.count } <= 16)
      }
      try store.writeAndWait { for id in ids { try $0.delete(id) } }
      for _ in 0..<20 { try Self.advance(store, atMost: 1_000) }
      #expect(try store.search(SearchQuery("tax")).isEmpty)
    }
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// The titles that a search finds.
  func titles(_ query: String) throws -> [String] {
    try search(SearchQuery(query)).map(\.task.title)
  }
}

extension StoreWriteTransaction {
  /// Creates, changes, completes and deletes tasks at random.
  mutating func change(_ ids: inout [UUID], using generator: inout SeededGenerator, count: Int = 120) throws {
    for _ in 0..<count {
      let id = ids.randomElement(using: &generator)
      switch (Int.random(in: 0..<10, using: &generator), id) {
      case (0, let id?):
        try delete(id)
        ids.removeAll { $0 == id }
      case (1, let id?): if try task(id)?.isCompleted == false { _ = try complete(id) }
      case (2...3, let id?):
        let title = RandomText.title(using: &generator)
        _ = try update(id) { $0.title = title }
      default:
        let task = try add(RandomText.title(using: &generator))
        ids.append(task.id)
        let notes = RandomText.title(using: &generator)
        let tag = ["tax", "Form", "牛乳"].randomElement(using: &generator)
        let (hasNotes, hasTag) = (generator.oneIn(3), generator.oneIn(4))
        if hasNotes || hasTag {
          _ = try update(task.id) { task in
            if hasNotes { task.notes = notes }
            if hasTag { task.tags = TagSet([tag ?? "tax"]) }
          }
        }
      }
    }
  }
}
