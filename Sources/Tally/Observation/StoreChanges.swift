import Foundation
import LMDB
public import TallyEngine

extension TaskStore {
  /// The changes by any process from now on, or from an earlier position on, in the order of the commits.
  ///
  /// ```swift
  /// for try await changes in try store.changes() {
  ///   refresh(changes.tasks.updated)
  ///   UserDefaults.standard.set(changes.position.text, forKey: "position")  // where to go on after a restart
  /// }
  /// ```
  ///
  /// No change is lost. A slow consumer gets several commits merged into one set. The sequence ends when the Swift task
  /// is cancelled or the store is closed.
  ///
  /// - Parameter position: the ``ChangeSet/position`` of the last changes seen; `nil` for the current position.
  /// - Returns: a sequence of sets of changes.
  /// - Throws: `storeClosed`, and as `read`.
  public func changes(since position: StorePosition? = nil) throws -> StoreObservation<ChangeSet> {
    let start = try position ?? read { try $0.position }
    return observation(followsTime: false) {
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

  /// A view and its changes, whether by any process or by time alone, as at midnight or when a task becomes overdue.
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
  /// The view is read once; after that only the tasks that have changed are looked up. A slow consumer gets several
  /// changes as one. The sequence ends when the Swift task is cancelled or the store is closed.
  ///
  /// - Returns: a sequence of updates. It throws as `read`, and `listNotFound` if the observed list was deleted, after
  ///   the difference that removes its tasks.
  public func observe(_ view: TaskView) -> StoreObservation<ViewUpdate> {
    observation(followsTime: true) { [self] in
      var observed: ObservedView?
      return { transaction in
        let before = observed?.counts ?? ObservationCounts()
        defer { if let observed { self.note(observed.counts, since: before) } }
        guard let difference = try observed?.follow(transaction) else {
          let result = try transaction.view(view)
          observed = try ObservedView(result, in: transaction)
          return .snapshot(result)
        }
        if difference.isEmpty {
          try transaction.requireList(of: view)
          return nil
        }
        return .difference(difference)
      }
    }
  }

  /// The value of a closure: first the current one, then each new one.
  ///
  /// It is for anything on a screen that is read from one snapshot: lists, one task, the first tasks of a view, or
  /// several of these together.
  ///
  /// ```swift
  /// let home = store.values { snapshot in
  ///   (try snapshot.lists(), try snapshot.page(of: .today, limit: 20).tasks)
  /// } removingDuplicates: { $0 == $1 }
  /// for try await (lists, tasks) in home { show(lists, tasks) }
  /// ```
  ///
  /// The closure runs after each commit of any process and every minute, because time changes views, too. Several
  /// commits may result in one run. The sequence ends when the Swift task is cancelled or the store is closed.
  ///
  /// - Parameters:
  ///   - read: reads the value from a snapshot; it should be quick.
  ///   - isEqual: whether two values are equal, so that the later one is skipped.
  /// - Returns: a sequence of values. It throws as `read`, and what the closure throws.
  public func values<Value: Sendable>(
    _ read: @escaping @Sendable (inout StoreReadTransaction) throws -> Value,
    removingDuplicates isEqual: @escaping @Sendable (Value, Value) -> Bool
  ) -> StoreObservation<Value> {
    observation(followsTime: true) {
      var last: Value?
      var lookedAt: (position: StorePosition, minute: Int64)?
      return { transaction in
        let look = (position: try transaction.position, minute: transaction.now.microsecondsSince1970 / 60_000_000)
        if let lookedAt, lookedAt == look { return nil }
        let value = try read(&transaction)
        lookedAt = look
        if let last, isEqual(last, value) { return nil }
        last = value
        return value
      }
    }
  }

  /// The value of a closure: first the current one, then each new one.
  ///
  /// ```swift
  /// for try await lists in store.values({ try $0.lists() }) { show(lists) }
  /// ```
  ///
  /// It works as ``values(_:removingDuplicates:)``, for values that are `Equatable`.
  public func values<Value: Equatable & Sendable>(
    _ read: @escaping @Sendable (inout StoreReadTransaction) throws -> Value
  ) -> StoreObservation<Value> {
    values(read, removingDuplicates: ==)
  }

  /// The statistics: first the current ones, then again whenever they have changed.
  ///
  /// It works as ``values(_:removingDuplicates:)``.
  public func observeStatistics(
    _ options: StatisticsOptions = StatisticsOptions()
  ) -> StoreObservation<Statistics> {
    values({ try $0.statistics(options) }, removingDuplicates: { $0.saysTheSame(as: $1) })
  }

  /// A sequence of what a closure returns, each time with a new snapshot.
  ///
  /// - Parameters:
  ///   - followsTime: whether the passing of time alone may produce an element.
  ///   - begin: makes the closure, which remembers what it has seen.
  /// - Returns: the sequence.
  private func observation<Element>(
    followsTime: Bool, _ begin: @escaping @Sendable () -> (inout StoreReadTransaction) throws -> Element?
  ) -> StoreObservation<Element> {
    StoreObservation(watch: watch, followsTime: followsTime) {
      let look = begin()
      return { try self.read(look) }
    }
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// The changes by any process since a commit.
  ///
  /// - Parameter sequence: the commit, as the ``sequence`` of an earlier snapshot.
  /// - Returns: the changes up to this snapshot.
  /// - Throws: what the storage throws.
  /// - Complexity: one lookup for each object that has changed since.
  public func changes(since sequence: UInt64) throws -> ChangeSet {
    try changes(since: StorePosition(storeID: position.storeID, sequence: sequence))
  }

  /// The changes since a position; if it belongs to another store at the same path, they are not complete.
  ///
  /// Otherwise it works as ``changes(since:)-(UInt64)``.
  public func changes(since last: StorePosition) throws -> ChangeSet {
    let position = try position
    var changes = ChangeSet(previousSequence: last.sequence, position: position)
    guard position != last else { return changes }
    let logStart = try header().logStart
    guard position.storeID == last.storeID, (logStart..<position.sequence).contains(last.sequence) else {
      changes.isComplete = false
      return changes
    }
    try forEachKey(of: tables.byChange, from: .start(after: last.sequence)) { key in
      try add(key, since: last.sequence, to: &changes)
    }
    return changes
  }

  /// The position of this snapshot, for ``TaskStore/changes(since:)``.
  public var position: StorePosition {
    get throws {
      let header = try header()
      return StorePosition(storeID: header.storeID, sequence: header.sequence)
    }
  }

  /// Adds one row of the log of changes.
  private func add(_ key: ChangeKey, since sequence: UInt64, to changes: inout ChangeSet) throws {
    let id = key.id
    switch key.kind {
    case .task:
      guard let bytes = try tables.tasks.bytes(forKey: IDKey(id), in: base) else { throw Self.danglingRow }
      changes.tasks.add(id, try TaskFields(bytes).stamp.created > sequence)
    case .list:
      guard let record = try record(ListRecord.self, id) else { throw Self.danglingRow }
      changes.lists.add(id, record.stamp.created > sequence)
    case .deletedTask: changes.tasks.addDeleted(id, try tombstone(.task, id), since: sequence)
    case .deletedList: changes.lists.addDeleted(id, try tombstone(.list, id), since: sequence)
    // The kind belongs to a newer version and is not visible in this one.
    case nil: break
    }
  }

  private func tombstone(_ kind: ObjectKind, _ id: UUID) throws -> TombstoneRecord {
    guard let record = try tables.tombstones.value(forKey: TombstoneKey(kind, id), in: base) else {
      throw Self.danglingRow
    }
    return record
  }

  private static var danglingRow: TallyError { TallyError.missingRecord(of: "byChange") }
}

extension ChangeSet.Identifiers {
  fileprivate mutating func add(_ id: UUID, _ isNew: Bool) {
    if isNew { inserted.insert(id) } else { updated.insert(id) }
  }

  /// Adds a deletion, unless the object was also created after the sequence.
  fileprivate mutating func addDeleted(_ id: UUID, _ tombstone: TombstoneRecord, since sequence: UInt64) {
    if tombstone.stamp.created <= sequence { deleted.insert(id) }
  }
}
