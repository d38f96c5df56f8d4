import LMDB

// The search index follows from the records, and lags behind them. Tasks whose last change lies in a range of the log of
// changes (`byChange`) are a segment, which is written once and never changed: a task that changes leaves its segment by
// that, as its row moves to the end of the log. What the log has after the last segment, the tail, is read by every search.
// So a write has nothing to do for the index, and a search is exact all the same.

/// What there is of the search index in one snapshot.
struct SearchIndex {
  private(set) var state: SearchState
  /// In the order of the log.
  private(set) var segments: [SearchSegment]

  /// An index in which there is nothing.
  init() {
    state = SearchState()
    segments = []
  }

  /// Reads how far the index reaches; one of another version, or one that cannot be right, counts as empty.
  init<T: LMDBTransaction & ~Copyable>(_ tables: Tables, in transaction: borrowing T) throws {
    self.init()
    guard let bytes = try tables.search.bytes(forKey: SearchKey(.state), in: transaction),
      let state = SearchState(bytes)
    else { return }
    var segments: [SearchSegment] = []
    var isReadable = true
    try tables.search.forEach(withPrefix: Self.segmentPrefix, in: transaction) { key, value in
      guard key.byteCount == 9,
        let segment = try? SearchSegment(number: key.load(bigEndianAt: 5), decoding: value)
      else {
        isReadable = false
        return false
      }
      segments.append(segment)
      return true
    }
    segments.sort { $0.lower < $1.lower }
    let isInOrder = zip(segments, segments.dropFirst()).allSatisfy { $0.upper <= $1.lower }
    guard isReadable, isInOrder, segments.last.map({ $0.upper <= state.through }) ?? true,
      segments.allSatisfy({ (1..<state.nextSegment).contains($0.number) })
    else { return }
    self.state = state
    self.segments = segments
  }

  private static let segmentPrefix = SearchKey.prefix(of: 0) + [SearchKey.Kind.segment.rawValue]

  /// How many tasks the segments hold, those included that have changed since.
  var taskCount: Int { segments.reduce(0) { $0 + $1.taskCount } }
}

extension TaskFields {
  /// Calls `body` with each text of the task that is searched.
  func forEachText(_ body: (RawSpan, SearchedField) -> Void) throws(LMDBError) {
    body(titleBytes, .title)
    var cursor = cursor
    if try cursor.advance(to: TaskField.notes.tag) { body(cursor.value, .notes) }
    guard try cursor.advance(to: TaskField.tags.tag) else { return }
    for tag in try TagSet(stored: cursor.value) {
      var tag = tag
      tag.withUTF8 { unsafe body($0.span.bytes, .tags) }
    }
  }
}
