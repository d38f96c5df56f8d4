import Foundation
import LMDB
import TallyEngine

/// A key of a table in which each entry belongs to a task or list; it ends in the identifier.
///
/// All keys of a type have the same width, so none is a prefix of another. They are ordered by their bytes, and so by
/// their fields, one after the other.
protocol IndexKey: KeyCodable, Hashable {
  /// The width of every key of this type, in bytes.
  static var width: Int { get }
  /// The task or list that the entry belongs to.
  var id: UUID { get }
  /// Decodes the fields of a key whose width has been checked.
  init(fields bytes: RawSpan)
}

extension IndexKey {
  var encodedByteCount: Int { Self.width }

  init(decoding bytes: RawSpan) throws(LMDBError) {
    guard bytes.byteCount == Self.width else {
      throw .undecodable("an index key has \(bytes.byteCount) bytes instead of \(Self.width)")
    }
    self.init(fields: bytes)
  }
}

/// An index: keys in ascending order, without values.
typealias Index<Key: IndexKey> = Database<Key, NoValue>
