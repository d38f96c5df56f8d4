import Foundation
import TallyTestSupport
import TestSupport
import Testing

@testable import Tally
@testable import TallySync

/// States of a snapshot that another thread has prepared give the same store as states that are merged as they come.
struct PreparedMergeTests {
  @Test func preparedStatesGiveTheSameStore() async throws {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "preparedStatesGiveTheSameStore"))
    for history in 0..<6 {
      // The last two merge the same parts.
      try await withFolderSpace(5) { space in
        let authors = Array(space.stores.prefix(3))
        for step in 0..<150 {
          try StoreSpace.write(to: authors, space.clock, using: &random)
          if random.oneIn(15) { try await StoreSync(authors[step % 3]).synchronize() }
          // In some histories they know a part already.
          if history.isMultiple(of: 2), step == 75 {
            for number in [3, 4] { try await space.sync(number).synchronize() }
          }
        }
        for _ in 0..<2 { for author in authors { try await StoreSync(author).synchronize() } }
        let (prepared, plain) = (space.stores[3], space.stores[4])
        let parts = try await Self.parts(of: authors[0], using: &random)
        let numbers = try await prepared.write { try $0.number(replicasOf: parts[0]) }
        for part in parts {
          try await prepared.write { transaction in
            let reading = try SnapshotReading(part.summary, in: transaction)
            _ = try transaction.merge(OpenedPart(part, numbers), reading)
          }
          try await plain.write { transaction in
            _ = try transaction.merge(part.states, reading: SnapshotReading(part.summary, in: transaction))
          }
          #expect(try await Self.contents(of: prepared) == Self.contents(of: plain))
          try StoreSpace.expectEqual([prepared, plain])
        }
        for store in [prepared, plain] { #expect(try await StoreSync(store).verify() == []) }
        // Both have all that the author has, so that nothing was left out.
        #expect(try await Self.contents(of: prepared).states == Self.contents(of: authors[0]).states)
      }
    }
  }

  /// Between two parts a repair may give other numbers to the replicas.
  @Test func statesPreparedWithOtherNumbersAreNotTaken() async throws {
    try await withFolderSpace { space in
      let author = space.stores[0]
      try await author.write { try $0.add("a title that is longer than a digest", to: .inbox) }
      try await StoreSync(author).synchronize()
      var random = SeededGenerator(seed: 1)
      let part = try #require(try await Self.parts(of: author, using: &random).first { !$0.states.isEmpty })
      let mentioned = part.states.values.reduce(into: Set<ReplicaID>()) { $0.formUnion($1.replicas) }
      let numbers = StateTable.Numbers(uniqueKeysWithValues: mentioned.map { ($0, 77) })
      try await space.stores[1].write { transaction in
        let reading = try SnapshotReading(part.summary, in: transaction)
        _ = try transaction.merge(OpenedPart(part, numbers), reading)
      }
      #expect(try await space.sync(1).verify() == [])
      #expect(try await Self.contents(of: space.stores[1]).states == Self.contents(of: author).states)
    }
  }

  /// What a store has of tasks and states.
  private struct Contents: Equatable {
    let tasks: Set<TaskItem>
    let states: [ObjectKey: ObjectState]
    let hash: StateHash
    let displaced: [[UInt8]]
  }

  private static func contents(of store: TaskStore) async throws -> Contents {
    try await store.write { transaction in
      let table = try StateTable(in: transaction)
      return Contents(
        tasks: Set(try transaction.view(.all).tasks),
        states: Dictionary(
          uniqueKeysWithValues: try table.rows(in: transaction).map { ($0.object, try table.state(of: $0)) }),
        hash: table.hash, displaced: try transaction.syncValues(under: SyncKey.displaced).map(\.key))
    }
  }

  /// The states of a store in three parts, chosen at random: tasks also come before their lists and parents.
  private static func parts(
    of store: TaskStore, using random: inout SeededGenerator
  ) async throws -> [SnapshotPart] {
    let draft = try await store.write { try $0.draftSnapshot() }
    let settings = try await store.write { try $0.requireSyncSettings() }
    let opener = SnapshotOpener(
      name: draft.name, verifyingKey: try settings.secretKeys().verifyingKey, keys: try settings.spaceKeys())
    var (states, summary): ([(ObjectKey, ObjectState)], SnapshotSummary?) = ([], nil)
    try await draft.forEachPart { number, bytes in
      let part = try SnapshotPart(decoding: opener.content(of: bytes, number), by: draft.name.replica)
      states += part.states.map { ($0.key, $0.value) }
      summary = part.summary
    }
    var parts: [SnapshotPart.States] = [[:], [:], [:]]
    for (object, state) in states { parts[Int.random(in: 0..<3, using: &random)].append(state, forKey: object) }
    return try parts.map { SnapshotPart(summary: try #require(summary), states: $0) }
  }
}
