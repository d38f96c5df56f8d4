import LMDB

extension RecordQueries where Self: ~Copyable {
  /// The records that have all words of a query in their texts.
  ///
  /// ```swift
  /// let found = try store.read { try $0.search(Workout.words, "run ber", limit: 20) }
  /// ```
  ///
  /// The words may be in any order and in different texts. The last one is completed: `ber` finds Berlin. What is not a
  /// letter or a digit separates words. A query without words finds nothing. The results are in the order that the index
  /// declares.
  ///
  /// - Parameters:
  ///   - index: an index of texts that the collection lists.
  ///   - query: the words.
  ///   - completesLastWord: whether the last word may be the beginning of one.
  ///   - limit: the most records to return.
  /// - Returns: the records.
  /// - Throws: `invalidIndex` if the collection does not list the index; `valueOutOfRange` for more than 64 words or
  ///   10,000 bytes; what decoding and the storage throw.
  /// - Complexity: a lookup for each record that has the rarest of the words, one for each word that the last one
  ///   begins, and a record for each result.
  public func search<Record>(
    _ index: TextIndex<Record>, _ query: String, completesLastWord: Bool = true, limit: Int = .max
  ) throws -> [Record] {
    try snapshot.search(index, TextQuery(query, completesLastWord), after: nil, limit, looksAhead: false).records
  }

  /// A page of the records that have all words of a query in their texts, from a position on.
  ///
  /// - Returns: the records, as ``search(_:_:completesLastWord:limit:)`` returns them, and the position of the next page.
  public func page<Record>(
    in index: TextIndex<Record>, matching query: String, completesLastWord: Bool = true,
    after position: Position? = nil,
    limit: Int
  ) throws -> Page<Record> {
    try snapshot.search(index, TextQuery(query, completesLastWord), after: position, limit, looksAhead: true)
  }
}

extension Store {
  /// The records that a search finds, whenever they change; see ``RecordQueries/search(_:_:completesLastWord:limit:)``.
  public func observe<Record>(
    _ index: TextIndex<Record>, _ query: String, completesLastWord: Bool = true, limit: Int = .max
  ) -> StoreObservation<[Record]> {
    values(
      { try $0.search(index, query, completesLastWord: completesLastWord, limit: limit) },
      removingDuplicates: { _, _ in false })
  }
}

/// The words of a query.
///
/// They define what a match is; an index only proposes candidates where its words are not enough.
struct TextQuery {
  /// A word that must be found.
  struct Word: Hashable {
    let bytes: [UInt8]
    /// Whether it is in a script without spaces, so that it is found inside a longer text.
    let isUnspaced: Bool
    /// Whether it may be the beginning of a word.
    let isPrefix: Bool
  }

  private(set) var words: [Word] = []
  private var folder = TextFolder()

  static var mostWords: Int { 64 }
  static var mostBytes: Int { 10_000 }

  init(_ text: String, _ completesLastWord: Bool) throws(TallyError) {
    var folded: [UInt8] = []
    if text.utf8.count <= Self.mostBytes { folder.fold(text, into: &folded) }
    let found = folded.words
    for (number, word) in found.enumerated() {
      let isPrefix = completesLastWord && number == found.count - 1 && !word.isUnspaced
      let word = Word(bytes: Array(folded[word.range]), isUnspaced: word.isUnspaced, isPrefix: isPrefix)
      if !words.contains(word) { words.append(word) }
    }
    guard words.count <= Self.mostWords, text.utf8.count <= Self.mostBytes else {
      throw TallyError(
        .valueOutOfRange,
        "The search has more than \(Self.mostWords) different words, or is longer than \(Self.mostBytes) bytes",
        remedy: "Look for fewer words; a part of a sentence is enough to find it")
    }
  }

  /// Whether some texts have all words.
  mutating func matches(_ texts: [String]) -> Bool {
    var missing = words
    for text in texts where !missing.isEmpty {
      var folded: [UInt8] = []
      folder.fold(text, into: &folded)
      let found = folded.words
      missing.removeAll { wanted in found.contains { wanted.isFound(in: folded[$0.range], isUnspaced: $0.isUnspaced) } }
    }
    return missing.isEmpty
  }

  /// The terms for which an index is asked, whole ones first, and whether the proposed records need no further look.
  var lookups: (terms: [(bytes: [UInt8], isPrefix: Bool)], isExact: Bool) {
    var terms: [(bytes: [UInt8], isPrefix: Bool)] = []
    var isExact = true
    for word in words {
      let own = IndexTerm.terms(of: word.bytes, isUnspaced: word.isUnspaced)
      // The pairs of a longer text may be in a record without following each other, and a cut word may be another one.
      isExact = isExact && own.count == 1 && (word.isUnspaced || word.bytes.count <= Self.mostUncutBytes)
      let isPrefix = word.isUnspaced ? word.bytes.isSingleScalar : word.isPrefix
      for term in own where !terms.contains(where: { $0 == (term, isPrefix) }) { terms.append((term, isPrefix)) }
    }
    return (terms.filter { !$0.isPrefix } + terms.filter(\.isPrefix), isExact)
  }

  /// The most bytes of a word that no longer one is cut to: a cut is before a scalar, which has up to four.
  private static var mostUncutBytes: Int { IndexTerm.maximumByteCount - 4 }
}

extension TextQuery.Word {
  fileprivate func isFound(in word: ArraySlice<UInt8>, isUnspaced: Bool) -> Bool {
    guard self.isUnspaced == isUnspaced else { return false }
    guard isUnspaced else { return isPrefix ? word.starts(with: bytes) : word.elementsEqual(bytes) }
    guard word.count >= bytes.count else { return false }
    return (word.startIndex...(word.endIndex - bytes.count)).contains { word[$0...].starts(with: bytes) }
  }
}

/// The entries of one term of a query, in the order of what follows the word in a key.
///
/// What follows is the same for all words of a record.
private struct TermEntries {
  /// Each word that the term stands for, as it begins a key, and the rest of its next entry: the first one is last.
  private var heads: [(rest: [UInt8], word: [UInt8])] = []

  /// The key of an index at or after some bytes.
  typealias Seek = ([UInt8]) throws -> [UInt8]?

  /// Finds the words of a term; `nil` if it stands for more than `limit`.
  init?(_ term: (bytes: [UInt8], isPrefix: Bool), limit: Int, _ seek: Seek) throws {
    var start = term.isPrefix ? term.bytes : term.bytes + [0, 0]
    let prefix = start
    while let key = try seek(start), key.starts(with: prefix) {
      guard heads.count < limit else { return nil }
      let end = (key.firstIndex(of: 0) ?? key.endIndex - 2) + 2
      let word = Array(key[..<end])
      heads.append((Array(key[end...]), word))
      start = word.successor
    }
    heads.sort { $1.rest.lexicographicallyPrecedes($0.rest) }
  }

  /// The word of the next entry.
  var word: [UInt8] { heads.last?.word ?? [] }

  /// Moves to the first entry at or after a target; `nil` if there is none.
  mutating func move(to target: [UInt8], _ seek: Seek) throws -> [UInt8]? {
    while let head = heads.last, head.rest.lexicographicallyPrecedes(target) {
      heads.removeLast()
      guard let key = try seek(head.word + target), key.starts(with: head.word) else { continue }
      insert((Array(key[head.word.count...]), head.word))
    }
    return heads.last?.rest
  }

  private mutating func insert(_ head: (rest: [UInt8], word: [UInt8])) {
    var (low, high) = (0, heads.count)
    while low < high {
      let middle = (low + high) / 2
      if head.rest.lexicographicallyPrecedes(heads[middle].rest) { low = middle + 1 } else { high = middle }
    }
    heads.insert(head, at: low)
  }
}

extension StoreSnapshot {
  /// The most words for which a prefix stands beside other words; beyond, the records with those are looked at.
  private static var mostCompletions: Int { 256 }

  /// The records that have the words of a query.
  func search<Record>(
    _ index: TextIndex<Record>, _ query: TextQuery, after position: Position?, _ limit: Int, looksAhead: Bool
  ) throws -> Page<Record> {
    let tables = try self.tables.tables(of: Record.self)
    guard let place = try place(of: index.declared, tables), limit > 0 else { return Page(records: [], next: nil) }
    // A member that is stale is computed from all records, once.
    let computed =
      try isReadable(place.number, version: index.declared.version)
      ? nil : tables.computedKeys(of: index.declared, input(of: tables), in: view)
    func seek(_ start: [UInt8]) throws -> [UInt8]? {
      if let computed { return computed.first(atOrAfter: start) }
      var found: [UInt8]?
      try place.table.raw.forEach(from: start, in: view) { key, _ in
        found = key.bytes(from: 0)
        return false
      }
      return found
    }
    var (query, lists) = (query, [TermEntries]())
    var (terms, isExact) = query.lookups
    guard let first = terms.first else { return Page(records: [], next: nil) }
    for term in terms {
      if let list = try TermEntries(term, limit: lists.isEmpty ? .max : Self.mostCompletions, seek) {
        lists.append(list)
      } else {
        isExact = false
      }
    }
    terms = []
    let input = try input(of: tables)
    var (records, ids, last, hasMore): ([Record], [[UInt8]], [UInt8]?, Bool) = ([], [], nil, false)
    try Self.forEachCommonRest(of: &lists, from: position.map { $0.key + [0] } ?? [], seek) { word, rest in
      let key = word + rest
      var start = 0
      // Unsafe by signature only: bytes have no padding.
      try unsafe index.declared.readKey(key.span.bytes, &start)
      let id = Array(key[start...])
      guard let record = try unsafe tables.record(RecordTables<Record>.id(id.span.bytes), key: id, input, in: view)
      else {
        throw TallyError.missingRecord(of: "the index '\(index.name)'")
      }
      guard isExact || query.matches(index.texts(record)) else { return true }
      guard records.count < limit else {
        hasMore = true
        return false
      }
      records.append(record)
      ids.append(id)
      last = rest
      return records.count < limit || looksAhead
    }
    // A record that a write adds to the results has a key of each term.
    let range = first.isPrefix ? first.bytes : first.bytes + [0, 0]
    regions?.add(
      range: KeyRange(lower: range, upper: range.successor), ofIndex: place.number, tables.handles?.number, showing: ids
    )
    return Page(records: records, next: hasMore ? last.map { Position(key: $0) } : nil)
  }

  /// Calls a closure with each rest of a key that all terms have, and a word before it, until it returns false.
  ///
  /// Each term skips to where the others are, so that the rarest one decides how many lookups there are.
  private static func forEachCommonRest(
    of lists: inout [TermEntries], from start: [UInt8], _ seek: TermEntries.Seek,
    _ body: (_ word: [UInt8], _ rest: [UInt8]) throws -> Bool
  ) throws {
    var (target, agreeing, number) = (start, 0, 0)
    while let rest = try lists[number].move(to: target, seek) {
      (target, agreeing) = (rest, rest == target ? agreeing + 1 : 1)
      if agreeing >= lists.count {
        guard try body(lists[number].word, rest) else { return }
        (target, agreeing) = (rest + [0], 0)
      }
      number = (number + 1) % lists.count
    }
  }
}

extension [[UInt8]] {
  /// The first of ascending keys at or after some bytes; `nil` if there is none.
  fileprivate func first(atOrAfter start: [UInt8]) -> [UInt8]? {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle].lexicographicallyPrecedes(start) { low = middle + 1 } else { high = middle }
    }
    return low < count ? self[low] : nil
  }
}
