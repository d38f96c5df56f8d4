import CLMDB
import TallySystem

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A slot in the table of readers that some process has taken.
public struct Reader: Sendable, Hashable {
  /// The process that acquired the slot.
  public let processID: Int32
  /// The thread that acquired the slot; later transactions of other threads may reuse it.
  public let threadID: UInt
  /// The transaction whose snapshot is being read, or `nil` if the slot is idle.
  public let transactionID: Int?
}

/// A snapshot that keeps pages from being reused, so that the file grows.
package struct LongRead: Sendable, Hashable {
  /// The process that reads it.
  package let processID: Int32
  /// How many commits it is behind.
  package let lagInCommits: Int
  /// How long this process has known it to be behind; it may have been behind for longer.
  package let duration: Duration
}

/// When a writer last checked the readers, and what it found.
///
/// Without these checks the readers of dead processes would stay until the table of readers or the map is full.
struct ReaderCheck {
  /// How many transactions a snapshot may be behind.
  ///
  /// With a log, one transaction of the tree has the changes of a few hundred commits.
  var tolerableLag = 64
  /// How long after a check the next commit is followed by another check, however few commits there were.
  static let interval = Duration.seconds(10)
  /// How long a snapshot must have been too far behind to be reported, unless it is as far behind as `longLag`.
  static let longTime = Duration.seconds(1)
  var longLag = 1_024

  private struct Snapshot: Hashable {
    let processID: Int32
    let transactionID: Int
  }

  private var lastTransaction = 0
  private var lastTime = Duration.zero
  /// The snapshots that were too far behind at the last check: since when, and whether they have been reported.
  private var late: [Snapshot: (since: Duration, isReported: Bool)] = [:]

  /// Sets the limits for a log: a snapshot is reported if it is two merges behind for a second, or sixteen merges
  /// behind.
  mutating func countMerges() { (tolerableLag, longLag) = (2, 16) }

  /// Whether the readers must be checked after a commit; if so, that check counts as made.
  mutating func isDue(after transactionID: Int, at time: Duration) -> Bool {
    guard transactionID - lastTransaction >= tolerableLag || time - lastTime >= Self.interval else { return false }
    (lastTransaction, lastTime) = (transactionID, time)
    return true
  }

  /// Records the readers that are too far behind, and returns those to be reported now.
  mutating func record(_ readers: [Reader], newest: Int, at time: Duration) -> [LongRead] {
    var (seen, reported) = (late, [LongRead]())
    late = [:]
    for reader in readers {
      guard let transactionID = reader.transactionID, newest - transactionID >= tolerableLag else { continue }
      let snapshot = Snapshot(processID: reader.processID, transactionID: transactionID)
      var (since, isReported) = seen.removeValue(forKey: snapshot) ?? late[snapshot] ?? (time, false)
      let lag = newest - transactionID
      if !isReported, time - since >= Self.longTime || lag >= longLag {
        reported.append(LongRead(processID: reader.processID, lagInCommits: lag, duration: time - since))
        isReported = true
      }
      late[snapshot] = (since, isReported)
    }
    return reported
  }
}

extension LMDBEnvironment {
  /// Clears the readers of dead processes, and reports live ones that are far behind; runs after some commits only.
  ///
  /// Errors are ignored: the next check tries again.
  func checkReaders(after newest: Int) {
    guard var readers = try? readers(), let oldest = readers.compactMap(\.transactionID).min(), oldest < newest - 1
    else { return }
    if let count = try? clearStaleReaders(), count > 0 { readers = (try? self.readers()) ?? [] }
    let time = Self.clockTime
    let reported = state.withLock { $0.readerCheck.record(readers, newest: newest, at: time) }
    for read in reported { options.onLongRead?(read) }
  }

  /// Lists the readers of all processes, idle ones included.
  ///
  /// Throws `closed`, `forked`; `busy` if waiting for the map to move took too long.
  ///
  /// The corresponding C function is `mdb_reader_list`.
  public func readers() throws(LMDBError) -> [Reader] {
    try whileOpen("list readers") { () throws(LMDBError) in try readerTable() }
  }

  /// Frees the slots of readers whose process has died, and returns their number.
  ///
  /// Their snapshots keep pages from being used again. Liveness is judged by process id, so processes in different
  /// process-id namespaces must not share an environment.
  ///
  /// Throws what ``readers()`` throws.
  ///
  /// The corresponding C function is `mdb_reader_check`.
  @discardableResult
  public func clearStaleReaders() throws(LMDBError) -> Int {
    try whileOpen("check readers") { () throws(LMDBError) in
      var dead: Int32 = 0
      // The call only writes into the local it is given.
      try Self.check(unsafe mdb_reader_check(handle, &dead), "check readers")
      return Int(dead)
    }
  }

  /// Whether this process has a slot at a transaction; the caller keeps the environment open.
  func hasReader(ofThisProcessAt transactionID: Int) throws(LMDBError) -> Bool {
    try readerTable().contains { $0.processID == getpid() && $0.transactionID == transactionID }
  }

  /// Reads the table; the caller keeps the environment open.
  func readerTable() throws(LMDBError) -> [Reader] {
    var readers: [Reader] = []
    // The callback runs within the call only, with the address of this local as its context.
    let result = unsafe withUnsafeMutablePointer(to: &readers) { readers in
      unsafe mdb_reader_list(
        handle,
        { line, context in
          // liblmdb's line is copied at once; the context is the address of the local above.
          guard let line = unsafe line, let context = unsafe context else { return 0 }
          let reader = unsafe Reader(line: String(cString: line))
          if let reader { unsafe context.assumingMemoryBound(to: [Reader].self).pointee.append(reader) }
          return 0
        },
        readers
      )
    }
    // Only the callback could return a negative number, and it does not; any other number is not an error.
    guard result >= 0 else { throw LMDBError(.other, operation: "list readers", returnCode: result) }
    return readers
  }
}

extension Reader {
  /// Reads a line of liblmdb's table, which it gives only as text; `nil` for the heading.
  init?(line: String) {
    let fields = line.split { $0.isWhitespace }
    guard fields.count == 3, let process = Int32(fields[0]), let thread = UInt(fields[1], radix: 16) else { return nil }
    self.init(processID: process, threadID: thread, transactionID: Int(fields[2]))
  }
}
