import Foundation
import TallyEngine

/// The identity of a tag in keys: a hash of its folded text, in the form of a UUID.
///
/// It is a hash because keys have a fixed width and an index's keys must follow from the record alone; numbers assigned
/// in the order of first use would need a lookup for each tag. The hash is SipHash-2-4 with 128 bits, so no two texts
/// can be expected to collide. Stored: do not change it.
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
