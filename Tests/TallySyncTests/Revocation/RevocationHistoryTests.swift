import Foundation
import Tally
import TallyTestSupport
import TestSupport
import Testing

@testable import TallySync

/// Random histories of devices that write, exchange, join, are copied and revoke each other.
struct RevocationHistoryTests {
  @Test func replicasThatRemainAgreeWhateverTheOrder() async throws {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "replicasThatRemainAgree"))
    for _ in 0..<2 {
      try await withScatteredSpace(4) { space in
        var history = History(space: space)
        for _ in 0..<36 { try await history.step(using: &random) }
        try await history.end()
      }
    }
  }
}

/// What a test does with the stores of a space, and what it expects at the end.
private struct History {
  let space: ScatteredSpace
  private var count = 0
  /// The titles that each store has added.
  private var written: [Int: Set<String>] = [:]

  init(space: ScatteredSpace) { self.space = space }

  mutating func step(using random: inout SeededGenerator) async throws {
    let (number, other) = (Int.random(in: space.all, using: &random), Int.random(in: space.all, using: &random))
    space.clock.now = space.clock.now.adding(seconds: Int64.random(in: 0...600, using: &random))
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<6: try await write(to: number)
    case 6..<11: try space.carry(from: number, to: other)
    case 11..<17: try await space.synchronize(number)
    case 17 where space.stores.count < 8: _ = try? await space.join(invitedBy: number)
    case 18 where space.stores.count < 8: written[try await space.copy(number)] = []
    case 19 where number != other: try await revoke(other, by: number)
    default: break
    }
  }

  private mutating func write(to number: Int) async throws {
    count += 1
    try await space.add("task \(count)", to: number)
    written[number, default: []].insert("task \(count)")
  }

  /// Revokes; a store that may not synchronise, or has not heard of the other one, cannot.
  private func revoke(_ other: Int, by number: Int) async throws {
    do {
      _ = try await space.sync(number).revoke(space.replica(other))
    } catch let error as TallyError
      where [.deviceRevoked, .spaceKeyMissing, .replicaNotFound].contains(error.code)
    {}
  }

  /// All hear of everything.
  mutating func end() async throws {
    for _ in 0..<2 { try await space.settle() }
    var codes: [Int: TallyError.Code?] = [:]
    for number in space.all { codes[number] = try await space.synchronize(number) }
    let remaining = space.all.filter { codes[$0] == .some(nil) }
    for number in space.all where !remaining.contains(number) {
      #expect(written[number, default: []].isSubset(of: try space.titles(number)), "\(number) has lost its tasks")
    }
    for group in try await groups(of: remaining) {
      try await space.expectEqual(group)
      try await space.expectOneKey(group)
      var members: Set<ReplicaID> = []
      for number in group { members.insert(try await space.replica(number)) }
      for number in group {
        // Those that were revoked, and those that have joined with an old key.
        let blocked = Set(try await space.sync(number).status().blocked.map(\.replica))
        #expect(blocked.isDisjoint(with: members))
        for writer in group {
          #expect(written[writer, default: []].isSubset(of: try space.titles(number)), "\(writer) to \(number)")
        }
      }
    }
  }

  /// Those that agree: groups whose members have revoked each other, or do not know each other, go on apart.
  private func groups(of numbers: [Int]) async throws -> [[Int]] {
    var groups: [Set<ReplicaID>: [Int]] = [:]
    for number in numbers {
      let revoked = try await space.sync(number).members().filter(\.isRevoked).map(\.replica)
      groups[Set(revoked), default: []].append(number)
    }
    for group in groups.values {
      for number in group {
        let members = Set(try await space.sync(number).members().filter { !$0.isRevoked }.map(\.replica))
        for other in numbers where !group.contains(other) {
          let replica = try await space.replica(other)
          #expect(!members.contains(replica), "\(number) takes \(other) for a member and disagrees with it")
        }
      }
    }
    return Array(groups.values)
  }
}
