import Foundation
import SystemPackage
import Tally
import TallyTestSupport
import TestSupport
import Testing

@testable import TallySync

/// Replicas that revoke before they hear of each other.
struct SimultaneousRevocationTests {
  @Test func twoThatRevokeTheSameDeviceAgreeOnOneKey() async throws {
    try await withScatteredSpace(4) { space in
      let revoked = try await space.replica(3)
      for number in 0...1 {
        _ = try await space.sync(number).revoke(revoked)
        try await space.add("by \(number)", to: number)
        try await space.synchronize(number)
      }
      try await space.settle()
      try await space.expectOneKey([0, 1, 2])
      for number in 0...2 { #expect(try space.titles(number) == ["by 0", "by 1"]) }
      // One who joins with the newest key alone reads what either key has sealed.
      let late = try await space.join(invitedBy: 2)
      try await space.settle()
      #expect(try space.titles(late) == ["by 0", "by 1"])
      #expect(try await space.sync(late).status().blocked == [])
      try await space.expectEqual([0, 1, 2, late])
    }
  }

  /// Each of the two keys was given to a device that the other one has revoked: neither may stay in use.
  @Test func twoThatRevokeDifferentDevicesMakeAKeyThatNeitherGets() async throws {
    try await withScatteredSpace(5) { space in
      let revoked = [try await space.replica(3), try await space.replica(4)]
      for number in 0...1 {
        _ = try await space.sync(number).revoke(revoked[number])
        try await space.add("by \(number)", to: number)
        try await space.synchronize(number)
      }
      try await space.settle()
      try await space.expectOneKey([0, 1, 2])
      #expect(try await space.epoch(0) > 2)
      for number in 0...2 {
        #expect(try space.titles(number) == ["by 0", "by 1"])
        #expect(Set(try await space.sync(number).members().filter(\.isRevoked).map(\.replica)) == Set(revoked))
        let record = try #require(try await space.stores[number].write { try $0.currentRecord() })
        #expect(Set(record.members.keys).isDisjoint(with: revoked))
      }
      for number in 3...4 { #expect(try await space.synchronize(number) == .deviceRevoked) }
      try await space.expectEqual([0, 1, 2])
    }
  }

  @Test func theStatusSaysThatARecoveryCodeOnPaperIsOutdated() async throws {
    try await withScatteredSpace(5) { space in
      func outdated() async throws -> [Bool] {
        var found: [Bool] = []
        for number in 0...2 { found.append(try await space.sync(number).status().isRecoveryCodeOutdated) }
        return found
      }
      #expect(try await outdated() == [false, false, false])
      for number in 0...1 { _ = try await space.sync(number).revoke(try await space.replica(3 + number)) }
      #expect(try await outdated() == [false, false, false])
      try await space.settle()
      // Neither key stays; the third device has shown none.
      #expect(try await outdated() == [true, true, false])
      let code = try await space.sync(0).revoke(try await space.replica(3)).recoveryCode
      #expect(try await outdated() == [false, true, false])
      let keys = try await space.stores[2].write { try $0.requireSyncSettings().spaceKeys() }
      #expect(keys.keys[keys.epoch].map { RecoveryCode($0).text } == code)
    }
  }

  /// One of the two has merged more of the revoked device: the later cut-off holds for all.
  @Test func ofTwoCutOffsTheLaterHolds() async throws {
    try await withScatteredSpace(4) { space in
      let revoked = try await space.replica(3)
      try await space.add("merged by one", to: 3)
      try await space.synchronize(3)
      try space.carry(from: 3, to: 1)
      for number in 0...1 { _ = try await space.sync(number).revoke(revoked) }
      try await space.settle()
      for number in 0...2 { #expect(try space.titles(number) == ["merged by one"]) }
      try await space.expectOneKey([0, 1, 2])
      try await space.expectEqual([0, 1, 2])
    }
  }

  /// Of two that revoke each other at least one is out, and all others agree.
  @Test func twoThatRevokeEachOtherLeaveTheOthersInAgreement() async throws {
    try await withScatteredSpace(4) { space in
      let replicas = [try await space.replica(0), try await space.replica(1)]
      for number in 0...1 { _ = try await space.sync(number).revoke(replicas[1 - number]) }
      // Each of the others hears of another one first.
      for number in 0...1 {
        try space.carry(from: number, to: number + 2)
        try await space.synchronize(number + 2)
      }
      try await space.add("after", to: 2)
      try await space.settle()
      try await space.expectOneKey([2, 3])
      try await space.expectEqual([2, 3])
      for number in 0...1 { #expect(try await space.synchronize(number) == .deviceRevoked) }
    }
  }

  @Test func aKeyThatAMemberDidNotGetIsReplaced() async throws {
    try await withScatteredSpace(4) { space in
      // Only the first two know the fifth.
      let fifth = try await space.join(invitedBy: 0)
      try await space.synchronize(fifth)
      try space.carry(from: fifth, to: 0)
      try await space.synchronize(0)
      let revoked = try await space.replica(3)
      for number in 0...1 { _ = try await space.sync(number).revoke(revoked) }
      try await space.settle()
      try await space.expectOneKey([0, 1, 2, fifth])
      try await space.expectEqual([0, 1, 2, fifth])
    }
  }
}

extension ScatteredSpace {
  /// Expects that stores seal with the same key.
  func expectOneKey(_ numbers: [Int], sourceLocation: SourceLocation = #_sourceLocation) async throws {
    var keys: Set<[UInt8]> = []
    for number in numbers {
      let space = try await stores[number].write { try $0.requireSyncSettings().spaceKeys() }
      keys.insert(space.keys[space.epoch]?.bytes ?? [])
    }
    #expect(keys.count == 1 && !keys.contains([]), sourceLocation: sourceLocation)
  }
}
