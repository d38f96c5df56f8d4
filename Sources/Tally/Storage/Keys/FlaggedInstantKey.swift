import Foundation
import LMDB

/// A flag, then an instant and an identifier; 25 bytes.
///
/// The flag separates two kinds of entries, each ordered by time. `Table` is a phantom type, of which no value exists:
/// it prevents looking up a key of one table in the other.
struct FlaggedInstantKey<Table>: IndexKey {
  static var width: Int { 1 + InstantKey.width }
  let flag: Bool
  let instant: InstantKey

  var id: UUID { instant.id }

  init(flag: Bool, instant: InstantKey) {
    self.flag = flag
    self.instant = instant
  }

  init(fields bytes: RawSpan) {
    flag = bytes.load(bigEndianAt: 0, as: UInt8.self) != 0
    instant = InstantKey(fields: bytes.extracting(1..<Self.width))
  }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    output.append(flag ? 1 : 0)
    instant.encode(into: &output)
  }
}
