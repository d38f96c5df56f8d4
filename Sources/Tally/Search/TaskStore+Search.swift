import LMDB

extension TaskStore {
  /// The tasks that have all words of a query, best first, in a snapshot of their own.
  ///
  /// As ``StoreTransaction/search(_:limit:)``.
  ///
  /// - Parameters:
  ///   - query: The words to look for.
  ///   - limit: The most matches to return; `nil` for all.
  /// - Returns: The matches, best first.
  /// - Throws: what ``read(_:)`` throws.
  public func search(_ query: SearchQuery, limit: Int? = nil) throws -> [SearchMatch] {
    try read { try $0.search(query, limit: limit) }
  }

  /// Brings the search index up to date, in several commits of some hundredths of a second each.
  ///
  /// Searches find everything without it. Writes keep the index up to date by themselves; only after many tasks have
  /// been written at once, as by an import, searches are slower for some hundred commits, or until this is called.
  ///
  /// - Throws: `permissionDenied` for a store opened for reading only; `cancelled`, `diskFull`, and what writing throws.
  /// - Complexity: some microseconds for each task that has changed since.
  @available(*, noasync)
  public func updateSearchIndex() throws {
    var isBehind = true
    while isBehind {
      try TallyError.checkCancellation()
      isBehind = try connection.use { store in
        try store.checkWritable()
        return try configuration.retrying {
          try store.environment.write { base in
            let indexer = SearchIndexer(tables: store.tables)
            return try indexer.advance(atMost: SearchIndexer.taskLimit, byteCount: SearchIndexer.byteLimit, in: &base)
          }
        }
      }
    }
  }
}
