import Testing

@testable import TallyCommands

/// One tree of facts gives the JSON and the records.
struct FactsTests {
  private let facts: Facts = [
    "name": .text("a\tb"), "absent": .text(nil), "inner": ["count": .count(2), "isTrue": .flag(true)],
    "rows": .array([["id": .count(1), "title": .text("one")], ["id": .count(2), "title": .text("two")]]),
    "days": .array([.count(5), .count(7)], labels: ["monday", "tuesday"]),
    .init("only", onlyIn: .json): .count(8), .init("only", onlyIn: .plain): .count(9),
  ]

  @Test func jsonHasEveryMemberExceptThoseOfRecords() {
    let expected = """
      {"name":"a\\tb","absent":null,"inner":{"count":2,"isTrue":true},\
      "rows":[{"id":1,"title":"one"},{"id":2,"title":"two"}],"days":[5,7],"only":8}

      """
    #expect(String(decoding: facts.json, as: UTF8.self) == expected)
  }

  @Test func fieldsAreNamedByTheirPaths() {
    let lines = [
      "name\ta\\tb", "absent\t", "inner.count\t2", "inner.isTrue\ttrue", "rows\t1\tone", "rows\t2\ttwo",
      "days\tmonday\t5", "days\ttuesday\t7", "only\t9", "",
    ]
    #expect(facts.records(.fields) == lines.joined(separator: "\n"))
  }

  @Test func columnsAreFoundByNameAtAnyDepth() {
    #expect(facts.records(.record(["inner.count", "absent", "name"])) == "2\t\ta\\tb\n")
    #expect(facts.records(.records([("rows", ["title", "id"]), ("days", [])])) == "one\t1\ntwo\t2\n5\n7\n")
    let sections: Facts = ["sections": .array([facts, facts])]
    #expect(sections.records(.records([("sections.rows", ["id"])])) == "1\n2\n1\n2\n")
  }
}
