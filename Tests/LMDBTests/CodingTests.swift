import LMDB
import TestSupport
import Testing

@Suite struct CodingTests {
  private func encoded<T: BinaryCodable>(_ value: T) -> [UInt8] {
    // The codec writes into the array's own memory, whose size it announced.
    unsafe [UInt8](unsafeUninitializedCapacity: value.encodedByteCount) { buffer, written in
      let bytes = UnsafeMutableRawBufferPointer(buffer)
      var output = unsafe OutputRawSpan(buffer: bytes, initializedCount: 0)
      value.encode(into: &output)
      written = unsafe output.finalize(for: bytes)
    }
  }

  private func decoded<T: BinaryCodable>(_ bytes: [UInt8]) throws -> T {
    // The span is used within the call only.
    try unsafe T(decoding: bytes.span.bytes)
  }

  private func check<T: FixedWidthKey>(_ type: T.Type, with random: inout some RandomNumberGenerator) throws {
    var numbers: [T] = [.min, .min + 1, .max - 1, .max, 0, 1, T.max / 2]
    for _ in 0..<1000 {
      numbers.append(T.random(in: .min ... .max, using: &random) >> T.random(in: 0..<16, using: &random))
    }
    if T.isSigned { numbers.append(0 &- 1) }
    for number in numbers {
      let bytes = encoded(number)
      #expect(bytes.count == MemoryLayout<T>.size)
      #expect(try decoded(bytes) == number)
    }
    let sorted = numbers.sorted()
    for (left, right) in zip(sorted, sorted.dropFirst()) where left < right {
      #expect(encoded(left).lexicographicallyPrecedes(encoded(right)))
    }
  }

  @Test func orderOfIntegersIsTheOrderOfTheirBytes() throws {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: #function))
    try check(UInt16.self, with: &random)
    try check(UInt32.self, with: &random)
    try check(UInt64.self, with: &random)
    try check(Int16.self, with: &random)
    try check(Int32.self, with: &random)
    try check(Int64.self, with: &random)
  }

  @Test func integersHaveTheMostSignificantByteFirst() {
    #expect(encoded(UInt32(0x0102_0304)) == [1, 2, 3, 4])
    #expect(encoded(Int16(-1)) == [0x7F, 0xFF])
    #expect(encoded(Int16(1)) == [0x80, 0x01])
  }

  @Test(arguments: ["", "a", "\u{0}b", "e\u{301}", "🧑‍🚀", "\u{202E}x"])
  func textKeepsItsScalars(text: String) throws {
    let read: String = try decoded(encoded(text))
    #expect(Array(read.unicodeScalars) == Array(text.unicodeScalars))
  }
}
