import Foundation
import LMDB

/// A key of a table that has one entry per task or list; it ends in the identifier.
///
/// All keys have a fixed width, so none is a prefix of another. Their order is that of their bytes, and so that of the
/// fields, one after the other.
protocol IndexKey: KeyCodable, Hashable {
  /// How many bytes each key of this kind takes.
  static var width: Int { get }
  /// The task or list that the entry belongs to.
  var id: UUID { get }
  /// Reads the fields of a key whose width has been checked.
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

/// An index: entries in the key's order, with no value.
typealias Index<Key: IndexKey> = Database<Key, NoValue>
