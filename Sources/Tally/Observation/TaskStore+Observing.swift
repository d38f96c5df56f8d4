extension TaskStore {
  /// How long an observation sleeps between two looks at the store.
  ///
  /// A look is a snapshot and one lookup, about a microsecond. Watching the file or waking observers from `write` was
  /// not taken: neither tells of other processes' commits as surely, and a second way would only be quicker.
  static let observationInterval = Duration.milliseconds(50)

  /// The changes from now on, by any process, in the order of the commits.
  ///
  /// ```swift
  /// for try await changes in try store.changes() {
  ///   refresh(changes.tasks.updated)
  /// }
  /// ```
  ///
  /// None is lost: whoever takes his time gets the changes of several commits as one set, whose size the history bounds.
  /// Seen within about 50 ms. Ends when the Swift task is cancelled or the store is closed.
  ///
  /// - Throws: `storeClosed`, and as `read`.
  public func changes() throws -> StoreChanges {
    StoreChanges(store: self, sequence: try read { try $0.sequence })
  }

  /// A view, and how it changes: by any process, and by time alone, as at midnight or when a task becomes overdue.
  ///
  /// ```swift
  /// for try await update in store.observe(.today) {
  ///   switch update {
  ///   case .snapshot(let view): show(view)
  ///   case .difference(let difference): apply(difference)
  ///   }
  /// }
  /// ```
  ///
  /// The view is read once; then only the tasks that have changed are looked up. Changes are seen within about 50 ms,
  /// several as one where the reader takes his time. Ends when the Swift task is cancelled or the store is closed.
  public func observe(_ view: TaskView) -> ViewUpdates {
    ViewUpdates(store: self, view: view)
  }

  /// The statistics, first as they are and then whenever they have become others.
  ///
  /// Looked at after each change, and every minute for what time alone changes. Ends when the Swift task is cancelled or
  /// the store is closed.
  ///
  /// - Parameter options: what is asked for.
  /// - Returns: a sequence that never repeats itself.
  public func observeStatistics(_ options: StatisticsOptions = StatisticsOptions()) -> StatisticsUpdates {
    StatisticsUpdates(store: self, options: options)
  }
}

/// The changes of a store, one set after the other.
public struct StoreChanges: AsyncSequence, Sendable {
  let store: TaskStore
  let sequence: UInt64

  /// Begins behind the commit at which the sequence was made.
  public func makeAsyncIterator() -> Iterator {
    Iterator(store: store, sequence: sequence)
  }

  /// Waits for changes.
  public struct Iterator: AsyncIteratorProtocol {
    let store: TaskStore
    var sequence: UInt64

    /// The next changes; `nil` after cancellation or the closing of the store.
    public mutating func next() async throws -> ChangeSet? {
      let last = sequence
      let changes = try await store.poll { transaction in
        let changes = try transaction.changes(since: last)
        return changes.sequence == last ? nil : changes
      }
      if let changes { sequence = changes.sequence }
      return changes
    }
  }
}

/// A view and its differences, one after the other.
public struct ViewUpdates: AsyncSequence, Sendable {
  let store: TaskStore
  let view: TaskView

  /// Begins with the view as it is then.
  public func makeAsyncIterator() -> Iterator {
    Iterator(store: store, view: view)
  }

  /// Waits for changes of the view.
  public struct Iterator: AsyncIteratorProtocol {
    let store: TaskStore
    let view: TaskView
    var observed: ObservedView?

    /// The snapshot, then each difference; `nil` after cancellation or the closing of the store.
    public mutating func next() async throws -> ViewUpdate? {
      guard var observed else { return try begin() }
      let difference = try await store.poll { transaction in
        let before = observed.counts
        let difference = try observed.follow(transaction)
        store.note(observed.counts - before)
        return difference.isEmpty ? nil : difference
      }
      self.observed = observed
      return difference.map { .difference($0) }
    }

    private mutating func begin() throws -> ViewUpdate? {
      guard !Task.isCancelled else { return nil }
      let (observed, result) = try store.read { transaction in
        let result = try transaction.view(view)
        return (try ObservedView(result, in: transaction), result)
      }
      store.note(observed.counts)
      self.observed = observed
      return .snapshot(result)
    }
  }
}

/// Statistics, one after the other.
public struct StatisticsUpdates: AsyncSequence, Sendable {
  let store: TaskStore
  let options: StatisticsOptions

  /// Begins with the statistics as they are then.
  public func makeAsyncIterator() -> Iterator {
    Iterator(store: store, options: options)
  }

  /// Waits for other statistics.
  public struct Iterator: AsyncIteratorProtocol {
    let store: TaskStore
    let options: StatisticsOptions
    private var last: Statistics?
    private var lookedAt: (sequence: UInt64, minute: Int64)?

    init(store: TaskStore, options: StatisticsOptions) {
      self.store = store
      self.options = options
    }

    /// The next statistics; `nil` after cancellation or the closing of the store.
    public mutating func next() async throws -> Statistics? {
      var (last, lookedAt) = (last, lookedAt)
      let options = options
      let statistics = try await store.poll { transaction in
        let look = (sequence: try transaction.sequence, minute: transaction.now.microsecondsSince1970 / 60_000_000)
        if let lookedAt, lookedAt == look { return nil as Statistics? }
        lookedAt = look
        let statistics = try transaction.statistics(options)
        guard last.map({ !$0.saysTheSame(as: statistics) }) ?? true else { return nil }
        last = statistics
        return statistics
      }
      (self.last, self.lookedAt) = (last, lookedAt)
      return statistics
    }
  }
}

extension TaskStore {
  /// Looks at one snapshot after the other until the body finds something; `nil` after cancellation or closing.
  fileprivate func poll<R>(_ body: (borrowing StoreReadTransaction) throws -> R?) async throws -> R? {
    while !Task.isCancelled {
      do {
        if let found = try read(body) { return found }
      } catch let error as TallyError where error.code == .storeClosed {
        return nil
      }
      // Woken by cancellation it ends the loop above.
      try? await Task.sleep(for: Self.observationInterval)
    }
    return nil
  }
}
