import Foundation
import LMDB
import SystemPackage
import TallyTestSupport
import Testing

@testable import Tally

@Suite struct SearchIndexCheckTests {
  /// What may be wrong with the index: each must be found, and mended by a repair.
  enum Damage: String, CaseIterable {
    case missingSegment, missingTerm, wrongTerm, missingPosting, wrongField, missingMember, wrongCreation, wrongFirst
    case strangeRow, noState, beyondTheLog, strangePosting
  }

  @Test(arguments: Damage.allCases)
  func damageIsFoundAndRepaired(damage: Damage) throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      let store = try TaskStore(at: path, configuration: .testing())
      try Self.fill(store)
      #expect(try store.verify().isSound)
      try store.writeAndWait { try $0.damage(damage) }
      #expect(try store.verify().faults.contains { $0.table == "search" })
      try store.close()
      #expect(try TaskStore.repair(at: path, configuration: .testing()).after.isSound)
      let repaired = try TaskStore(at: path, configuration: .testing())
      try Self.expectMatches(in: repaired)
      try repaired.updateSearchIndex()
      try Self.expectMatches(in: repaired)
      try checkInvariants(of: repaired)
      try repaired.close()
    }
  }

  /// An index of rules that another version has is not used, nor is it a fault.
  @Test func anIndexOfAnotherVersionIsBuiltAgain() throws {
    try withStore { store in
      try Self.fill(store)
      try store.writeAndWait { transaction in
        var state = SearchState().encodedBytes
        state[1] = UInt8(SearchState.knownVersions.upperBound + 1)
        try transaction.tables.search.put(state, forKey: SearchKey(.state), in: &transaction.base)
      }
      try Self.expectMatches(in: store)
      #expect(try store.verify().isSound)
      try store.updateSearchIndex()
      try Self.expectMatches(in: store)
      #expect(try store.read { try SearchIndex($0.tables, in: $0.base).segments.count } == 1)
    }
  }

  /// Version 1 did not say when the first task of a segment was created.
  @Test func anIndexOfVersion1IsUsedAndContinued() throws {
    try withStore { store in
      try Self.fill(store)
      try store.writeAndWait { try $0.makeSearchIndexOfVersion1() }
      let old = try store.read { try SearchIndex($0.tables, in: $0.base) }
      #expect(old.segments.map(\.firstCreatedAt) == [nil])
      try Self.expectMatches(in: store)
      #expect(try store.verify().isSound)
      try store.writeAndWait { transaction in
        for number in 200..<300 { _ = try transaction.add("tax form \(number)") }
      }
      try store.updateSearchIndex()
      let index = try store.read { try SearchIndex($0.tables, in: $0.base) }
      #expect(index.segments.map { $0.firstCreatedAt == nil } == [true, false])
      let matches = try store.search(SearchQuery("tax form"))
      #expect(matches.count == 301)
      for limit in [1, 20, 250] {
        #expect(try store.search(SearchQuery("tax form"), limit: limit) == Array(matches.prefix(limit)))
      }
      #expect(try store.verify().isSound)
    }
  }

  @Test func aStepThatIsRolledBackLeavesTheIndexAsItWas() throws {
    struct Stop: Error {}
    try withStore { store in
      try Self.fill(store)
      let before = try store.read { try SearchIndex($0.tables, in: $0.base).state }
      try store.writeAndWait { _ = try $0.add("another tax form") }
      #expect(throws: Stop.self) {
        try store.writeAndWait { transaction in
          _ = try SearchIndexer(tables: transaction.tables).advance(atMost: 10, byteCount: .max, in: &transaction.base)
          throw Stop()
        }
      }
      #expect(try store.read { try SearchIndex($0.tables, in: $0.base).state } == before)
      #expect(try store.search(SearchQuery("another")).count == 1)
    }
  }

  @Test func aStoreThatIsOpenForReadingIsSearchedButNotIndexed() throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      let writer = try TaskStore(at: path, configuration: .testing())
      try writer.writeAndWait { _ = try $0.add("tax form") }
      try writer.close()
      var configuration = TaskStore.Configuration.testing()
      configuration.isReadOnly = true
      let reader = try TaskStore(at: path, configuration: configuration)
      #expect(try reader.search(SearchQuery("form")).count == 1)
      #expect(throws: TallyError.self) { try reader.updateSearchIndex() }
      try reader.close()
    }
  }

  private static func fill(_ store: TaskStore) throws {
    try store.writeAndWait { transaction in
      for number in 0..<200 { _ = try transaction.add("tax form \(number)") }
      let task = try transaction.add("牛乳を買う")
      _ = try transaction.update(task.id) { $0.notes = "with the tax form" }
    }
    try store.updateSearchIndex()
  }

  private static func expectMatches(in store: TaskStore) throws {
    #expect(try store.search(SearchQuery("tax form")).count == 201)
    #expect(try store.search(SearchQuery("form 17")).count == 11)
    #expect(try store.search(SearchQuery("買う")).count == 1)
  }
}

extension StoreWriteTransaction {
  fileprivate mutating func damage(_ damage: SearchIndexCheckTests.Damage) throws {
    let segment = try #require(try SearchIndex(tables, in: base).segments.first)
    let tax = SearchKey(.term, of: segment.number, Array("tax".utf8))
    let members = SearchKey(.members, of: segment.number, number: 0)
    switch damage {
    case .missingSegment: _ = try tables.search.remove(forKey: SearchKey(.segment, number: segment.number), in: &base)
    case .missingTerm: _ = try tables.search.remove(forKey: tax, in: &base)
    case .wrongTerm: try put(0x04, forKey: SearchKey(.term, of: segment.number, Array("taxi".utf8)))
    case .missingPosting: try edit(tax) { $0.removeLast() }
    case .wrongField: try edit(tax) { $0[0] ^= 1 }
    case .missingMember: try edit(members) { $0.removeLast() }
    case .wrongCreation: try edit(members) { $0[23] ^= 1 }
    case .wrongFirst: try edit(SearchKey(.segment, number: segment.number)) { $0[$0.count - 1] ^= 1 }
    case .strangeRow: try put(0, forKey: SearchKey(.term, of: segment.number + 7, Array("tax".utf8)))
    case .noState: _ = try tables.search.remove(forKey: SearchKey(.state), in: &base)
    case .beyondTheLog: try edit(SearchKey(.state)) { $0[8] = 1 }
    case .strangePosting: try edit(tax) { $0.append(0x03) }
    }
  }

  /// Takes from each segment, and from the state, what version 2 has added.
  fileprivate mutating func makeSearchIndexOfVersion1() throws {
    for segment in try SearchIndex(tables, in: base).segments {
      try edit(SearchKey(.segment, number: segment.number)) { $0.removeLast(8) }
    }
    try edit(SearchKey(.state)) { $0[1] = 1 }
  }

  private mutating func put(_ byte: UInt8, forKey key: SearchKey) throws {
    try tables.search.put([byte], forKey: key, in: &base)
  }

  private mutating func edit(_ key: SearchKey, _ body: (inout [UInt8]) -> Void) throws {
    var value = try #require(try tables.search.value(forKey: key, in: base))
    body(&value)
    try tables.search.put(value, forKey: key, in: &base)
  }
}
