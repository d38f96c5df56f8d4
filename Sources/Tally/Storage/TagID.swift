import Foundation

/// The identity of a tag in keys: a hash of its folded text, in the form of a UUID.
///
/// A hash, because keys have a fixed width and an index's keys follow from the record alone; numbers given in the order
/// of first use would need a lookup for each. SipHash-2-4 with 128 bits: texts that collide cannot be expected to exist.
/// Stored: do not change it.
enum TagID {
  static func of(_ tag: String) -> UUID {
    SipHash128.hash(TagSet.folded(tag).utf8).uuid
  }
}

extension TagSet {
  /// The identities of the tags, in ascending order.
  var ids: [UUID] {
    isEmpty ? [] : map(TagID.of).sorted { $0.precedes($1) }
  }
}
