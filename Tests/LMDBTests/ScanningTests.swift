import LMDB
import Testing

@Suite struct ScanningTests {
  private func keys(
    of sample: Sample,
    from lower: UInt64? = nil,
    upTo upper: UInt64? = nil,
    reversed: Bool = false
  ) throws -> [UInt64] {
    try sample.environment.read { (transaction) throws in
      var keys: [UInt64] = []
      try sample.numbers.forEach(from: lower, upTo: upper, reversed: reversed, in: transaction) { key, value in
        keys.append(try UInt64(decoding: key))
        return true
      }
      return keys
    }
  }

  @Test func rangesAgreeWithAFilterInBothDirections() throws {
    let sample = try Sample()
    let all = stride(from: UInt64(10), through: 30, by: 2).map { $0 }
    try sample.environment.write { (transaction) throws in
      for key in all { try sample.numbers.put([], forKey: key, in: &transaction) }
    }
    let bounds: [UInt64?] = [nil] + (8...32).map { UInt64?($0) } + [.max]
    for lower in bounds {
      for upper in bounds {
        let expected = all.filter { $0 >= lower ?? 0 && ($0 < upper ?? .max) }
        #expect(try keys(of: sample, from: lower, upTo: upper) == expected)
        #expect(try keys(of: sample, from: lower, upTo: upper, reversed: true) == expected.reversed())
      }
    }
  }

  @Test func rangesOfEveryKindAgreeWithAFilterInBothDirections() throws {
    let sample = try Sample()
    // The longest keys have no next one of their own length.
    let longest = String(repeating: "b", count: 511)
    let all = ["a", "a\u{0}", "aa", "b", longest, "c", "d\u{E9}"]
    let bounds = all + ["0", "bb", "z"]
    try sample.environment.write { (transaction) throws in
      let texts = try Database<String, NoValue>(opening: "texts", creating: true, in: &transaction)
      for key in all { try texts.put(NoValue(), forKey: key, in: &transaction) }
      func check(_ range: some KeyRange<String>) throws {
        for reversed in [false, true] {
          var seen: [String] = []
          try texts.forEach(within: range, reversed: reversed, in: transaction) { key, _ in
            seen.append(try String(decoding: key))
            return true
          }
          let expected = all.filter { range.contains($0) }
          #expect(seen == (reversed ? expected.reversed() : expected), "\(range)")
        }
      }
      for lower in bounds {
        try check(lower...)
        try check(..<lower)
        try check(...lower)
        for upper in bounds where lower <= upper {
          try check(lower..<upper)
          try check(lower...upper)
        }
      }
    }
  }

  @Test func rangeWithABoundThatCannotBeAKeyIsRefused() throws {
    let sample = try Sample()
    try sample.environment.write { (transaction) throws in
      let texts = try Database<String, NoValue>(opening: "texts", creating: true, in: &transaction)
      #expect(try code { try texts.forEach(within: ""..., in: transaction) { _, _ in true } } == .badKeySize)
      let long = String(repeating: "a", count: 512)
      #expect(try code { try texts.removeAll(within: ...long, in: &transaction) } == .badKeySize)
    }
  }

  @Test func scanEndsWhereTheBodySaysSo() throws {
    let sample = try Sample()
    try sample.environment.write { (transaction) throws in
      for key in UInt64(0)..<10 { try sample.numbers.put([], forKey: key, in: &transaction) }
    }
    for reversed in [false, true] {
      var count = 0
      try sample.environment.read { (transaction) throws in
        try sample.numbers.forEach(reversed: reversed, in: transaction) { _, _ in
          count += 1
          return count < 3
        }
      }
      #expect(count == 3)
    }
  }

  @Test func prefixesAgreeWithAFilterInBothDirections() throws {
    let sample = try Sample()
    let letters: [UInt8] = [0x00, 0x61, 0xFE, 0xFF]
    var all: [[UInt8]] = letters.map { [$0] }
    for _ in 0..<2 { all += all.flatMap { head in letters.map { head + [$0] } } }
    all = Array(Set(all)).sorted { $0.lexicographicallyPrecedes($1) }
    try sample.environment.write { (transaction) throws in
      for key in all { try sample.bytes.append(key, forKey: key, in: &transaction) }
    }
    try sample.environment.read { (transaction) throws in
      for prefix in all + [[], [0x62], [0xFF, 0xFF, 0xFF, 0xFF, 0xFF]] {
        let expected = all.filter { $0.starts(with: prefix) }
        for reversed in [false, true] {
          var seen: [[UInt8]] = []
          try sample.bytes.forEach(withPrefix: prefix, reversed: reversed, in: transaction) { key, value in
            seen.append(try [UInt8](decoding: key))
            #expect(try [UInt8](decoding: value) == seen.last)
            return true
          }
          #expect(seen == (reversed ? expected.reversed() : expected))
        }
      }
    }
  }

  @Test func prefixLongerThanAnyKeyIsRefused() throws {
    let sample = try Sample()
    try sample.environment.read { (transaction) throws in
      let prefix = [UInt8](repeating: 1, count: 512)
      let seen = try code { try sample.bytes.forEach(withPrefix: prefix, in: transaction) { _, _ in true } }
      #expect(seen == .badKeySize)
    }
  }

  @Test func errorOfTheBodyEndsTheScanAndComesOut() throws {
    struct Stop: Error {}
    let sample = try Sample()
    try sample.put([], forKey: 1)
    #expect(throws: Stop.self) {
      try sample.environment.read { try sample.numbers.forEach(in: $0) { _, _ in throw Stop() } }
    }
    try sample.environment.close()
  }
}
