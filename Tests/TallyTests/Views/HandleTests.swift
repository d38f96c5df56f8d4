import Foundation
import TallyTestSupport
import Testing

@testable import Tally

/// A task's handle is the shortest tail of its identifier that no other task has.
@Suite struct HandleTests {
  @Test func aHandleHasFourDigitsWhereTheyAreEnough() throws {
    try withTasks(["00000000-0000-7000-8000-00000000abcd", "00000000-0000-7000-8000-00000000abce"]) {
      (store, ids) throws in
      #expect(try handles(of: ids, in: store) == ["abcd", "abce"])
    }
  }

  @Test func aHandleIsOneDigitLongerThanWhatItSharesWithAnyOther() throws {
    let texts = [
      "00000000-0000-7000-8000-0000000fabcd", "00000000-0000-7000-8000-0000001fabcd",
      "00000000-0000-7000-8000-0000002eabcd", "10000000-0000-7000-8000-0000001fabcd",
    ]
    try withTasks(texts) { (store, ids) throws in
      let expected = ["0fabcd", "000000000000700080000000001fabcd", "eabcd", "10000000000070008000" + "0000001fabcd"]
      #expect(try handles(of: ids, in: store) == expected)
      for (id, handle) in zip(ids, expected) {
        #expect(try store.read { try $0.taskIDs(withHandle: handle) } == [id])
        let shorter = try store.read { try $0.taskIDs(withHandle: String(handle.dropFirst())) }
        #expect(shorter.count > 1 && shorter.contains(id))
      }
    }
  }

  @Test func twoIDsThatShareAllButTheFirstDigitHaveWholeHandles() throws {
    let texts = ["a1234567-89ab-7def-8123-456789abcdef", "b1234567-89ab-7def-8123-456789abcdef"]
    try withTasks(texts) { (store, ids) throws in
      #expect(try handles(of: ids, in: store) == texts.map { $0.filter { $0 != "-" } })
      #expect(try store.read { try $0.taskIDs(withHandle: String(texts[0].dropFirst())) } == ids)
      #expect(try store.read { try $0.taskIDs(withHandle: texts[1]) } == [ids[1]])
    }
  }

  @Test func handlesAreReadInEitherCaseWithDashesAnywhere() throws {
    let text = "0193f1c2-89ab-7def-8123-456789abcdef"
    try withTasks([text, "0193f1c2-89ab-7def-8123-000000000000"]) { (store, ids) throws in
      for handle in [text, text.uppercased(), "CDEF", "cd-ef", "-cdef-", "89ABCDEF", "8123-456789abcdef"] {
        #expect(try store.read { try $0.taskIDs(withHandle: handle) } == [ids[0]], "\(handle)")
      }
    }
  }

  @Test func textThatIsNotAHandleMatchesNoTask() throws {
    try withTasks(["0193f1c2-89ab-7def-8123-456789abcdef"]) { (store, _) throws in
      for text in [
        "", "-", "def", "d-e-f", "xdef", "cde g", "0cdef", "ｃｄｅｆ", "cd\u{301}ef", "cdef ",
        "00193f1c2-89ab-7def-8123-456789abcdef", String(repeating: "f", count: 100_000),
      ] {
        #expect(try store.read { try $0.taskIDs(withHandle: text) }.isEmpty, "\(text.prefix(40))")
      }
    }
  }

  @Test func noMoreAreGivenThanAskedFor() throws {
    let texts = (0..<20).map { "\(10_000_000 + $0)-0000-7000-8000-00000000abcd" }
    try withTasks(texts) { (store, _) throws in
      #expect(try store.read { try $0.taskIDs(withHandle: "abcd", limit: 3) }.count == 3)
      #expect(try store.read { try $0.taskIDs(withHandle: "abcd") }.count == 10)
      #expect(try store.read { try $0.taskIDs(withHandle: "abcd", limit: 100) }.count == 20)
      #expect(try store.read { try $0.taskIDs(withHandle: "abcd", limit: 0) }.isEmpty)
    }
  }

  @Test func everyHandleOfManyTasksIsUniqueAndShortest() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "handles"))
    let ids = (0..<1_000).map { _ in generator.uuid() }
    let tails = ids.map { String($0.uuidString.lowercased().filter { $0 != "-" }) }
    try withTasks(ids.map(\.uuidString)) { (store, _) throws in
      for (id, handle) in zip(ids, try handles(of: ids, in: store)) {
        #expect(tails.count { $0.hasSuffix(handle) } == 1)
        #expect(handle.count == 4 || tails.count { $0.hasSuffix(handle.dropFirst()) } > 1)
        #expect(try store.read { try $0.taskIDs(withHandle: handle) } == [id])
      }
    }
  }

  private func handles(of ids: [UUID], in store: TaskStore) throws -> [String] {
    try store.read { transaction in try ids.map { try transaction.handle(of: $0) } }
  }

  private func withTasks(_ texts: [String], _ body: (TaskStore, [UUID]) throws -> Void) throws {
    try withStore { store in
      let ids = try texts.map { try #require(UUID(uuidString: $0)) }
      try store.writeAndWait { transaction in
        for id in ids { _ = try transaction.add(TaskDraft(id: id, title: "x")) }
      }
      try body(store, ids)
    }
  }
}
