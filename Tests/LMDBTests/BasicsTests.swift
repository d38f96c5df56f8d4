import LMDB
import Testing

@Suite struct BasicsTests {
  let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  @Test func committedValuesAreReadBack() throws {
    let environment = try Environment(path: directory.path)
    let numbers = try environment.write { transaction in
      let numbers = try Database<UInt64, String>(opening: "numbers", creating: true, in: &transaction)
      for number in 0..<UInt64(100) { try numbers.put("\(number)", forKey: number, in: &transaction) }
      return numbers
    }
    try environment.read { transaction in
      #expect(try numbers.value(forKey: 7, in: transaction) == "7")
      #expect(try numbers.value(forKey: 100, in: transaction) == nil)
      #expect(try numbers.bytes(forKey: 42, in: transaction)?.byteCount == 2)
      #expect(try numbers.count(in: transaction) == 100)
      var cursor = try numbers.cursor(in: transaction)
      var seen: [UInt64] = []
      while try cursor.next() { seen.append(try cursor.key()) }
      #expect(seen == Array(0..<100))
      #expect(try cursor.previous())
      #expect(try cursor.value() == "99")
    }
    try environment.close()
    let again = try Environment(path: directory.path)
    let reopened = try Database<UInt64, String>(opening: "numbers", in: again)
    #expect(try again.read { try reopened.value(forKey: 99, in: $0) } == "99")
  }
}
