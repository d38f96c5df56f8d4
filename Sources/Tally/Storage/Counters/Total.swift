import LMDB
import TallyEngine

/// A counter over all time, the value in `totals`: 8 bytes.
struct Total: BinaryCodable, Equatable {
  /// More than any store can hold, and small enough that sums of many totals cannot overflow.
  private static let greatestCount: Int64 = 1 << 48

  let count: Int64

  var encodedByteCount: Int { MemoryLayout<Int64>.size }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    UInt64(count).encode(into: &output)
  }
}

extension Total {
  init(decoding bytes: RawSpan) throws(LMDBError) {
    let number = try UInt64(decoding: bytes)
    guard number <= UInt64(Self.greatestCount) else { throw .undecodable("a counter is out of its range") }
    count = Int64(number)
  }
}
