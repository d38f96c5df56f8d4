import Foundation
import LMDB

/// The kind of object in an image; the raw values are stored: do not change them.
enum ImageKind: UInt8 {
  case task = 1
  case list = 2
  /// A completion of an existing task, in the ledger.
  case completion = 3
  /// A completion of a deleted task, in the ledger.
  case deletedCompletion = 4
  /// A value that an application stored.
  case value = 6

  init(_ kind: ObjectKind) {
    self = kind == .task ? .task : .list
  }

  /// Whether the key of the image has an instant besides the identifier.
  var hasInstant: Bool { self == .completion || self == .deletedCompletion }
}

/// What existed of an object before a write; the raw values are stored: do not change them.
enum ImagePresence: UInt8 {
  case absent = 0
  case present = 1
  /// The object had been deleted, and the image is the record that was kept of it.
  case deleted = 2
}

/// The state of each object before one write changed it, in the order of the changes.
///
/// ```
/// offset size
///      0    1  kind
///      1    1  what existed: 0 nothing, 1 the object, 2 a deleted object, whose kept record is in the image
///      2   16  id
///     18    8  completions only: the instant
///           4  unless nothing existed: the length of the record in bytes, then the stored record
/// ```
///
/// The image of a value has, instead of the id, the length of its key in 2 bytes and the key.
///
/// The image of a new object is its id alone. A record that is written twice has two images, of which the first counts:
/// looking for an earlier image each time would cost a bulk insert more than the bytes do.
struct BeforeImages {
  /// The most bytes of images that one write keeps; `HistoryBounds` limits all writes together.
  static let maximumSizeInBytes = 8 << 20
  /// The most bytes in a part, unless one record is longer: with head and action name, a part fits in 32 KiB of pages.
  ///
  /// When the images of a later write are appended, their first part joins the last part here if both fit in one.
  static let partSizeInBytes = (32 << 10) - 512

  private(set) var bytes: [UInt8] = []
  /// The offset at which each part begins.
  private var starts = [0]
  /// Whether the images were dropped, because there were too many or the write must not be undone.
  private(set) var isTooLarge = false

  var isEmpty: Bool { bytes.isEmpty && !isTooLarge }

  /// Drops the images and records that this write cannot be undone.
  mutating func forget() {
    isTooLarge = true
    bytes = []
    starts = [0]
  }

  mutating func add<Record: ObjectRecord>(_ record: Record?, ofKey key: IDKey) {
    add(ImageKind(Record.kind), key.id, record)
  }

  /// Adds the kept record of a deleted object before a change from another replica is merged into it.
  mutating func add(deleted record: some ObjectRecord) {
    add(ImageKind(type(of: record).kind), record.item.id, record, presence: .deleted)
  }

  mutating func add(_ key: CompletionKey, _ record: CompletionRecord?) {
    add(key.isTaskDeleted ? .deletedCompletion : .completion, key.id, record, instant: key.completed.microseconds)
  }

  mutating func add(_ value: [UInt8]?, ofValue key: ValueKey) {
    let key = key.encodedBytes
    guard beginImage(ofByteCount: ImageKey.maximumByteCount + key.count + (value?.count ?? 0)) else { return }
    bytes += [ImageKind.value.rawValue, value == nil ? 0 : 1]
    bytes += UInt16(key.count).encodedBytes + key
    if let value { bytes += UInt32(value.count).encodedBytes + value }
  }

  private mutating func add(
    _ kind: ImageKind, _ id: UUID, _ record: (some BinaryCodable)?, instant: Int64? = nil,
    presence: ImagePresence = .present
  ) {
    let recordSize = record?.encodedByteCount ?? 0
    guard beginImage(ofByteCount: ImageKey.maximumByteCount + recordSize) else { return }
    // Memory is reserved for the whole image at once: a bulk insert has an image of every task.
    bytes.append(addingCapacity: ImageKey.maximumByteCount) { output in
      output.append(kind.rawValue)
      output.append(record == nil ? ImagePresence.absent.rawValue : presence.rawValue)
      output.append(bytesOf: id.words.high)
      output.append(bytesOf: id.words.low)
      if let instant { output.append(bytesOf: UInt64(bitPattern: instant) ^ (1 << 63)) }
      if record != nil { output.append(bytesOf: UInt32(recordSize)) }
    }
    if let record { bytes.append(ofByteCount: recordSize) { record.encode(into: &$0) } }
  }

  /// Begins a new part if the last one is full; returns false if there is no room for another image.
  private mutating func beginImage(ofByteCount byteCount: Int) -> Bool {
    guard !isTooLarge else { return false }
    guard bytes.count + byteCount <= Self.maximumSizeInBytes else {
      forget()
      return false
    }
    if lastPartSizeInBytes > 0, lastPartSizeInBytes + byteCount > Self.partSizeInBytes { starts.append(bytes.count) }
    return true
  }

  private var lastPartSizeInBytes: Int { bytes.count - starts[starts.count - 1] }

  /// Appends the images of a later write.
  mutating func append(_ later: BeforeImages) {
    guard !isTooLarge, !later.isEmpty else { return }
    guard !later.isTooLarge, bytes.count + later.bytes.count <= Self.maximumSizeInBytes else { return forget() }
    let joinedSize = lastPartSizeInBytes + (later.starts.count > 1 ? later.starts[1] : later.bytes.count)
    let joins = lastPartSizeInBytes == 0 || joinedSize <= Self.partSizeInBytes
    starts += later.starts.dropFirst(joins ? 1 : 0).map { $0 + bytes.count }
    bytes += later.bytes
  }

  /// The parts, each of which holds whole images; a single empty part if there are no images.
  var parts: [ArraySlice<UInt8>] {
    let ends = starts.dropFirst() + [bytes.count]
    assert(zip(starts, ends).allSatisfy { $0 <= $1 }, "parts are out of order")
    return zip(starts, ends).map { bytes[$0..<$1] }
  }
}

/// The key of an object that an image may describe.
struct ImageKey: Hashable {
  /// The most bytes of an image besides the record.
  static let maximumByteCount = 30

  let kind: ImageKind
  /// The id of the object; `UUID.lowest` for a value.
  var id = UUID.lowest
  /// The instant of a completion; zero for other objects.
  var instant: Int64 = 0
  /// The key of a value; `nil` for other objects.
  var value: ValueKey?

  /// The key of a completion.
  var completion: CompletionKey {
    CompletionKey(
      isTaskDeleted: kind == .deletedCompletion, completed: InstantKey(microseconds: instant, id: id))
  }
}

/// Reads the images of one part in order.
struct ImageReader: ~Escapable {
  private var bytes: RawSpan

  @_lifetime(copy bytes)
  init(_ bytes: RawSpan) {
    self.bytes = bytes
  }

  /// Calls a closure with each image: its object, what existed of it, and the bytes of its record.
  mutating func forEach(_ body: (ImageKey, ImagePresence, RawSpan) throws -> Void) throws {
    var offset = 0
    while offset < bytes.byteCount {
      let key = try key(at: &offset)
      // Earlier versions read every value but 0 as an object that existed.
      let presence = ImagePresence(rawValue: bytes.load(bigEndianAt: key.start + 1)) ?? .present
      guard presence != .absent else {
        try body(key.key, .absent, bytes.extracting(0..<0))
        continue
      }
      guard offset + 4 <= bytes.byteCount else { throw LMDBError.undecodable("an image ends before its size") }
      let size = Int(bytes.load(bigEndianAt: offset, as: UInt32.self))
      offset += 4
      guard offset + size <= bytes.byteCount else { throw LMDBError.undecodable("an image ends before its record") }
      try body(key.key, presence, bytes.extracting(offset..<(offset + size)))
      offset += size
    }
  }

  private func key(at offset: inout Int) throws(LMDBError) -> (key: ImageKey, start: Int) {
    let start = offset
    guard offset + 4 <= bytes.byteCount, let kind = ImageKind(rawValue: bytes.load(bigEndianAt: offset)) else {
      throw .undecodable("an image is too short or of an unknown kind")
    }
    if kind == .value {
      offset += 4 + Int(bytes.load(bigEndianAt: offset + 2, as: UInt16.self))
      guard offset <= bytes.byteCount else { throw .undecodable("an image ends before its key") }
      return (ImageKey(kind: kind, value: try ValueKey(decoding: bytes.extracting((start + 4)..<offset))), start)
    }
    guard offset + 18 <= bytes.byteCount else { throw .undecodable("an image ends before its id") }
    var key = ImageKey(kind: kind, id: bytes.load(idAt: offset + 2))
    offset += 18
    guard kind.hasInstant else { return (key, start) }
    guard offset + 8 <= bytes.byteCount else { throw .undecodable("an image ends before its instant") }
    key.instant = bytes.load(orderedInt64At: offset)
    offset += 8
    return (key, start)
  }
}
