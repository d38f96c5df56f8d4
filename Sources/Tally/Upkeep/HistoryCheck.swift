import LMDB
import TallyEngine

/// Checks that the history can be read and is within its bounds.
struct HistoryCheck {
  private var isSound = true
  private var expectedSize: UInt64?
  private var keptSizeInBytes: UInt64 = 0
  private var previous: (key: HistoryKey, head: HistoryRecord)?

  /// Whether every entry of the table is one that a write may have written.
  static func passes<T: LMDBTransaction & ~Copyable>(_ tables: Tables, in transaction: borrowing T) throws -> Bool {
    var check = HistoryCheck()
    // An unreadable header is reported as its own fault.
    let sequence = (try? tables.meta.value(forKey: .header, in: transaction))?.sequence ?? .max
    try tables.history.forEach(in: transaction) { key, value in
      do {
        try check.check(try HistoryKey(decoding: key), value, lastSequence: sequence)
      } catch is LMDBError {
        check.isSound = false
      }
      return check.isSound
    }
    guard check.isSound, let last = check.previous else { return check.isSound }
    let bounds = HistoryBounds(after: last.head)
    return try tables.history.count(in: transaction) <= bounds.maximumPartCount
      && check.keptSizeInBytes <= bounds.maximumSizeInBytes
  }

  private mutating func check(_ key: HistoryKey, _ value: RawSpan, lastSequence: UInt64) throws {
    let head = try HistoryRecord(headOf: value)
    let bytes = try HistoryRecord.images(of: value)
    var images = ImageReader(bytes)
    try images.forEach(Self.decode)
    let isNextPart = previous.map { $0.key.change == key.change && $0.key.part + 1 == key.part } ?? false
    let size = UInt64(bytes.byteCount)
    isSound =
      key.change.sequence <= lastSequence && (key.part == 0 || isNextPart)
      && (expectedSize ?? head.precedingSizeInBytes) == head.precedingSizeInBytes
      && (head.target.map { $0 < key.change } ?? true)
    expectedSize = head.precedingSizeInBytes &+ size
    keptSizeInBytes += size
    previous = (key, head)
  }

  private static func decode(_ key: ImageKey, _ presence: ImagePresence, _ bytes: RawSpan) throws {
    if key.kind == .value { _ = try key.value }
    guard presence != .absent else { return }
    switch key.kind {
    case .task: _ = try TaskRecord(id: key.id, decoding: bytes)
    case .list: _ = try ListRecord(id: key.id, decoding: bytes)
    case .completion, .deletedCompletion: _ = try CompletionRecord(decoding: bytes)
    default: break
    }
  }
}
