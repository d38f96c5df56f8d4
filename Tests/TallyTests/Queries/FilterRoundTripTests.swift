import Foundation
import Synchronization
import TallyTestSupport
import TestSupport
import Testing

@testable import Tally

struct FilterRoundTripTests {
  /// The bug: each query checked a filter that was composed in Swift again.
  @Test func aFilterIsCheckedOnce() throws {
    func isKnown(_ filter: TaskFilter) -> Bool { filter.knowledge.isValid.load(ordering: .relaxed) }
    let filter: TaskFilter = .tag("home") && !.has(.notes) || .state(.active)
    #expect(!isKnown(filter))
    let copy = filter
    try withStore { store in _ = try store.read { try $0.count(filter) } }
    #expect(isKnown(copy))
    #expect(try isKnown(TaskFilter(text: "#home")))
    // A filter that is composed of it is another one, and equal filters do not share what is known.
    #expect(!isKnown(filter && .tag("x")))
    #expect(try TaskFilter(text: "#home") == .tag("home"))
    #expect(try TaskFilter(text: "#home").hashValue == TaskFilter.tag("home").hashValue)
    let invalid = TaskFilter.tag("")
    for _ in 0..<2 { #expect(throws: TallyError.self) { try invalid.validate() } }
  }

  @Test func everyComposedFilterIsReadFromItsText() throws {
    let seed = SeededGenerator.chooseSeed(for: "everyComposedFilterIsReadFromItsText")
    var random = RandomFilter(seed: seed)
    for round in 0..<1_000 {
      let filter = random.filter(depth: round % 7)
      #expect(try TaskFilter(text: filter.text) == filter, "\(filter.text)")
      try filter.validate()
    }
  }

  @Test func everyTextIsRefusedInItsBoundsOrHasAStableCanonicalText() throws {
    let seed = SeededGenerator.chooseSeed(for: "everyTextIsRefusedInItsBoundsOrHasAStableCanonicalText")
    var random = RandomFilter(seed: seed)
    var readCount = 0
    for round in 0..<4_000 {
      let text = round.isMultiple(of: 2) ? random.text() : random.damaged(random.filter(depth: 3).text)
      do {
        let filter = try TaskFilter(text: text)
        readCount += 1
        #expect(try TaskFilter(text: filter.text) == filter, "\(text)")
        #expect(try TaskFilter(text: filter.text).text == filter.text, "\(text)")
      } catch {
        #expect(error.code == .invalidFilter)
        #expect(error.position.map { (1...text.count + 1).contains($0.column) } ?? false, "\(text)")
      }
    }
    #expect(readCount > 400)
  }

  @Test func aFilterIsCodedAsItsText() throws {
    let filter: TaskFilter = .tag("home") && .due(before: .tomorrow) && !.has(.notes)
    let json = try JSONEncoder().encode(filter)
    #expect(String(decoding: json, as: UTF8.self) == "\"#home due<tomorrow -has:notes\"")
    #expect(try JSONDecoder().decode(TaskFilter.self, from: json) == filter)
    #expect(throws: DecodingError.self) { try JSONDecoder().decode(TaskFilter.self, from: Data("\"due<\"".utf8)) }
  }

  @Test(arguments: ["(", "-", "not ", "a or (b ", "-(", "--("])
  func nestingIsBounded(piece: String) throws {
    let error = try #require(throws: TallyError.self) {
      try TaskFilter(text: String(repeating: piece, count: 9_000 / piece.count) + "x")
    }
    #expect(error.code == .invalidFilter && error.remedy == "Remove parentheses or negations")
  }

  @Test func sixtyFourLevelsAreReadAndOneMoreIsNot() throws {
    func text(_ depth: Int) -> String {
      String(repeating: "-(a ", count: depth / 2) + "b" + String(repeating: ")", count: depth / 2)
    }
    let filter = try TaskFilter(text: text(64))
    #expect(try TaskFilter(text: filter.text) == filter)
    let error = try #require(throws: TallyError.self) { try TaskFilter(text: text(66)) }
    #expect(error.position?.column == 4 * 32 + 1)
    // `-state:active` takes a level that `state!=active` does not.
    #expect(throws: TallyError.self) { try TaskFilter(text: text(64).replacing("b", with: "state!=active")) }
  }

  @Test func lengthIsBounded() throws {
    let limit = TaskFilter.maximumLength
    #expect(try TaskFilter(text: String(repeating: "x", count: limit)).text.count == limit)
    for text in [String(repeating: "x", count: limit + 1), String(repeating: "é", count: 10_000_000)] {
      let error = try #require(throws: TallyError.self) { try TaskFilter(text: text) }
      #expect(error.code == .invalidFilter && error.position?.column == 1)
    }
    // Shorter than the limit, but not in its canonical form.
    let growing = String(repeating: "due<\"5 pm\" ", count: 1)
    #expect(try TaskFilter(text: growing).text == "due<17:00")
    #expect(throws: TallyError.self) { try TaskFilter(text: String(repeating: "a!\n", count: limit / 3)) }
  }

  @Test func whatIsComposedTooDeepIsRefusedAndNotFollowed() throws {
    var filter: TaskFilter = .tag("a")
    for _ in 0..<100_000 { filter = (filter && .tag("b")) || .tag("c") }
    #expect(throws: TallyError.self) { try filter.validate() }
    #expect((!filter) == filter)
    #expect(throws: EncodingError.self) { try JSONEncoder().encode(filter) }
  }

  @Test(arguments: [
    TaskFilter.text(contains: ""), .tag(""), .tag("a,b"), .tag(String(repeating: "x", count: 65)), .list(""),
    .attribute("", .equals, 1), .has(attribute: ""), .text(contains: String(repeating: "x", count: 10_001)),
  ])
  func validatingRefusesWhatNoTaskCanHave(filter: TaskFilter) {
    #expect(throws: TallyError.self) { try filter.validate() }
  }

  private func expect(_ filter: TaskFilter, _ other: TaskFilter, _ location: SourceLocation = #_sourceLocation) {
    #expect(filter == other, sourceLocation: location)
  }

  @Test func compositionHasANormalForm() {
    let (a, b, c): (TaskFilter, TaskFilter, TaskFilter) = (.tag("a"), .tag("b"), .tag("c"))
    expect((a && b) && c, a && (b && c))
    expect((a || b) || c, a || (b || c))
    expect(!(!a), a)
    expect(a && .all, a)
    expect(a || .all, .all)
    expect(a && !.all, !.all)
    expect(a || !.all, a)
    #expect((a && b) != (b && a))
    #expect(TaskFilter.priority(.isNot, .high) == !.priority(.high))
    #expect(TaskFilter.priority(.contains, .high) == !.all)
    #expect(TaskFilter.due(after: .today, before: .tomorrow).text == "due>today due<tomorrow")
    #expect(TaskFilter.day(on: .today).text == "day=today")
  }
}
