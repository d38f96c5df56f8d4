import Foundation
import LMDB

/// The changes of consecutive commits, by collection.
public struct RecordChanges: Sendable {
  /// The ids of a collection's records, by what happened to them.
  public struct Identifiers<ID: Hashable & Sendable>: Hashable, Sendable {
    /// The records that were created or restored.
    public internal(set) var inserted: Set<ID> = []
    /// The records that existed before and were changed.
    public internal(set) var updated: Set<ID> = []
    /// The records that were deleted.
    public internal(set) var deleted: Set<ID> = []
    /// Whether there are no changes.
    public var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
  }

  /// The position to continue from: the last commit whose changes are included.
  public let position: StorePosition
  /// Whether these are all changes; if not, anything may have changed, and everything must be read again.
  ///
  /// It is false only if an older state of the store, or another store, has replaced it since the earlier position.
  public let isComplete: Bool
  let numbers: [ObjectIdentifier: UInt16]
  var objects: [UInt16: Identifiers<[UInt8]>] = [:]

  /// The changes of one collection.
  public func changes<Record: StoredRecord>(of type: Record.Type) throws -> Identifiers<Record.ID> {
    guard let number = numbers[ObjectIdentifier(type)], let objects = objects[number] else { return Identifiers() }
    func ids(_ keys: Set<[UInt8]>) throws -> Set<Record.ID> {
      // Unsafe by signature only: bytes have no padding.
      Set(try keys.map { try unsafe RecordTables<Record>.id($0.span.bytes) })
    }
    return Identifiers(
      inserted: try ids(objects.inserted), updated: try ids(objects.updated), deleted: try ids(objects.deleted))
  }

  /// Whether nothing has changed.
  public var isEmpty: Bool { isComplete && objects.values.allSatisfy(\.isEmpty) }
}

extension StoreQueries where Self: ~Copyable {
  /// The position of this snapshot, for ``changes(since:)``.
  public var position: StorePosition {
    get throws {
      let snapshot = try liveSnapshot
      let header = try snapshot.header()
      return StorePosition(storeID: header.storeID, sequence: header.sequence)
    }
  }

  /// The changes by any process since a position.
  ///
  /// If several commits changed one record, only the result counts: one that was created and deleted meanwhile is in no
  /// set.
  ///
  /// - Complexity: one lookup for each record that has changed since.
  public func changes(since last: StorePosition) throws -> RecordChanges {
    try snapshot.changes(since: last)
  }
}

extension StoreSnapshot {
  func header() throws -> StoreHeader {
    guard let header = try tables.meta.value(forKey: .header, in: view) else {
      throw TallyError.missingRecord(of: "meta")
    }
    return header
  }

  package func changes(since last: StorePosition) throws -> RecordChanges {
    try checkIsLive()
    let header = try header()
    let isComplete =
      header.storeID == last.storeID
      && (header.logStart...max(header.sequence, header.logStart)).contains(last.sequence)
    let numbers = tables.collections.compactMap { each in each.number.map { (each.recordType, $0) } }
    var changes = RecordChanges(
      position: StorePosition(storeID: header.storeID, sequence: header.sequence), isComplete: isComplete,
      numbers: Dictionary(uniqueKeysWithValues: numbers))
    guard isComplete else { return changes }
    try tables.log.forEach(since: last.sequence, in: view) { object, _, created in
      if let created {
        if created <= last.sequence { changes.objects[object.collection, default: .init()].deleted.insert(object.id) }
        return
      }
      guard let stamp = try tables.stamp(of: object, in: view) else { return }
      if stamp.created > last.sequence {
        changes.objects[object.collection, default: .init()].inserted.insert(object.id)
      } else {
        changes.objects[object.collection, default: .init()].updated.insert(object.id)
      }
    }
    return changes
  }

  /// Whether a change since a commit may have changed what a closure has read.
  fileprivate func isTouched(_ regions: RegionRecorder, since sequence: UInt64) throws -> Bool {
    var isTouched = false
    try tables.log.forEach(since: sequence, in: view) { object, _, _ in
      guard !isTouched else { return }
      isTouched = try regions.isTouched(by: object) {
        try tables.tables(number: object.collection)?.keys(of: object.id, tables.catalogue, in: view)
      }
    }
    return isTouched
  }
}

extension StoreTables {
  fileprivate func stamp(
    of object: ChangeLog.Object, in view: borrowing TransactionView
  ) throws -> ChangeLog.Stamp? {
    guard let bytes = try tables(number: object.collection)?.storedBytes(of: object.id, in: view) else { return nil }
    // Unsafe by signature only: bytes have no padding.
    return try unsafe ChangeLog.Stamp(bytes.span.bytes)
  }
}

/// A sequence of a store's changes, or of values that change with it.
///
/// It keeps its store open while somebody waits for the next element. It ends when the waiting Swift task is cancelled
/// or the store is closed; while the store is suspended, it waits.
public struct StoreObservation<Element: Sendable>: AsyncSequence, Sendable {
  /// Looks at the store, and returns the next element if there is one; remembers what it has seen.
  package typealias Look = () throws -> Element?

  private let watch: CommitWatch
  private let followsTime: Bool
  private let begin: @Sendable () -> Look

  /// - Parameters:
  ///   - watch: what wakes it.
  ///   - followsTime: whether the passing of time alone may produce an element.
  ///   - begin: makes what looks at the store, and keeps it open; each iterator has its own.
  package init(watch: CommitWatch, followsTime: Bool, begin: @escaping @Sendable () -> Look) {
    (self.watch, self.followsTime, self.begin) = (watch, followsTime, begin)
  }

  /// Creates an iterator; each iterator remembers separately what it has delivered.
  public func makeAsyncIterator() -> Iterator { Iterator(watch: watch, followsTime: followsTime, look: begin()) }

  /// The iterator, which waits for the next element.
  public struct Iterator: AsyncIteratorProtocol {
    let watch: CommitWatch
    let followsTime: Bool
    let look: Look

    /// Waits for the next element; returns `nil` after cancellation or the closing of the store.
    ///
    /// - Throws: what `read` throws, and what the observed closure throws; the observation may be continued after that.
    public mutating func next() async throws -> Element? {
      while !Task.isCancelled {
        // Read the counter before the store, so that no later commit is missed.
        let count = watch.count
        do {
          if let found = try look() { return found }
        } catch let error as TallyError where error.code == .storeClosed {
          return nil
        } catch let error as TallyError where error.code == .storeSuspended {
          // The observation continues when the store is resumed.
        }
        await watch.wait(after: count, followsTime: followsTime)
      }
      return nil
    }
  }
}

extension Store {
  /// A sequence of what a closure returns, each time with a new snapshot.
  private func observation<Element>(
    _ begin: @escaping @Sendable () -> (borrowing Reader) throws -> Element?
  ) -> StoreObservation<Element> {
    StoreObservation(watch: session.watch, followsTime: false) {
      let look = begin()
      return { try self.read(look) }
    }
  }

  /// The changes by any process from now on, or from an earlier position on, in the order of the commits.
  ///
  /// No change is lost. A slow consumer gets several commits merged into one set.
  ///
  /// - Parameter position: the ``RecordChanges/position`` of the last changes seen; `nil` for the current position.
  /// - Returns: a sequence of sets of changes.
  /// - Throws: what `read` throws.
  public func changes(since position: StorePosition? = nil) throws -> StoreObservation<RecordChanges> {
    let start = try position ?? read { try $0.position }
    return observation {
      var last = start
      return { reader in
        let position = try reader.position
        guard position != last else { return nil }
        let changes = try reader.changes(since: last)
        last = position
        return changes
      }
    }
  }

  /// The value of a closure: first the current one, then each new one.
  ///
  /// ```swift
  /// for try await runs in store.values({ try $0.records(in: Workout.bySport, "run", limit: 50) }) { show(runs) }
  /// ```
  ///
  /// The closure runs again only after a commit that has changed something that it had read: a record, a part of an
  /// index, or a collection of which it has asked a measure or a number. A closure that throws reports the error to its
  /// observer, who may go on.
  ///
  /// - Parameters:
  ///   - read: reads the value; it must depend on nothing but the store.
  ///   - isEqual: whether two values are equal, so that the later one is skipped.
  /// - Returns: a sequence of values.
  public func values<Value: Sendable>(
    _ read: @escaping @Sendable (borrowing Reader) throws -> Value,
    removingDuplicates isEqual: @escaping @Sendable (Value, Value) -> Bool
  ) -> StoreObservation<Value> {
    observation {
      var last: Value?
      var seen: (position: StorePosition, regions: RegionRecorder)?
      return { reader in
        let position = try reader.position
        if let known = seen, known.position.storeID == position.storeID, known.position.sequence <= position.sequence {
          if known.position == position { return nil }
          guard try reader.snapshot.isTouched(known.regions, since: known.position.sequence) else {
            seen?.position = position
            return nil
          }
        }
        reader.snapshot.regions = RegionRecorder()
        defer { seen = (position, reader.snapshot.regions ?? RegionRecorder()) }
        let value = try read(reader)
        if let last, isEqual(last, value) { return nil }
        last = value
        return value
      }
    }
  }

  /// The value of a closure: first the current one, then each new one.
  public func values<Value: Equatable & Sendable>(
    _ read: @escaping @Sendable (borrowing Reader) throws -> Value
  ) -> StoreObservation<Value> {
    values(read, removingDuplicates: ==)
  }

  /// The records of an index with a first part, whenever they change.
  ///
  /// ```swift
  /// for try await runs in store.observe(Workout.bySport, "run", limit: 50) { show(runs) }
  /// ```
  public func observe<Record, A, B>(
    _ index: Index<Record, Key2<A, B>>, _ a: A.PlainKey, from lower: B.PlainKey? = nil, upTo upper: B.PlainKey? = nil,
    reversed: Bool = false, limit: Int = .max
  ) -> StoreObservation<[Record]> {
    values(
      { try $0.records(in: index, a, from: lower, upTo: upper, reversed: reversed, limit: limit) },
      removingDuplicates: { _, _ in false })
  }

  /// The records of an index, whenever they change.
  public func observe<Record, A>(
    _ index: Index<Record, Key1<A>>, from lower: A.PlainKey? = nil, upTo upper: A.PlainKey? = nil,
    reversed: Bool = false, limit: Int = .max
  ) -> StoreObservation<[Record]> {
    values(
      { try $0.records(in: index, from: lower, upTo: upper, reversed: reversed, limit: limit) },
      removingDuplicates: { _, _ in false })
  }

  /// A record, whenever it changes; `nil` while there is none with the id.
  public func observe<Record: StoredRecord>(_ type: Record.Type, _ id: Record.ID) -> StoreObservation<Record?> {
    values({ try $0.record(type, id) }, removingDuplicates: { _, _ in false })
  }
}

/// The parts of a store that a closure has read: its result can change only if one of these changes.
struct RegionRecorder {
  /// Collections of which anything may have been read.
  private(set) var collections: Set<UInt16> = []
  private(set) var records: Set<ChangeLog.Object> = []
  private(set) var ranges: [Range] = []

  /// A part of an index, and the records that it showed.
  struct Range {
    let keys: KeyRange
    let index: UInt16
    let collection: UInt16
    let ids: Set<[UInt8]>
  }

  mutating func add(collection: UInt16?) {
    if let collection { collections.insert(collection) }
  }

  mutating func add(record id: [UInt8], _ collection: UInt16?) {
    if let collection { records.insert(ChangeLog.Object(collection: collection, id: id)) }
  }

  mutating func add(range: KeyRange, ofIndex index: UInt16, _ collection: UInt16?, showing ids: [[UInt8]]) {
    guard let collection else { return }
    ranges.append(Range(keys: range, index: index, collection: collection, ids: Set(ids)))
  }

  /// Whether a change of a record may change what was read.
  ///
  /// - Parameters:
  ///   - object: the record.
  ///   - keys: the keys that it has in each index now; called only if they matter.
  /// - Returns: whether it may.
  func isTouched(by object: ChangeLog.Object, _ keys: () throws -> [(index: UInt16, keys: [[UInt8]])]?) rethrows -> Bool
  {
    if collections.contains(object.collection) || records.contains(object) { return true }
    let near = ranges.filter { $0.collection == object.collection }
    if near.isEmpty { return false }
    if near.contains(where: { $0.ids.contains(object.id) }) { return true }
    guard let keys = try keys() else { return false }
    return near.contains { range in
      keys.contains { $0.index == range.index && $0.keys.contains(where: range.keys.contains) }
    }
  }
}
