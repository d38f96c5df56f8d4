/// The changes of one write transaction, as a record will hold them.
///
/// Each is: kind (1 byte), number of the table (1), size of the key (2), size of the value (4), key, value. A table gets its
/// number with its first change, by an entry of its own that has the name as its key.
@safe
final class RedoLog {
  /// Persistent numbers, do not change.
  enum Kind: UInt8 {
    case table = 1
    case put, remove, removeAll, drop
    /// A table exists from here on.
    case create
  }

  /// Where a nested transaction begins.
  struct Mark {
    let byteCount: Int
    let tableCount: Int
  }

  /// Room for the record's head, then the changes.
  private(set) var bytes = [UInt8](repeating: 0, count: JournalRecord.byteCount)
  /// Whether there are more changes than a record may hold: then none are kept.
  private(set) var isTooLong = false

  private let limitInBytes: Int
  /// The databases in the order of their numbers.
  private var tables: [UInt32] = []
  private static let maximumTableCount = 255

  init(limitInBytes: Int) {
    self.limitInBytes = limitInBytes
  }

  var isEmpty: Bool { bytes.count == JournalRecord.byteCount && !isTooLong }
  var payloadByteCount: Int { bytes.count - JournalRecord.byteCount }
  var mark: Mark { Mark(byteCount: bytes.count, tableCount: tables.count) }

  /// Forgets what a nested transaction has done.
  func undo(to mark: Mark) {
    guard !isTooLong else { return }
    bytes.removeSubrange(mark.byteCount...)
    tables.removeSubrange(mark.tableCount...)
  }

  /// Replaces the room in front.
  func setHead(_ head: [UInt8]) {
    bytes.replaceSubrange(0..<JournalRecord.byteCount, with: head)
  }

  /// Adds a change; the name is asked for with the first one of a table.
  func add(
    _ kind: Kind, _ database: UInt32, key: UnsafeRawBufferPointer? = nil, value: UnsafeRawBufferPointer? = nil,
    name: () -> String?
  ) {
    guard !isTooLong, let table = number(of: database, name: name) else { return }
    unsafe append(kind, table, key: key, value: value)
  }

  /// A dropped database's number may become that of another one.
  func forget(_ database: UInt32) {
    for index in tables.indices where tables[index] == database { tables[index] = .max }
  }

  /// Gives up: the commit will be flushed as pages.
  func giveUp() {
    isTooLong = true
    bytes = []
  }

  private func number(of database: UInt32, name: () -> String?) -> UInt8? {
    if let index = tables.firstIndex(of: database) { return UInt8(index) }
    guard tables.count < Self.maximumTableCount, let name = name() else {
      giveUp()
      return nil
    }
    tables.append(database)
    let table = UInt8(tables.count - 1)
    let utf8 = Array(name.utf8)
    // Copied within the call.
    unsafe utf8.withUnsafeBytes { unsafe append(.table, table, key: $0, value: nil) }
    return isTooLong ? nil : table
  }

  private func append(_ kind: Kind, _ table: UInt8, key: UnsafeRawBufferPointer?, value: UnsafeRawBufferPointer?) {
    let (keyCount, valueCount) = unsafe (key?.count ?? 0, value?.count ?? 0)
    guard bytes.count + 8 + keyCount + valueCount <= limitInBytes else { return giveUp() }
    bytes.append(kind.rawValue)
    bytes.append(table)
    bytes.append(UInt8(truncatingIfNeeded: keyCount))
    bytes.append(UInt8(truncatingIfNeeded: keyCount >> 8))
    for shift in [0, 8, 16, 24] { bytes.append(UInt8(truncatingIfNeeded: valueCount >> shift)) }
    // The caller's bytes, copied here.
    if let key = unsafe key { unsafe bytes.append(contentsOf: key) }
    if let value = unsafe value { unsafe bytes.append(contentsOf: value) }
  }
}

/// Reads the changes of a record one after the other.
struct RedoReader {
  struct Change {
    let kind: RedoLog.Kind
    let table: String
    let key: ArraySlice<UInt8>
    let value: ArraySlice<UInt8>
  }

  private var rest: ArraySlice<UInt8>
  private var tables: [String] = []

  init(_ payload: ArraySlice<UInt8>) {
    rest = payload
  }

  /// The next change; `nil` at the end.
  ///
  /// Throws `corrupted` for bytes that no log has.
  mutating func next() throws(LMDBError) -> Change? {
    while !rest.isEmpty {
      guard rest.count >= 8, let kind = RedoLog.Kind(rawValue: rest[rest.startIndex]) else { throw Self.malformed }
      let head = Array(rest.prefix(8))
      let keyCount = Int(head[2]) | Int(head[3]) << 8
      let valueCount = (4..<8).reduce(0) { $0 | Int(head[$1]) << (8 * ($1 - 4)) }
      rest = rest.dropFirst(8)
      guard keyCount + valueCount <= rest.count else { throw Self.malformed }
      let key = rest.prefix(keyCount)
      let value = rest.dropFirst(keyCount).prefix(valueCount)
      rest = rest.dropFirst(keyCount + valueCount)
      if kind == .table {
        guard Int(head[1]) == tables.count else { throw Self.malformed }
        tables.append(String(decoding: key, as: UTF8.self))
        continue
      }
      guard Int(head[1]) < tables.count else { throw Self.malformed }
      return Change(kind: kind, table: tables[Int(head[1])], key: key, value: value)
    }
    return nil
  }

  private static let malformed = LMDBError.damagedJournal("A record has changes that cannot be read")
}
