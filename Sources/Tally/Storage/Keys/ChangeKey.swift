import Foundation
import LMDB
import TallyEngine

/// The kinds of objects whose changes are tracked; the raw values are stored: do not change them.
enum ObjectKind: UInt8 {
  case task = 1
  case list = 2
}

/// The key of `byChange`: the last commit that changed an object, the object's kind, and its id; 25 bytes.
///
/// Each object has one row. A deleted object keeps its row, at the commit that deleted it: see `Tombstone`.
struct ChangeKey: IndexKey {
  /// The raw values are stored: do not change them.
  enum Kind: UInt8 {
    case task = 1
    case list = 2
    case deletedTask = 3
    case deletedList = 4

    /// The kind of row of an object that exists.
    init(_ kind: ObjectKind) {
      self = kind == .task ? .task : .list
    }

    /// The kind of row that a deletion leaves.
    init(deleted kind: ObjectKind) {
      self = kind == .task ? .deletedTask : .deletedList
    }
  }

  static let width = 9 + IDKey.width
  let sequence: UInt64
  let kindRawValue: UInt8
  let id: UUID

  /// The kind of row; `nil` if only a newer version knows it.
  var kind: Kind? { Kind(rawValue: kindRawValue) }

  init(sequence: UInt64, _ kind: Kind, _ id: UUID) {
    self.sequence = sequence
    kindRawValue = kind.rawValue
    self.id = id
  }

  init(fields bytes: RawSpan) {
    sequence = bytes.load(bigEndianAt: 0)
    kindRawValue = bytes.load(bigEndianAt: 8)
    id = bytes.load(idAt: 9)
  }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    output.append(bigEndian: sequence)
    output.append(kindRawValue)
    output.append(id)
  }

  /// A key before every row of the commits after a sequence.
  static func start(after sequence: UInt64) -> ChangeKey {
    ChangeKey(sequence: sequence + 1, .task, .lowest)
  }
}

/// The key of `tombstones`: the kind of a deleted object and its id; 17 bytes.
struct TombstoneKey: IndexKey {
  static let width = 1 + IDKey.width
  let kindRawValue: UInt8
  let id: UUID

  init(_ kind: ObjectKind, _ id: UUID) {
    kindRawValue = kind.rawValue
    self.id = id
  }

  /// The key of a series in the table of pending changes; a series has no tombstone.
  init(ofSeries id: UUID) {
    (kindRawValue, self.id) = (Self.seriesKind, id)
  }

  /// Whether it is the key of a series.
  var isOfSeries: Bool { kindRawValue == Self.seriesKind }

  /// Stored: do not change it.
  private static let seriesKind: UInt8 = 3

  init(fields bytes: RawSpan) {
    kindRawValue = bytes.load(bigEndianAt: 0)
    id = bytes.load(idAt: 1)
  }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    output.append(kindRawValue)
    output.append(id)
  }
}
