extension TaskStore {
  /// The changes from now on, by any process, in the order of the commits.
  ///
  /// ```swift
  /// for try await changes in try store.changes() {
  ///   refresh(changes.tasks.updated)
  /// }
  /// ```
  ///
  /// No change is lost. A slow consumer receives several commits merged into one set.
  /// Seen within about 50 ms. Ends when the Swift task is cancelled or the store is closed.
  ///
  /// - Throws: `storeClosed`, and as `read`.
  public func changes() throws -> StoreObservation<ChangeSet> {
    let start = try read { try $0.position }
    return StoreObservation(store: self) {
      var last = start
      return { transaction in
        let position = try transaction.position
        guard position != last else { return nil }
        let changes = try transaction.changes(since: last)
        last = position
        return changes
      }
    }
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
  /// several as one for a slow reader. Ends when the Swift task is cancelled or the store is closed.
  public func observe(_ view: TaskView) -> StoreObservation<ViewUpdate> {
    StoreObservation(store: self) { [self] in
      var observed: ObservedView?
      return { transaction in
        let before = observed?.counts ?? ObservationCounts()
        defer { if let observed { self.note(observed.counts, since: before) } }
        guard let difference = try observed?.follow(transaction) else {
          let result = try transaction.view(view)
          observed = try ObservedView(result, in: transaction)
          return .snapshot(result)
        }
        return difference.isEmpty ? nil : .difference(difference)
      }
    }
  }

  /// The statistics, first the current ones, then again whenever they have changed.
  ///
  /// Looked at after each change, and every minute for what time alone changes. Ends when the Swift task is cancelled or
  /// the store is closed.
  ///
  /// - Parameter options: which statistics.
  /// - Returns: a sequence that never repeats itself.
  public func observeStatistics(
    _ options: StatisticsOptions = StatisticsOptions()
  ) -> StoreObservation<Statistics> {
    StoreObservation(store: self) {
      var last: Statistics?
      var lookedAt: (position: StorePosition, minute: Int64)?
      return { transaction in
        let look = (position: try transaction.position, minute: transaction.now.microsecondsSince1970 / 60_000_000)
        if let lookedAt, lookedAt == look { return nil }
        let statistics = try transaction.statistics(options)
        lookedAt = look
        if let last, last.saysTheSame(as: statistics) { return nil }
        last = statistics
        return statistics
      }
    }
  }
}
