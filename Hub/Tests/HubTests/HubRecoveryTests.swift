import Crypto
import Foundation
import HubClient
import HubSamples
import HubService
import HubStorage
import HubWire
import SystemPackage
import Tally
import TallySync
import Testing

/// The recovery code restores an owner whose devices are lost, and makes nobody else an owner.
@Suite(.timeLimit(.minutes(10)))
struct HubRecoveryTests {
  @Test(arguments: HubKind.allCases)
  func aLostOwnerIsRestored(_ kind: HubKind) async throws {
    try await withHub(of: kind) { hub in
      try await withStores(4) { stores in
        let (lost, phone, new, friend) = (stores[0], stores[1], stores[2], stores[3])
        let setup = try await lost.sync.setUp(atHub: hub.url, deviceName: "lost")
        try await lost.write { _ = try $0.add("written on the lost device", to: .inbox) }
        try await lost.sync.synchronize()
        try await phone.sync.join(hubInvitation: setup.invitation, deviceName: "phone")
        try await phone.write { _ = try $0.add("written on the phone", to: .inbox) }
        try await phone.sync.synchronize()
        // The phone may not invite, and the lost device is in the hands of a thief.
        await #expect(throws: HubFault.self) { try await phone.sync.inviteToHub() }
        let code = try #require(setup.recoveryCode)
        try await new.sync.restore(atHub: hub.url, recoveryCode: code, deviceName: "new")
        try await new.sync.synchronize()
        #expect(try new.titles == ["written on the lost device", "written on the phone"])
        #expect(try await new.sync.status().isRecoveryCodeOutdated == false)
        let invitation = try await new.sync.inviteToHub()
        try await friend.sync.join(hubInvitation: invitation, deviceName: "friend")
        try await friend.sync.synchronize()
        let thief = try await lost.sync.status().replica
        try await new.sync.revokeAtHub(thief)
        let revoked = try await new.sync.revoke(thief)
        #expect(revoked.recoveryCode != code)
        try await new.write { _ = try $0.add("not for the thief", to: .inbox) }
        try await new.sync.synchronize()
        let error = await #expect(throws: TallyError.self) { try await lost.sync.synchronize() }
        #expect(error?.code == .deviceRevoked)
        #expect(try !lost.titles.contains("not for the thief"))
        for store in [phone, friend] {
          try await store.sync.synchronize()
          #expect(try store.titles.contains("not for the thief"))
        }
        try await requireReplaced(code, at: hub)
        try await requireRestores(revoked.recoveryCode, at: hub, expecting: "not for the thief")
      }
    }
  }

  @Test func withTwoOwnersEachHasACodeOfItsOwn() async throws {
    try await withHub { hub in
      try await withStores(3) { stores in
        let setup = try await stores[0].sync.setUp(atHub: hub.url, deviceName: "first")
        try await stores[0].sync.synchronize()
        try await stores[1].sync.join(hubInvitation: setup.invitation, deviceName: "second")
        try await stores[1].sync.synchronize()
        try await stores[0].sync.synchronize()
        let second = try await stores[1].sync.status().replica
        try await stores[0].sync.setRole(.owner, of: second)
        try await stores[1].sync.synchronize()
        let space = try await stores[0].sync.status().space
        #expect(try await hub.store.recoveries(in: space).count == 2)
        // The first one is lost; the second one shuts it out without any code.
        let lost = try await stores[0].sync.status().replica
        try await stores[1].sync.revokeAtHub(lost)
        let code = try await stores[1].sync.revoke(lost).recoveryCode
        try await requireReplaced(try #require(setup.recoveryCode), at: hub)
        try await requireRestores(code, at: hub, expecting: nil)
        // An owner cannot change its own role, so a space always has an owner.
        let own = try await stores[1].sync.status().replica
        let fault = await #expect(throws: HubFault.self) { try await stores[1].sync.setRole(.reader, of: own) }
        #expect(fault == .status(403, "An owner cannot change its own role."))
      }
    }
  }

  @Test func aMemberIsNoOwnerByWhatItKnows() async throws {
    try await withHub { hub in
      try await withStores(2) { stores in
        let setup = try await stores[0].sync.setUp(atHub: hub.url, deviceName: "first")
        try await stores[0].sync.synchronize()
        try await stores[1].sync.join(hubInvitation: setup.invitation, deviceName: "second")
        try await stores[1].sync.synchronize()
        let (place, space) = (try await stores[1].sync.place(), try await stores[1].sync.status().space)
        let token = try #require(place.token)
        // A code of its own making is not taken, and it may not change a role.
        let transport = HubTransport(at: hub.url, space: space, token: token)
        _ = try await transport.heads()
        #expect(transport.recoveries == nil)
        let fault = await #expect(throws: HubFault.self) {
          _ = try await transport.putRecovery(RecoveryVerifier(bytes: Array(repeating: 7, count: 32), isShared: false))
        }
        #expect(fault?.isRefusal == true)
        let own = try await stores[1].sync.status().replica
        await #expect(throws: HubFault.self) { try await stores[1].sync.setRole(.owner, of: own) }
        // The verifier that the hub keeps is of no use, and neither is the signature of another request.
        let proof = try RecoveryProof(code: try #require(setup.recoveryCode))
        let signature = try proof.signature(forTokenHash: Array(repeating: 1, count: 32))
        for (hash, signature) in [(2, signature), (1, Array(repeating: 0, count: 64))] as [(UInt8, [UInt8])] {
          let answer = try await restore(
            hub, verifier: proof.verifier.bytes, hash: Array(repeating: hash, count: 32), signature: signature)
          #expect(answer.status == 401)
        }
      }
    }
  }

  @Test func whoRepeatsARequestGainsNothing() async throws {
    try await withHub { hub in
      try await withStores(1) { stores in
        let code = try #require(try await stores[0].sync.setUp(atHub: hub.url, deviceName: "first").recoveryCode)
        try await stores[0].sync.synchronize()
        let (proof, token) = (try RecoveryProof(code: code), "the token that only the new device has")
        let hash = Array(SHA256.hash(data: Array(token.utf8)))
        let signature = try proof.signature(forTokenHash: hash)
        let answers = [
          try await restore(hub, verifier: proof.verifier.bytes, hash: hash, signature: signature),
          try await restore(hub, verifier: proof.verifier.bytes, hash: hash, signature: signature),
        ]
        #expect(answers[0].status == 201 && answers[0].body == answers[1].body)
        #expect(!answers[0].body.contains(token))
        let space = try await stores[0].sync.status().space
        #expect(try await hub.store.spaces(after: nil, limit: 9).map(\.members) == [["owner": 2]])
        _ = try await HubTransport(at: hub.url, space: space, token: token).heads()
      }
    }
  }

  @Test func wrongCodesAreRefusedAndLimited() async throws {
    var strict = HubConfiguration()
    (strict.burstOfStrangers, strict.requestsOfStrangersPerSecond) = (5, 0.001)
    try await withHub(strict) { hub in
      try await withStores(2) { stores in
        let code = try #require(try await stores[0].sync.setUp(atHub: hub.url, deviceName: "first").recoveryCode)
        try await stores[0].sync.synchronize()
        let mistyped = String(code.dropLast(4)) + "0000"
        let error = await #expect(throws: TallyError.self) {
          try await stores[1].sync.restore(atHub: hub.url, recoveryCode: mistyped, deviceName: "second")
        }
        #expect(error?.code == .invalidInvitation)
        var faults: [HubFault?] = []
        for _ in 0..<6 {
          let other = try await otherCode()
          faults.append(
            await #expect(throws: HubFault.self) {
              try await stores[1].sync.restore(atHub: hub.url, recoveryCode: other, deviceName: "second")
            })
        }
        guard case .status(401, _) = faults[0], case .tooMany = faults[5] else {
          Issue.record("\(faults)")
          return
        }
        // The right code from the same address is still accepted.
        try await stores[1].sync.restore(atHub: hub.url, recoveryCode: code, deviceName: "second")
        try await stores[1].sync.synchronize()
      }
    }
  }

  @Test func strangersDoNotKeepGoodInvitationsOut() async throws {
    var strict = HubConfiguration()
    (strict.burstOfStrangers, strict.requestsOfStrangersPerSecond) = (3, 0.001)
    try await withHub(strict) { hub in
      let (access, space) = (HubAccess(at: hub.url), SpaceID())
      let token = try await access.newSpace(space)
      var limited = 0
      for _ in 0..<40 {
        let fault = await #expect(throws: HubFault.self) { try await access.join("wrong \(UUID())", to: space) }
        if case .tooMany = fault { limited += 1 }
      }
      #expect(limited > 30)
      for _ in 0..<20 {
        let invitation = try await access.invite(to: space, role: .writer, validInSeconds: 60, token: token)
        _ = try await access.join(invitation, to: space)
      }
    }
  }

  /// The version before this one made codes that are only the key of the space.
  @Test func aSpaceFromBeforeIsRestoredByTheCodeOnPaper() async throws {
    try await withHub { hub in
      try await withStores(3) { stores in
        let access = HubAccess(at: hub.url)
        let space = SpaceID()
        let token = try await access.newSpace(space)
        let old = try OldCode()
        try await stores[0].sync.join(
          recoveryCode: old.text, to: space, at: SyncPlace(hub.url, token: token), deviceName: "first")
        try await stores[0].write { _ = try $0.add("old task", to: .inbox) }
        try await stores[0].sync.synchronize()
        let verifier = try RecoveryProof(code: old.text).verifier
        #expect(verifier.isShared)
        #expect(try await hub.store.recoveries(in: space) == [verifier.bytes])
        try await stores[1].sync.restore(atHub: hub.url, recoveryCode: old.text, deviceName: "second")
        try await stores[1].sync.synchronize()
        #expect(try stores[1].titles == ["old task"])
        // A reader would have that code, too: it is replaced, and the owner gets a code of its own.
        let invitation = try await stores[1].sync.inviteToHub(as: .reader)
        try await stores[2].sync.join(hubInvitation: invitation, deviceName: "reader")
        try await stores[2].sync.synchronize()
        try await stores[1].sync.synchronize()
        #expect(try await !hub.store.recoveries(in: space).contains(verifier.bytes))
        #expect(try await hub.store.recoveries(in: space).count == 1)
        #expect(try await stores[1].sync.status().isRecoveryCodeOutdated)
        try await requireReplaced(old.text, at: hub)
      }
    }
  }

  @Test func aRevokedDeviceThatWaitsLearnsIt() async throws {
    try await withHub { hub in
      let (access, space) = (HubAccess(at: hub.url), SpaceID())
      let owner = try await access.newSpace(space)
      let token = try await access.join(
        try await access.invite(to: space, role: .writer, validInSeconds: 60, token: owner), to: space
      )
      let (transport, card) = (HubTransport(at: hub.url, space: space, token: token), SealedStream(in: space).card())
      try await transport.putCard(card.bytes, of: card.replica, number: 1)
      _ = try await transport.heads()
      let waiting = Task { try await transport.waitForChanges(seconds: 50) }
      // Usually long enough for the request to wait; if it does not wait yet, it is refused just the same.
      try await Task.sleep(for: .milliseconds(500))
      try await access.revoke(card.replica, behind: 0, in: space, token: owner)
      let fault = await #expect(throws: HubFault.self) { _ = try await waiting.value }
      #expect(fault == .revoked)
    }
  }

  @Test func aStoreOfTheFirstFormatKeepsWhatItHas() async throws {
    let fixture = URL(filePath: #filePath).appending(path: "../Fixtures/hub-format-1.mdb").standardizedFileURL
    try await withDirectory { directory in
      try FileManager.default.copyItem(at: fixture, to: URL(filePath: directory.appending("data.mdb").string))
      // Two members and an invitation now count as rows; nothing else has changed.
      for _ in 0..<2 {
        let store = try LMDBHubStore(at: directory)
        let spaces = try await store.spaces(after: nil, limit: 9)
        #expect(spaces.map(\.members) == [["owner": 1, "writer": 1]] && spaces.map(\.replicas) == [2])
        let space = try #require(SpaceID(spaces[0].space))
        let segments = try await store.segments(after: 0, byteCount: 1 << 20, in: space)
        let cards = try await store.allCards(in: space)
        #expect(segments.count == 2 && cards.count == 2)
        let bytes = segments.reduce(0) { $0 + $1.byteCount } + cards.values.reduce(0) { $0 + $1.count }
        #expect(spaces[0].bytes == bytes + 3 * HubRowLimits.rowByteCount)
        #expect(try await store.recoveries(in: space) == [])
        try store.close()
      }
    }
  }

  // MARK: -

  /// The text of a recovery code as it was before hubs restored owners.
  private struct OldCode {
    let text: String

    init() throws {
      // The code of a space in a folder has the same form.
      text = try #require(
        "tally-recovery-065rp-b9z94-agvkg-fccw3-421f6-thp06-gmswj-xg6yh-37xwp-192ww-gyybq-y73a0" as String?)
    }
  }

  /// A code of another space.
  private func otherCode() async throws -> String {
    try await withDirectory { directory in
      let store = try TaskStore(at: directory.appending("store"))
      defer { try? store.close() }
      let place = SyncPlace("http://127.0.0.1:9", token: "x")
      return try #require(try await store.sync.setUp(SpaceID(), at: place, deviceName: "other").recoveryCode)
    }
  }

  private func requireReplaced(_ code: String, at hub: RunningHub) async throws {
    try await withStores(1) { stores in
      let fault = await #expect(throws: HubFault.self) {
        try await stores[0].sync.restore(atHub: hub.url, recoveryCode: code, deviceName: "too late")
      }
      guard case .status(403, let reason) = fault else {
        Issue.record("\(String(describing: fault))")
        return
      }
      #expect(reason.contains("was replaced"))
    }
  }

  private func requireRestores(_ code: String, at hub: RunningHub, expecting title: String?) async throws {
    try await withStores(1) { stores in
      try await stores[0].sync.restore(atHub: hub.url, recoveryCode: code, deviceName: "newest")
      try await stores[0].sync.synchronize()
      if let title { #expect(try stores[0].titles.contains(title)) }
      _ = try await stores[0].sync.inviteToHub()
    }
  }

  private func restore(
    _ hub: RunningHub, verifier: [UInt8], hash: [UInt8], signature: [UInt8]
  ) async throws -> (status: Int, body: String) {
    let body = [
      "verifier": Hexadecimal.text(of: verifier), "tokenHash": Hexadecimal.text(of: hash),
      "signature": Hexadecimal.text(of: signature),
    ]
    let text = String(decoding: try JSONEncoder().encode(body), as: UTF8.self)
    let answer = try await RawConnection.run(to: hub) { connection in
      try await connection.write(
        "POST /v1/recoveries HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)"
      )
      return await connection.readToEnd()
    }
    let parts = answer.components(separatedBy: "\r\n\r\n")
    // The order of keys in JSON differs.
    let fields = try? JSONDecoder().decode([String: String].self, from: Data((parts.last ?? "").utf8))
    return (
      Int(answer.split(separator: " ").dropFirst().first ?? "") ?? 0,
      (fields ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    )
  }
}

/// Where a hub keeps what it has.
enum HubKind: CaseIterable {
  case directory, database
}

/// Runs a body with a hub over a store; without a PostgreSQL server, a directory stands in for a database.
func withHub(of kind: HubKind, _ body: (RunningHub) async throws -> Void) async throws {
  guard kind == .database, PostgreSQLServer.address != nil else { return try await withHub(HubConfiguration(), body) }
  try await PostgreSQLServer.withStore { store in try await withHub(over: store, body) }
}

extension TaskStore {
  /// The titles of the inbox.
  var titles: Set<String> {
    get throws { try read { try Set($0.view(.inbox).tasks.map(\.title)) } }
  }
}
