import Foundation
import LMDB
import TallyEngine

/// The key of `ownIndexes`, and the prefix of every key of the other two tables: a hash of name and version; 8 bytes.
///
/// A hash needs no table that assigns numbers. It is stored: do not change it.
struct OwnIndexID: KeyCodable, Hashable {
  static let width = 8
  let hash: UInt64

  init(hash: UInt64) {
    self.hash = hash
  }

  init(name: String, version: UInt32) {
    hash = SipHash128.hash(Array(name.utf8) + version.encodedBytes).low
  }

  var encodedByteCount: Int { Self.width }

  init(decoding bytes: RawSpan) throws(LMDBError) {
    guard bytes.byteCount == Self.width else { throw .undecodable("a key of an own index has the wrong size") }
    hash = bytes.load(bigEndianAt: 0)
  }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) { output.append(bigEndian: hash) }
}

/// The key of `ownIndexEntries`: the index, the key from the application's function, and the task.
///
/// Keys of variable length have an end mark, as in `Leading`, so that the id after them does not disturb the order.
struct OwnEntryKey: KeyCodable, Hashable {
  let index: OwnIndexID
  let key: [UInt8]
  let id: UUID

  var encodedByteCount: Int { OwnIndexID.width + key.count + IDKey.width }

  init(index: OwnIndexID, key: [UInt8], id: UUID) {
    (self.index, self.key, self.id) = (index, key, id)
  }

  init(decoding bytes: RawSpan) throws(LMDBError) {
    let keyEnd = bytes.byteCount - IDKey.width
    guard keyEnd >= OwnIndexID.width else { throw .undecodable("an entry of an own index is too short") }
    index = try OwnIndexID(decoding: bytes.extracting(first: OwnIndexID.width))
    key = bytes.extracting(OwnIndexID.width..<keyEnd).bytes(from: 0)
    id = bytes.load(idAt: keyEnd)
  }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    index.encode(into: &output)
    key.encode(into: &output)
    output.append(id)
  }
}

/// The key of `ownIndexKeys`: the index and the task; 24 bytes.
struct OwnKeysKey: IndexKey {
  static let width = OwnIndexID.width + IDKey.width
  let index: UInt64
  let id: UUID

  init(_ index: OwnIndexID, _ id: UUID) {
    (self.index, self.id) = (index.hash, id)
  }

  init(fields bytes: RawSpan) {
    index = bytes.load(bigEndianAt: 0)
    id = bytes.load(idAt: OwnIndexID.width)
  }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    output.append(bigEndian: index)
    output.append(id)
  }
}

/// The value of `ownIndexKeys`: the keys of one task, in ascending order, each preceded by its length in 2 bytes.
struct OwnKeys: BinaryCodable, Hashable {
  var keys: [[UInt8]] = []

  var encodedByteCount: Int { keys.reduce(0) { $0 + 2 + $1.count } }

  init(_ keys: [[UInt8]]) {
    self.keys = keys
  }

  init(decoding bytes: RawSpan) throws(LMDBError) {
    var offset = 0
    while offset < bytes.byteCount {
      guard offset + 2 <= bytes.byteCount else { throw .undecodable("the keys of a task end within a length") }
      let end = offset + 2 + Int(bytes.load(bigEndianAt: offset, as: UInt16.self))
      guard end <= bytes.byteCount else { throw .undecodable("the keys of a task end within a key") }
      keys.append(bytes.extracting((offset + 2)..<end).bytes(from: 0))
      offset = end
    }
  }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    for key in keys {
      output.append(bigEndian: UInt16(key.count))
      key.encode(into: &output)
    }
  }
}

/// The value of `ownIndexes`.
///
/// ```
/// offset size
///      0    8  the commit up to which the index is current
///      8    4  version
///     12       name
/// ```
struct OwnIndexState: BinaryCodable, Hashable {
  var sequence: UInt64
  let version: UInt32
  let name: String

  var encodedByteCount: Int { 12 + name.utf8.count }

  init(of index: TaskIndex, at sequence: UInt64) {
    (self.sequence, version, name) = (sequence, index.version, index.name)
  }

  init(decoding bytes: RawSpan) throws(LMDBError) {
    guard bytes.byteCount > 12 else { throw .undecodable("the state of an own index is too short") }
    sequence = bytes.load(bigEndianAt: 0)
    version = bytes.load(bigEndianAt: 8)
    name = try String(decoding: bytes.extracting(droppingFirst: 12))
  }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    output.append(bigEndian: sequence)
    output.append(bigEndian: version)
    name.encode(into: &output)
  }
}
