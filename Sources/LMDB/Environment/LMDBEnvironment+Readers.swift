import CLMDB

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A slot in the table of readers that some process has taken.
public struct Reader: Sendable, Hashable {
  /// The process that took the slot.
  public let processID: Int32
  /// The thread that took it; a slot kept for later transactions may serve others.
  public let threadID: UInt
  /// The transaction whose snapshot is being read, or `nil` if the slot is idle.
  public let transactionID: Int?
}

extension LMDBEnvironment {
  /// Lists the readers of all processes, idle ones included.
  ///
  /// Throws `closed`, `forked`; `busy` if a map that must move stood waiting too long.
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
  /// Throws as ``readers()``.
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
  ///
  /// Each write asks, so that the table's lines are compared as bytes.
  func hasReader(ofThisProcessAt transactionID: UInt64) throws(LMDBError) -> Bool {
    var wanted = WantedReader(processID: getpid(), transactionID: transactionID)
    // The callback runs within the call only, with the address of this local as its context.
    let result = unsafe withUnsafeMutablePointer(to: &wanted) { wanted in
      unsafe mdb_reader_list(
        handle,
        { line, context in
          // The line is read within the callback, up to its end; the context is the address of the local above.
          guard let line = unsafe line, let context = unsafe context else { return 0 }
          return unsafe context.assumingMemoryBound(to: WantedReader.self).pointee.isFound(in: line) ? -1 : 0
        },
        wanted
      )
    }
    return result < 0
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

/// A slot that is looked for in liblmdb's table: process, thread in hexadecimal digits, transaction.
private struct WantedReader {
  let processID: Int32
  let transactionID: UInt64

  func isFound(in line: UnsafePointer<CChar>) -> Bool {
    var end: UnsafeMutablePointer<CChar>?
    // Each call reads up to the end of the line at most, and writes into the local.
    guard unsafe strtol(line, &end, 10) == Int(processID), let thread = unsafe end else { return false }
    _ = unsafe strtoul(thread, &end, 16)
    guard let transaction = unsafe end else { return false }
    let found = unsafe strtoull(transaction, &end, 10)
    return unsafe end != transaction && found == transactionID
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
