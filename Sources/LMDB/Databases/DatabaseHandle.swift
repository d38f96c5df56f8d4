import Synchronization

/// LMDB's number of an open database, with the stamp that shows whether the number still means it.
@usableFromInline
struct DatabaseHandle: Sendable, Hashable {
  let index: UInt32
  let stamp: UInt32
}

/// The stamps of one environment's databases; zero where none is open.
///
/// LMDB uses the number of a database again when the transaction that opened it is aborted, and every environment counts
/// from the same start. A stamp is used once in the life of the process, so that a stale or foreign handle is refused
/// instead of reading another database.
@safe
final class DatabaseStamps: Sendable {
  private static let last = Atomic<UInt32>(0)

  let capacity: Int
  // Each element is atomic; the memory lives as long as this object.
  nonisolated(unsafe) private let stamps: UnsafeMutablePointer<Atomic<UInt32>>

  init(capacity: Int) {
    self.capacity = capacity
    // Every element is initialised before anybody sees one.
    unsafe stamps = .allocate(capacity: capacity)
    for index in 0..<capacity { unsafe (stamps + index).initialize(to: Atomic(0)) }
  }

  deinit {
    // An atomic integer needs no deinitialisation.
    unsafe stamps.deallocate()
  }

  /// The stamp of an open database, or zero.
  func stamp(of index: UInt32) -> UInt32 {
    assert(Int(index) < capacity, "a database that liblmdb cannot have")
    // Every index comes from liblmdb, which has the same capacity.
    return unsafe stamps[Int(index)].load(ordering: .relaxed)
  }

  /// Whether a handle means what it meant when it was created.
  func contains(_ database: DatabaseHandle) -> Bool {
    Int(database.index) < capacity && stamp(of: database.index) == database.stamp
  }

  /// Assigns a stamp to a newly opened database, and returns it.
  func assign(_ index: UInt32) -> UInt32 {
    assert(stamp(of: index) == 0, "an open database is opened again")
    let (_, stamp) = Self.last.wrappingAdd(1, ordering: .relaxed)
    // In bounds, by the assertion of `stamp(of:)`.
    unsafe stamps[Int(index)].store(stamp, ordering: .relaxed)
    return stamp
  }

  /// Invalidates every handle of a database.
  func clear(_ index: UInt32) {
    assert(Int(index) < capacity, "a database that liblmdb cannot have")
    unsafe stamps[Int(index)].store(0, ordering: .relaxed)
  }
}
