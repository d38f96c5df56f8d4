import Foundation
import TestSupport
import Testing

@testable import Tally
@testable import TallyEngine

@Suite struct SegmentBuilderTests {
  @Test func tasksAreNumberedByRankAndTermsComeInOrder() {
    var builder = SegmentBuilder()
    builder.add(.task(1, created: 10), title: "tax form", notes: "Form of tax")
    builder.add(.task(2, created: 30, isCompleted: true), title: "牛乳")
    builder.add(.task(3, created: 20), title: "Milk", notes: "tax")
    var rows: [String: [String]] = [:]
    var order: [String] = []
    let members = builder.finish { term, list in
      let name = String(decoding: term, as: UTF8.self)
      order.append(name)
      rows[name] = Self.postings(list, of: 3).map { "\($0.0) \($0.1)" }
    }
    #expect(members.map(\.createdAt.microsecondsSince1970) == [20, 10, 30])
    #expect(order == order.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) })
    let expected = [
      "tax": ["0 notes", "1 title"], "form": ["1 title"], "of": ["1 notes"], "milk": ["0 title"], "牛乳": ["2 title"],
      "乳": ["2 title"],
    ]
    #expect(rows == expected)
  }

  @Test func theTermsOfAQueryAreAmongThoseOfEveryTextThatHasIt() {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "terms"))
    var folder = TextFolder()
    var foundCount = 0
    for _ in 0..<4_000 {
      let title = RandomText.title(using: &generator) + (generator.oneIn(5) ? String(repeating: "lóng", count: 40) : "")
      let query = SearchQuery(RandomText.query(using: &generator))
      guard SearchMatcherTests.marked(title, query) != nil else { continue }
      foundCount += 1
      var terms: [[UInt8]] = []
      let folded = FoldedText(title, with: &folder).utf8
      IndexTerm.forEach(in: folded) { terms.append(Array(folded[$0])) }
      #expect(
        terms.allSatisfy { $0.count <= IndexTerm.maximumByteCount && String(validating: $0, as: UTF8.self) != nil })
      for term in query.terms.flatMap(\.words).flatMap({ IndexTerm.terms(of: $0) }) {
        #expect(terms.contains { $0.starts(with: term) })
      }
    }
    #expect(foundCount > 100)
  }

  @Test func postingsAreReadAsTheyWereWritten() {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "postings"))
    for _ in 0..<500 {
      var list: [UInt8] = []
      var expected: [(Int, SearchedField)] = []
      for _ in 0..<Int.random(in: 1...40, using: &generator) {
        let distance = Int.random(in: 1...(generator.oneIn(4) ? 100_000 : 40), using: &generator)
        let task = (expected.last?.0 ?? -1) + distance
        let field = SearchedField.allCases.randomElement(using: &generator) ?? .title
        PostingList.append(task, field, after: expected.last?.0, to: &list)
        expected.append((task, field))
      }
      let read = Self.postings(list, of: (expected.last?.0 ?? 0) + 1)
      #expect(read.elementsEqual(expected) { $0 == $1 })
    }
  }

  @Test(
    arguments: [[0x80], [0x03], [0x00], [0x07], [0x04, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01], [0x2C]]
      as [[UInt8]])
  func whatIsNoListOfPostingsIsRefused(bytes: [UInt8]) {
    #expect(unsafe !PostingList.forEach(in: bytes.span.bytes, of: 10) { _, _ in })
  }

  private static func postings(_ list: [UInt8], of count: Int) -> [(Int, SearchedField)] {
    var postings: [(Int, SearchedField)] = []
    #expect(unsafe PostingList.forEach(in: list.span.bytes, of: count) { postings.append(($0, $1)) })
    return postings
  }
}

extension SegmentBuilder.Member {
  fileprivate static func task(_ number: Int64, created: Int64, isCompleted: Bool = false) -> Self {
    Self(
      id: UUID(high: 0, low: UInt64(number)), createdAt: Timestamp(clamping: created), isCompleted: isCompleted)
  }
}

extension SegmentBuilder {
  fileprivate mutating func add(_ member: Member, title: String, notes: String = "") {
    add(member)
    unsafe add(Array(title.utf8).span.bytes, as: .title)
    unsafe add(Array(notes.utf8).span.bytes, as: .notes)
  }
}
