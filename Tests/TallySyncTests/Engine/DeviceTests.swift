import Foundation
import SystemPackage
import Tally
import TallyTestSupport
import TestSupport
import Testing

@testable import TallySync

/// What devices know about each other: names, former identities, clocks, and who changed what.
struct DeviceTests {
  private func names(_ space: FolderSpace, _ number: Int) async throws -> [ReplicaID: String?] {
    Dictionary(uniqueKeysWithValues: try await space.sync(number).members().map { ($0.replica, $0.name) })
  }

  @Test(arguments: [0, 1]) func aNameArrivesEverywhere(renamer: Int) async throws {
    try await withFolderSpace { space in
      try await space.synchronizeAll()
      let replica = try await space.sync(1).status().replica
      try await space.sync(renamer).renameMember(replica, to: "  Kitchen tablet ")
      for _ in 0..<2 { try await space.synchronizeAll() }
      for number in 0...1 { #expect(try await names(space, number)[replica] == "Kitchen tablet") }
      #expect(try await space.sync(1).status().name == "Kitchen tablet")
      // Older versions read it from the card.
      let card = try await space.stores[0].write { try $0.card(of: replica) }
      #expect(card?.name == "Kitchen tablet")
      try await space.expectEqualStores()
    }
  }

  @Test func ofTwoNamesThatTwoDevicesGiveOneTheLaterHolds() async throws {
    try await withFolderSpace(3) { space in
      try await space.synchronizeAll()
      let replica = try await space.sync(2).status().replica
      try await space.sync(0).renameMember(replica, to: "earlier")
      space.clock.now = space.clock.now.adding(seconds: 60)
      try await space.sync(1).renameMember(replica, to: "later")
      for _ in 0..<2 { try await space.synchronizeAll() }
      for number in 0...2 {
        #expect(try await names(space, number)[replica] == "later")
        #expect(try await space.sync(number).conflicts() == [])
      }
      try await space.expectEqualStores()
    }
  }

  @Test(arguments: ["", " \n", "two\nlines", String(repeating: "x", count: 257)])
  func aNameThatIsNoneIsRefused(name: String) async throws {
    try await withFolderSpace(1) { space in
      let replica = try await space.sync(0).status().replica
      let error = await #expect(throws: TallyError.self) { try await space.sync(0).renameMember(replica, to: name) }
      #expect(error?.code == .invalidDeviceName)
      let unknown = await #expect(throws: TallyError.self) {
        try await space.sync(0).renameMember(ReplicaID(UUID()), to: "x")
      }
      #expect(unknown?.code == .replicaNotFound)
    }
  }

  @Test func aFormerIdentityIsMarkedOnOtherDevices() async throws {
    try await withFolderSpace(3) { space in
      try await space.stores[0].write { _ = try $0.add("one", to: .inbox) }
      try await space.synchronizeAll()
      let (former, backup) = (try await space.sync(0).status().replica, space.directory.appending("backup.mdb"))
      try space.stores[0].backup(to: backup)
      try space.restore(0, from: backup)
      for _ in 0..<2 { try await space.synchronizeAll() }
      let now = try await space.sync(0).status().replica
      #expect(now != former)
      for number in 0..<3 {
        let members = try await space.sync(number).members()
        let marked = members.filter(\.isFormer)
        #expect(marked.map(\.replica) == [former] && marked.map(\.successor) == [now], "\(number)")
        #expect(Set(members.map(\.handle)).count == members.count)
      }
      // The store has the keys of both identities, so both are shut out.
      let revoked = try await space.sync(1).revoke(now)
      #expect(revoked.formerReplicas == [former])
      #expect(Set(try await space.sync(1).members().filter(\.isRevoked).map(\.replica)) == [now, former])
      let shutOut = await #expect(throws: TallyError.self) { try await space.sync(0).synchronize() }
      #expect(shutOut?.code == .deviceRevoked)
      try await space.sync(2).synchronize()
    }
  }

  /// Whoever revokes a liar does not shut out the device that it has marked.
  ///
  /// Any member can say that another one is its former identity.
  @Test(arguments: [0, 1, 2]) func aDeviceThatIsInUseIsNotRevokedAsAFormerIdentity(lie: Int) async throws {
    try await withFolderSpace(4) { space in
      for store in space.stores { try await store.write { _ = try $0.add("one", to: .inbox) } }
      try await space.synchronizeAll()
      let (liar, honest) = (try await space.sync(2).status().replica, try await space.sync(1).status().replica)
      // The device that writes it is the liar, or an accomplice.
      let writer = lie == 2 ? 3 : 2
      let start = space.clock.now
      if lie == 1 { space.clock.now = start.adding(seconds: 86_400 * 365) }
      try await space.stores[writer].write { transaction in
        var settings = try transaction.requireSyncSettings()
        let write = DeviceWrite(object: ObjectKey(ofDevice: honest), field: .successor, value: liar.bytes)
        try transaction.write([write], &settings)
        try transaction.setSyncSettings(settings)
      }
      space.clock.now = start.adding(seconds: 10)
      if lie == 0 {
        try await space.stores[1].write { _ = try $0.add("still here", to: .inbox) }
        try await space.sync(1).synchronize()
      }
      try await space.sync(writer).synchronize()
      let revoked = try await space.sync(0).revoke(liar)
      #expect(revoked.formerReplicas == [] && revoked.doubtfulReplicas == [honest])
      #expect(try await space.sync(0).members().filter(\.isRevoked).map(\.replica) == [liar])
      try await space.sync(1).synchronize()
    }
  }

  /// A hub accepts the code of owners only, who have given it a secret.
  @Test func aDeviceThatIsNoOwnerAtAHubHasNoRecoveryCode() async throws {
    try await withFolderSpace(1) { space in
      _ = try await space.sync(0).recoveryCode()
      for (secret, code) in [(nil, TallyError.Code.notAnOwner), (Data(RecoveryCode.newOwnerSecret()), nil)] {
        try await space.stores[0].write { transaction in
          try transaction.changeSyncSettings { ($0.place, $0.recoverySecret) = ("https://hub.example", secret) }
        }
        if let code {
          let error = await #expect(throws: TallyError.self) { _ = try await space.sync(0).recoveryCode() }
          #expect(error?.code == code && error?.remedy.contains("owner") == true)
          #expect(try await space.stores[0].write { try $0.requireSyncSettings() }.recoverySecret == nil)
        } else {
          #expect(try await !space.sync(0).recoveryCode().isEmpty)
        }
      }
    }
  }

  @Test func theRecoveryCodeIsShownAgain() async throws {
    try await withTemporaryDirectory { directory in
      let space = try await FolderSpace(0, in: directory)
      try space.addStore()
      let setup = try await space.sync(0).setUp(in: space.folder, deviceName: "a")
      try space.addStore()
      try await space.sync(1).join(setup.invitation, in: space.folder, deviceName: "b")
      for number in 0...1 { #expect(try await space.sync(number).recoveryCode() == setup.recoveryCode) }
      try space.addStore()
      try await space.sync(2).join(try #require(setup.recoveryCode), in: space.folder, deviceName: "c")
      for _ in 0..<2 { try await space.synchronizeAll() }
      let revoked = try await space.sync(1).revoke(space.sync(2).status().replica)
      try await space.sync(0).synchronize()
      #expect(try await space.sync(0).status().isRecoveryCodeOutdated)
      #expect(try await space.sync(0).recoveryCode() == revoked.recoveryCode)
      #expect(try await !space.sync(0).status().isRecoveryCodeOutdated)
      _ = try? await space.sync(2).synchronize()
      let error = await #expect(throws: TallyError.self) { _ = try await space.sync(2).recoveryCode() }
      #expect(error?.code == .deviceRevoked)
      try space.close()
    }
  }

  @Test func aSpaceWithoutEncryptionHasNoRecoveryCode() async throws {
    try await withTemporaryDirectory { directory in
      let space = try await FolderSpace(0, in: directory)
      try space.addStore()
      _ = try await space.sync(0).setUp(in: space.folder, deviceName: "a", isEncrypted: false)
      let error = await #expect(throws: TallyError.self) { _ = try await space.sync(0).recoveryCode() }
      #expect(error?.code == .spaceNotEncrypted)
      try space.close()
    }
  }

  @Test func theHistorySaysWhichReplicaHasChangedSomething() async throws {
    try await withFolderSpace { space in
      let id = try await space.stores[0].write { transaction in
        try transaction.setActionName("add")
        return try transaction.add("one", to: .inbox).id
      }
      try await space.synchronizeAll()
      try await space.stores[1].write { _ = try $0.update(id) { $0.title = "two" } }
      try await space.synchronizeAll()
      let (first, second) = (try await space.sync(0).status().replica, try await space.sync(1).status().replica)
      let own = try space.stores[0].read { try $0.history(of: id) }
      #expect(own.map(\.isFromElsewhere) == [true, false])
      #expect(own.map { $0.replica.map { ReplicaID($0) } } == [second, nil])
      #expect(own.last?.actionName == "add")
      let other = try space.stores[1].read { try $0.history(of: id) }
      #expect(other.map { $0.replica.map { ReplicaID($0) } } == [nil, first])
    }
  }

  /// A snapshot also has what devices other than its author have written.
  @Test func aSnapshotOfOneAuthorNamesItAndOneOfSeveralNobody() async throws {
    try await withFolderSpace(2) { space in
      let id = try await space.stores[0].write { try $0.add("one", to: .inbox).id }
      try await space.synchronizeAll()
      let first = try await space.sync(0).status().replica
      for isOfOne in [true, false] {
        if !isOfOne {
          try await space.stores[1].write { _ = try $0.update(id) { $0.title = "two" } }
          try await space.synchronizeAll()
        }
        let invitation = try await space.sync(0).invite()
        let file = space.directory.appending("all-\(isOfOne).tally")
        try await space.sync(0).writeDifference(to: file)
        let store = try space.open("new-\(isOfOne)")
        try await StoreSync(store).join(invitation, in: space.folder, deviceName: "new")
        try await StoreSync(store).apply(file)
        let change = try #require(try store.read { try $0.history(of: id) }.first)
        #expect(change.isFromElsewhere && change.replica.map { ReplicaID($0) } == (isOfOne ? first : nil))
        try store.close()
      }
    }
  }
}

/// Wrong clocks are detected by the stamps of other devices.
struct ClockTests {
  /// Two stores with clocks of their own that synchronise through a folder.
  private func withClocks(
    _ seconds: Int64, _ body: (_ stores: [TaskStore], _ clocks: [TestClock]) async throws -> Void
  ) async throws {
    try await withTemporaryDirectory { directory in
      let folder = directory.appending("folder")
      try FileManager.default.createDirectory(atPath: folder.string, withIntermediateDirectories: true)
      let clocks = [TestClock(TestClock.noon.now), TestClock(TestClock.noon.now.adding(seconds: seconds))]
      let stores = try clocks.enumerated().map { number, clock in
        try TaskStore(at: directory.appending("store-\(number)"), configuration: .testing(clock: clock))
      }
      let setup = try await StoreSync(stores[0]).setUp(in: folder, deviceName: "first")
      // By a clock that is ahead, an invitation would have expired.
      try await StoreSync(stores[1]).join(try #require(setup.recoveryCode), in: folder, deviceName: "second")
      try await body(stores, clocks)
      for store in stores { try store.close() }
    }
  }

  private func exchange(_ stores: [TaskStore]) async throws {
    for _ in 0..<2 { for store in stores { try await StoreSync(store).synchronize() } }
  }

  private static let year: Int64 = 31_556_952

  @Test(arguments: [73 * year, 3_600, 90, -90, -3_600, -year])
  func aDifferenceIsSaidOnBothDevicesByItsSize(seconds: Int64) async throws {
    try await withClocks(seconds) { stores, clocks in
      let id = try await stores[0].write { try $0.add("one", to: .inbox).id }
      try await exchange(stores)
      for number in [1, 0] {
        try await stores[number].write { _ = try $0.update(id) { $0.title = "by \(number)" } };
        try await exchange(stores)
      }
      let (first, second) = (
        try await StoreSync(stores[0]).status().clocks, try await StoreSync(stores[1]).status().clocks
      )
      #expect(first.map(\.name) == ["second"] && first.map(\.secondsAhead) == [seconds])
      #expect(second.map(\.name) == ["first"] && second.map(\.secondsAhead) == [-seconds])
      #expect(try await StoreSync(stores[0]).synchronize().clocks == first)
      // The clock is set right: the next change shows that.
      clocks[1].now = clocks[0].now.adding(seconds: 1)
      clocks[0].now = clocks[1].now
      try await stores[1].write { _ = try $0.update(id) { $0.title = "right" } }
      try await exchange(stores)
      try await stores[0].write { _ = try $0.update(id) { $0.title = "right, too" } }
      try await exchange(stores)
      for store in stores { #expect(try await StoreSync(store).status().clocks == []) }
      for store in stores { #expect(try store.read { try $0.task(id) }?.title == "right, too") }
    }
  }

  @Test(arguments: [0, 30, -30] as [Int64]) func aSmallDifferenceIsNotSaid(seconds: Int64) async throws {
    try await withClocks(seconds) { stores, _ in
      let id = try await stores[0].write { try $0.add("one", to: .inbox).id }
      try await exchange(stores)
      for number in [1, 0] {
        try await stores[number].write { _ = try $0.update(id) { $0.title = "by \(number)" } };
        try await exchange(stores)
      }
      for store in stores { #expect(try await StoreSync(store).status().clocks == []) }
    }
  }

  /// A device that was away for a month does not have a wrong clock.
  @Test func anOldSegmentIsNoDifference() async throws {
    try await withClocks(0) { stores, clocks in
      let id = try await stores[0].write { try $0.add("one", to: .inbox).id }
      try await exchange(stores)
      try await stores[1].write { _ = try $0.update(id) { $0.title = "sealed long ago" } }
      try await StoreSync(stores[1]).synchronize()
      clocks[0].now = clocks[0].now.adding(seconds: 30 * 86_400)
      try await StoreSync(stores[0]).synchronize()
      #expect(try await StoreSync(stores[0]).status().clocks == [])
    }
  }
}
