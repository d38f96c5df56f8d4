import Foundation
import SystemPackage
import Tally
import TallyTestSupport
import TestSupport
import Testing

@testable import TallySync

struct RevocationTests {
  @Test func aRevokedDeviceSaysSoAndKeepsItsChanges() async throws {
    try await withScatteredSpace(3) { space in
      try await space.add("before", to: 2)
      try await space.settle()
      let revoked = try await space.sync(0).revoke(space.replica(2))
      #expect(revoked.recoveryCode.hasPrefix("tally-recovery-") && !revoked.isPassphraseDeleted)
      try space.carryAll()
      try await space.add("late", to: 2)
      #expect(try await space.synchronize(2) == .deviceRevoked)
      #expect(try await space.synchronize(2) == .deviceRevoked)
      let status = try await space.sync(2).status()
      #expect(status.isRevoked && status.pending == 1)
      #expect(try space.titles(2) == ["before", "late"])
      await #expect(throws: TallyError.self) { try await space.sync(2).invite() }
      try await space.add("after", to: 1)
      try await space.settle()
      #expect(try space.titles(0) == ["before", "after"])
      for number in 0...1 {
        #expect(try await space.sync(number).members().filter(\.isRevoked).map(\.name) == ["device 2"])
      }
      try await space.expectEqual([0, 1])
    }
  }

  @Test func aRevokedDeviceJoinsAgainWithAllThatItHas() async throws {
    try await withScatteredSpace(2) { space in
      _ = try await space.sync(0).revoke(space.replica(1))
      try await space.add("late", to: 1)
      try space.carryAll()
      #expect(try await space.synchronize(1) == .deviceRevoked)
      try await space.sync(1).leave()
      try await space.sync(1).join(space.sync(0).invite(), in: space.folder(1), deviceName: "again")
      try await space.settle()
      #expect(try space.titles(0) == ["late"])
      try await space.expectEqual([0, 1])
    }
  }

  /// The revoked device goes on writing, and its segments arrive; one replica had merged some of them before it heard.
  @Test func segmentsBehindTheCutOffAreNotTakenAndThoseBeforeAre() async throws {
    try await withScatteredSpace(4) { space in
      let revoked = try await space.replica(3)
      try await space.add("counts", to: 3)
      try await space.synchronize(3)
      try space.carry(from: 3, to: 0)
      try await space.synchronize(0)
      try await space.add("merged by one", to: 3)
      try await space.synchronize(3)
      try space.carry(from: 3, to: 1)
      try await space.synchronize(1)
      _ = try await space.sync(0).revoke(revoked)
      try await space.add("merged by nobody", to: 3)
      try await space.synchronize(3)
      try await space.settle()
      for number in 0...2 { #expect(try space.titles(number) == ["counts", "merged by one"]) }
      try await space.expectEqual([0, 1, 2])
      let blocked = try await space.sync(2).status().blocked
      #expect(blocked.map(\.replica) == [revoked] && blocked.first?.isRevoked == true)
      #expect(blocked.first?.reason.contains("revoked") == true)
      #expect(try await space.sync(2).synchronize().blocked == [])
      #expect(try await space.synchronize(3) == .deviceRevoked)
    }
  }

  @Test func aDeviceThatWasOfflineIsReadAndGetsTheNewKey() async throws {
    try await withScatteredSpace(3) { space in
      _ = try await space.sync(0).revoke(space.replica(2))
      try await space.add("under the old key", to: 1)
      try await space.synchronize(1)
      try space.carry(from: 1, to: 0)
      try await space.synchronize(0)
      #expect(try space.titles(0) == ["under the old key"])
      try await space.add("under the new key", to: 0)
      try await space.settle()
      #expect(try space.titles(1) == ["under the old key", "under the new key"])
      try await space.expectEqual([0, 1])
    }
  }

  /// With an invitation, a recovery code or a passphrase for the newest key alone.
  @Test func thoseWhoJoinLaterReadWhatIsOlder() async throws {
    try await withTemporaryDirectory { directory in
      let space = try await FolderSpace(0, in: directory)
      for _ in 0..<5 { try space.addStore() }
      let setup = try await space.sync(0).setUp(in: space.folder, deviceName: "first", passphrase: "old")
      try await space.sync(0).synchronize()
      try await space.sync(1).join(setup.invitation, in: space.folder, deviceName: "second")
      for number in 0...1 { try await space.stores[number].write { _ = try $0.add("by \(number)", to: .inbox) } }
      for number in [1, 0] { try await space.sync(number).synchronize() }
      let other = try await space.sync(1).status().replica
      #expect(try await space.sync(0).revoke(other).isPassphraseDeleted)
      let revoked = try await space.sync(0).revoke(other, passphrase: "new")
      #expect(!revoked.isPassphraseDeleted && revoked.recoveryCode != setup.recoveryCode)
      for old in [setup.invitation, try #require(setup.recoveryCode)] {
        let error = await #expect(throws: TallyError.self) {
          try await space.sync(2).join(old, in: space.folder, deviceName: "late")
        }
        #expect(error?.code == .invalidInvitation && error?.message.contains("new key") == true)
      }
      try await space.sync(2).join(space.sync(0).invite(), in: space.folder, deviceName: "third")
      try await space.sync(3).join(revoked.recoveryCode, in: space.folder, deviceName: "fourth")
      try await space.sync(4).join(passphrase: "new", in: space.folder, deviceName: "fifth")
      for _ in 0..<2 { for number in [0, 2, 3, 4] { try await space.sync(number).synchronize() } }
      var codes: Set<String?> = []
      for number in [0, 2, 3, 4] {
        #expect(try space.stores[number].read { try $0.view(.all).tasks.count } == 2)
        #expect(try await space.sync(number).status().blocked == [])
        codes.insert(try await space.sync(number).members().first { $0.replica == other }?.code)
      }
      #expect(codes.count == 1 && !codes.contains(nil))
      try space.close()
    }
  }

  @Test func anOldPassphraseIsRefusedWithAReason() async throws {
    try await withTemporaryDirectory { directory in
      let space = try await FolderSpace(0, in: directory)
      for _ in 0..<3 { try space.addStore() }
      let setup = try await space.sync(0).setUp(in: space.folder, deviceName: "first", passphrase: "old")
      try await space.sync(0).synchronize()
      try await space.sync(1).join(setup.invitation, in: space.folder, deviceName: "second")
      for number in [1, 0] { try await space.sync(number).synchronize() }
      let file = KeyFile(in: space.folder, space: setup.space)
      let old = try await space.stores[0].write { try $0.requireSyncSettings().spaceKeys() }
      _ = try await space.sync(0).revoke(space.sync(1).status().replica)
      // Another device puts the deleted file back.
      try file.write(old, passphrase: "old")
      let error = await #expect(throws: TallyError.self) {
        try await space.sync(2).join(passphrase: "old", in: space.folder, deviceName: "late")
      }
      #expect(error?.message.contains("new key") == true)
      try space.close()
    }
  }

  /// The store is killed between making the key and publishing it.
  @Test func aRevocationThatWasInterruptedIsCompletedByTheNextExchange() async throws {
    try await withScatteredSpace(3) { space in
      let revoked = try await space.replica(2)
      try await space.stores[0].write { transaction in
        let key = try #require(try transaction.card(of: revoked)).verifyingKey
        try transaction.makeEpoch(revoking: [revoked: .init(verifyingKey: key, cutOff: .start)])
      }
      try await space.add("after", to: 0)
      try await space.settle()
      #expect(try space.titles(1) == ["after"] && space.titles(2) == [])
      #expect(try await space.synchronize(2) == .deviceRevoked)
      let again = try await space.sync(0).revoke(revoked)
      #expect(again.recoveryCode == (try await space.sync(1).revoke(revoked).recoveryCode))
      #expect(try await space.epoch(0) == 2)
    }
  }

  /// A copy whose card the revoking replica had not seen, and a backup from before: both open the key as who they were.
  @Test func copiesAndBackupsOfAMemberGetTheNewKey() async throws {
    try await withScatteredSpace(3) { space in
      let known = try await space.copy(1)
      try await space.synchronize(known)
      let backup = try await space.copy(1)
      _ = try await space.sync(0).revoke(space.replica(2))
      try await space.add("after", to: 0)
      try await space.add("by the copy", to: known)
      try await space.add("by the backup", to: backup)
      try await space.settle()
      for number in [0, 1, known, backup] {
        #expect(try space.titles(number) == ["after", "by the copy", "by the backup"])
        #expect(try await space.epoch(number) == 2)
      }
      try await space.expectEqual([0, 1, known, backup])
    }
  }

  @Test func aCopyOfARevokedDeviceIsRevokedToo() async throws {
    try await withScatteredSpace(2) { space in
      let copy = try await space.copy(1)
      _ = try await space.sync(0).revoke(space.replica(1))
      try space.carryAll()
      #expect(try await space.synchronize(copy) == .deviceRevoked)
    }
  }

  @Test func aDeviceThatJoinedMeanwhileIsAskedToJoinAgain() async throws {
    try await withScatteredSpace(3) { space in
      let late = try await space.join(invitedBy: 1)
      try await space.add("by the late one", to: late)
      try await space.synchronize(late)
      try space.carry(from: late, to: 1)
      try await space.synchronize(1)
      _ = try await space.sync(0).revoke(space.replica(2))
      try await space.settle()
      #expect(try await space.synchronize(late) == .spaceKeyMissing)
      // What one member had merged reaches the others; the rest waits on the device.
      for number in 0...1 { #expect(try space.titles(number) == ["by the late one"]) }
      try await space.expectEqual([0, 1])
      try await space.sync(late).leave()
      try await space.sync(late).join(space.sync(0).invite(), in: space.folder(late), deviceName: "late")
      try await space.settle()
      try await space.expectEqual([0, 1, late])
    }
  }

  /// Store 4 was invited by the device that the others revoke, and that one has revoked store 2: neither its record nor what
  /// store 4 makes of it counts for them.
  @Test func aDeviceThatARevokedOneInvitedIsAskedToJoinAgain() async throws {
    try await withScatteredSpace(4) { space in
      try await space.join(invitedBy: 3)
      try await space.synchronize(4)
      try space.carry(from: 4, to: 3)
      try await space.synchronize(3)
      _ = try await space.sync(0).revoke(space.replica(3))
      for number in [1, 2] {
        try space.carry(from: 0, to: number)
        try await space.synchronize(number)
      }
      _ = try await space.sync(3).revoke(space.replica(2))
      try space.carry(from: 3, to: 4)
      #expect(try await space.synchronize(4) == nil)
      try await space.settle()
      #expect(try await space.synchronize(4) == .spaceKeyMissing)
      try await space.expectOneKey([0, 1, 2])
      for number in [0, 1, 2] { #expect(try await space.synchronize(number) == nil) }
    }
  }

  @Test func aSpaceWithTooManyReplicasIsRefusedAndNothingChanges() async throws {
    try await withScatteredSpace(2) { space in
      let revoked = try await space.replica(1)
      try await space.stores[0].write { transaction in
        let keys = try transaction.requireSyncSettings().spaceKeys()
        for _ in 0..<520 {
          let (replica, own) = (ReplicaID(UUID()), ReplicaKeys())
          let card = try Card(name: "one of many", keys: own, createdAt: 0)
            .sealed(number: 1, of: replica, with: own, in: keys)
          try transaction.setSyncValue(card.bytes, forKey: SyncKey.cards + replica.bytes)
        }
      }
      let error = await #expect(throws: TallyError.self) { _ = try await space.sync(0).revoke(revoked) }
      #expect(error?.code == .tooManyReplicas)
      #expect(try await space.epoch(0) == 1)
      try await space.synchronize(0)
      #expect(try await space.sync(0).members().allSatisfy { !$0.isRevoked })
    }
  }

  @Test func whatCannotBeRevokedIsSaid() async throws {
    try await withScatteredSpace(2) { space in
      for replica in [ReplicaID(UUID()), try await space.replica(0)] {
        let error = await #expect(throws: TallyError.self) { _ = try await space.sync(0).revoke(replica) }
        #expect(error?.code == .replicaNotFound)
      }
      try await space.sync(1).leave()
      _ = try await space.sync(1).setUp(in: space.folder(1), deviceName: "open", isEncrypted: false)
      let error = await #expect(throws: TallyError.self) { _ = try await space.sync(1).revoke(space.replica(0)) }
      #expect(error?.code == .spaceNotEncrypted)
    }
  }

  @Test func filesOfARevokedDeviceAreRefusedAndThoseOfMembersBringTheKey() async throws {
    try await withScatteredSpace(3) { space in
      let (theirs, ours) = (space.directory.appending("theirs"), space.directory.appending("ours"))
      try await space.add("late", to: 2)
      _ = try await space.sync(0).revoke(space.replica(2))
      try await space.add("after", to: 0)
      try await space.sync(2).writeDifference(to: theirs)
      try await space.sync(0).writeDifference(to: ours)
      let refused = await #expect(throws: TallyError.self) { try await space.sync(0).apply(theirs) }
      #expect(refused?.code == .malformedDocument)
      let revoked = await #expect(throws: TallyError.self) { try await space.sync(2).apply(ours) }
      #expect(revoked?.code == .deviceRevoked)
      try await space.sync(1).apply(ours)
      #expect(try space.titles(1) == ["after"])
      #expect(try await space.epoch(1) == 2)
    }
  }
}

extension ScatteredSpace {
  /// The number of the epoch whose key a store seals with.
  func epoch(_ number: Int) async throws -> UInt32 {
    try await stores[number].write { try $0.requireSyncSettings().spaceKeys().epoch }
  }
}
