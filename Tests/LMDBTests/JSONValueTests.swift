import LMDB
import Testing

@Suite struct JSONValueTests {
  private struct Person: Codable, Equatable {
    var name: String
    var birth: Double?
    var links: [String: Int] = [:]
  }

  private typealias People = Database<UInt64, JSONValue<Person>>

  @Test func valueIsReadBack() throws {
    let sample = try Sample()
    let ada = Person(name: "Ada/\"\u{0}é", birth: 1815.9, links: ["b": 2, "a": 1])
    try sample.environment.write { (transaction) throws in
      let people = try People(opening: "people", creating: true, in: &transaction)
      try people.put(JSONValue(ada), forKey: 1, in: &transaction)
      #expect(try people.value(forKey: 1, in: transaction)?.value == ada)
      #expect(try people.value(forKey: 1, in: transaction) == JSONValue(ada))
    }
  }

  @Test func equalValuesHaveEqualBytesWithSortedKeys() throws {
    let links = ["z": 1, "a/b": 2, "m": 3]
    let text = #"{"links":{"a/b":2,"m":3,"z":1},"name":"x"}"#
    #expect(encoded(try JSONValue(Person(name: "x", links: links))) == Array(text.utf8))
    // A value that was read keeps its text, so that nothing is lost that only a newer version writes.
    let newer = Array(#"{"name": "x", "links": {}, "mood": "fine"}"#.utf8)
    #expect(encoded(try decoded(newer, as: JSONValue<Person>.self)) == newer)
  }

  @Test func valueWithoutAFormInJSONIsRefusedAndNotQuoted() throws {
    do {
      _ = try JSONValue(Person(name: "secret", birth: .infinity))
      Issue.record("infinity was encoded")
    } catch {
      #expect(error.code == .unencodable)
      #expect(!"\(error)".contains("secret") && !"\(error)".contains("inf"))
      let cause = try #require(error.cause as? EncodingError)
      #expect("\(cause)".contains("birth") && !"\(cause)".contains("inf"))
    }
  }

  @Test(arguments: ["", "{", #"{"name": 1}"#, "[]", "null"])
  func otherBytesAreUndecodable(text: String) throws {
    let error = #expect(throws: LMDBError.self) { _ = try decoded(Array(text.utf8), as: JSONValue<Person>.self) }
    #expect(error?.code == .undecodable)
    #expect(error?.cause is DecodingError)
  }

  @Test func theCauseSaysWhereAndQuotesNothing() throws {
    let text = #"{"name": "secret", "birth": "private"}"#
    let error = #expect(throws: LMDBError.self) { _ = try decoded(Array(text.utf8), as: JSONValue<Person>.self) }
    let cause = "\(try #require(error?.cause))"
    #expect(cause.contains("birth"))
    #expect(!cause.contains("secret") && !cause.contains("private"))
  }
}
