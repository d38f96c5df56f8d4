package import Foundation
import LMDB

/// The kind of object in an image, which decides the form of its key; the numbers are stored: do not change them.
package struct ImageKind: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// A record of a collection of an engine.
  package static let record = ImageKind(rawValue: 7)

  /// The form of the key that identifies an object of a kind.
  package enum KeyForm {
    /// An id.
    case id
    /// An id and an instant.
    case idAndInstant
    /// Bytes of any number.
    case bytes
  }

  /// The form of the keys; `nil` for a kind that this version does not know.
  package var keyForm: KeyForm? {
    switch rawValue {
    case 1, 2: .id
    case 3, 4: .idAndInstant
    case 6, 7: .bytes
    default: nil
    }
  }
}

/// Whether an object existed before a write; the raw values are stored: do not change them.
package enum ImagePresence: UInt8 {
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
///     18    8  for some kinds: an instant
///           4  unless nothing existed: the length of the record in bytes, then the stored record
/// ```
///
/// The images of other kinds have, instead of the id, the length of a key in 2 bytes and the key.
///
/// The image of a new object is its id alone. A record that is written twice has two images, of which the first counts:
/// looking for an earlier image each time would cost a bulk insert more than the bytes do.
package struct BeforeImages {
  /// The most bytes of images that one write keeps; `HistoryBounds` limits all writes together.
  package static let maximumSizeInBytes = 8 << 20
  /// The most bytes in a part, unless one record is longer: with head and action name, a part fits in 32 KiB of pages.
  ///
  /// When the images of a later write are appended, their first part joins the last part here if both fit in one.
  package static let partSizeInBytes = (32 << 10) - 512

  package private(set) var bytes: [UInt8] = []
  /// The offset at which each part begins.
  private var starts = [0]
  /// Whether the images were dropped, because there were too many or the write must not be undone.
  package private(set) var isTooLarge = false

  package init() {}

  package var isEmpty: Bool { bytes.isEmpty && !isTooLarge }

  /// Drops the images and records that this write cannot be undone.
  package mutating func forget() {
    isTooLarge = true
    bytes = []
    starts = [0]
  }

  /// Adds an object whose key is bytes; `record` is what was stored of it, if it existed.
  package mutating func add(_ kind: ImageKind, key: [UInt8], _ record: [UInt8]?) {
    assert(kind.keyForm == .bytes, "a kind with another form of keys")
    guard beginImage(ofByteCount: ImageKey.maximumByteCount + key.count + (record?.count ?? 0)) else { return }
    bytes += [kind.rawValue, record == nil ? ImagePresence.absent.rawValue : ImagePresence.present.rawValue]
    bytes += UInt16(key.count).encodedBytes + key
    if let record { bytes += UInt32(record.count).encodedBytes + record }
  }

  /// Adds an object that did not exist.
  package mutating func add(absent kind: ImageKind, _ id: UUID, instant: Int64? = nil) {
    _ = beginImage(kind, id, instant: instant, .absent, recordByteCount: 0)
  }

  /// Adds an object with its stored record, which a closure appends.
  package mutating func add(
    _ kind: ImageKind, _ id: UUID, instant: Int64? = nil, presence: ImagePresence = .present, recordByteCount: Int,
    _ encode: (inout OutputRawSpan) -> Void
  ) {
    guard beginImage(kind, id, instant: instant, presence, recordByteCount: recordByteCount) else { return }
    bytes.append(ofByteCount: recordByteCount) { encode(&$0) }
  }

  /// Writes what precedes the record; returns false if there is no room for the image.
  private mutating func beginImage(
    _ kind: ImageKind, _ id: UUID, instant: Int64?, _ presence: ImagePresence, recordByteCount: Int
  ) -> Bool {
    guard beginImage(ofByteCount: ImageKey.maximumByteCount + recordByteCount) else { return false }
    // Memory is reserved for the whole image at once: a bulk insert has an image of every record.
    bytes.append(addingCapacity: ImageKey.maximumByteCount) { output in
      output.append(kind.rawValue)
      output.append(presence.rawValue)
      output.append(bytesOf: id.words.high)
      output.append(bytesOf: id.words.low)
      if let instant { output.append(bytesOf: UInt64(bitPattern: instant) ^ (1 << 63)) }
      if presence != .absent { output.append(bytesOf: UInt32(recordByteCount)) }
    }
    return true
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
  package mutating func append(_ later: BeforeImages) {
    guard !isTooLarge, !later.isEmpty else { return }
    guard !later.isTooLarge, bytes.count + later.bytes.count <= Self.maximumSizeInBytes else { return forget() }
    let joinedSize = lastPartSizeInBytes + (later.starts.count > 1 ? later.starts[1] : later.bytes.count)
    let joins = lastPartSizeInBytes == 0 || joinedSize <= Self.partSizeInBytes
    starts += later.starts.dropFirst(joins ? 1 : 0).map { $0 + bytes.count }
    bytes += later.bytes
  }

  /// The parts, each of which holds whole images; a single empty part if there are no images.
  package var parts: [ArraySlice<UInt8>] {
    let ends = starts.dropFirst() + [bytes.count]
    assert(zip(starts, ends).allSatisfy { $0 <= $1 }, "parts are out of order")
    return zip(starts, ends).map { bytes[$0..<$1] }
  }
}

/// The key of an object that an image may describe.
package struct ImageKey: Hashable {
  /// The most bytes of an image besides the record and a key of bytes.
  package static let maximumByteCount = 30

  package let kind: ImageKind
  /// The id of the object; `UUID.lowest` for one whose key is bytes.
  package var id = UUID.lowest
  /// The instant in the key of an object that has one; else zero.
  package var instant: Int64 = 0
  /// The key of an object whose key is bytes; else empty.
  package var bytes: [UInt8] = []
}

/// Reads the images of one part in order.
package struct ImageReader: ~Escapable {
  private var bytes: RawSpan

  @_lifetime(copy bytes)
  package init(_ bytes: RawSpan) {
    self.bytes = bytes
  }

  /// Calls a closure with each image: its object, what existed of it, and the bytes of its record.
  package mutating func forEach(_ body: (ImageKey, ImagePresence, RawSpan) throws -> Void) throws {
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
    guard offset + 4 <= bytes.byteCount else { throw .undecodable("an image is too short") }
    let kind = ImageKind(rawValue: bytes.load(bigEndianAt: offset))
    guard let form = kind.keyForm else { throw .undecodable("an image is of an unknown kind") }
    if form == .bytes {
      offset += 4 + Int(bytes.load(bigEndianAt: offset + 2, as: UInt16.self))
      guard offset <= bytes.byteCount else { throw .undecodable("an image ends before its key") }
      return (ImageKey(kind: kind, bytes: bytes.extracting((start + 4)..<offset).bytes(from: 0)), start)
    }
    guard offset + 18 <= bytes.byteCount else { throw .undecodable("an image ends before its id") }
    var key = ImageKey(kind: kind, id: bytes.load(idAt: offset + 2))
    offset += 18
    guard form == .idAndInstant else { return (key, start) }
    guard offset + 8 <= bytes.byteCount else { throw .undecodable("an image ends before its instant") }
    key.instant = bytes.load(orderedInt64At: offset)
    offset += 8
    return (key, start)
  }
}
