import Foundation
import LMDB

/// A flag, then an instant and an identifier; 25 bytes.
///
/// The flag separates two kinds of entries, each in the order of time. `Table` stands for the table and is never
/// created: without it a key of one table could be looked up in the other.
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
