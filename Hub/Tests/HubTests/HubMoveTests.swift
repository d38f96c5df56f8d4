import Foundation
import HubClient
import HubSamples
import HubStorage
import HubWire
import SystemPackage
import Tally
import TallySync
import Testing

/// Spaces that move to a hub, leave it and return, and members that repeat what they have asked for.
struct HubMoveTests {
  @Test(arguments: HubKind.allCases)
  func aMoveThatFailedGoesOn(_ kind: HubKind) async throws {
    try await withHub(of: kind) { hub in
      try await withSpace(of: 2) { stores, folder in
        let place = hub.url
        let broken = StoreSync(stores[0], connector: UnreachableConnector())
        for _ in 0..<3 {
          await #expect(throws: (any Error).self) { try await broken.move(toHub: place) }
          #expect(try await stores[0].sync.status().place == folder.string)
        }
        // The space is there, so that nobody else can create it.
        let space = try await stores[0].sync.status().space
        let access = HubAccess(at: hub.url)
        let fault = await #expect(throws: HubFault.self) { try await access.newSpace(space) }
        if case .status(409, _) = fault {} else { Issue.record("\(String(describing: fault))") }
        let replica = try await stores[0].sync.status().replica
        try await stores[0].sync.move(toHub: place + "/")
        #expect(try await stores[0].sync.status().replica == replica)
        try await stores[1].sync.move(hubInvitation: try await stores[0].sync.inviteToHub())
        try await requireExchange(between: stores)
        #expect(try await hub.store.spaces(after: nil, limit: 10).map(\.members) == [["owner": 1, "writer": 1]])
      }
    }
  }

  @Test func aMoveWhoseAnswerIsLostGoesOn() async throws {
    try await withHub { hub in
      try await withSpace(of: 1) { stores, _ in
        let (token, isNew) = try await stores[0].sync.tokenForMove(toHub: hub.url)
        #expect(isNew)
        let (access, space) = (HubAccess(at: hub.url), try await stores[0].sync.status().space)
        #expect(
          try await access.createSpace(space, account: try await access.createAccount().token, as: token) == token)
        try await stores[0].sync.move(toHub: hub.url)
        #expect(try await stores[0].sync.place().token == token)
        try await stores[0].sync.synchronize()
      }
    }
  }

  @Test(arguments: HubKind.allCases, [false, true])
  func devicesThatLeaveAHubReturnAsTheyWere(_ kind: HubKind, isInvited: Bool) async throws {
    try await withHub(of: kind) { hub in
      try await withSpace(of: 2) { stores, folder in
        try await stores[0].sync.move(toHub: hub.url)
        try await stores[1].sync.move(hubInvitation: try await stores[0].sync.inviteToHub())
        try await requireExchange(between: stores)
        let invitation = try await stores[0].sync.inviteToHub()
        let replicas = try await statuses(of: stores).map(\.replica)
        for store in stores { try await store.sync.move(to: folder) }
        try await requireExchange(between: stores)
        try await stores[0].sync.move(toHub: hub.url)
        if isInvited {
          try await stores[1].sync.move(hubInvitation: invitation)
        } else {
          try await stores[1].sync.move(toHub: hub.url)
        }
        try await requireExchange(between: stores)
        #expect(try await statuses(of: stores).map(\.replica) == replicas)
        #expect(try await hub.store.spaces(after: nil, limit: 10).map(\.members) == [["owner": 1, "writer": 1]])
      }
    }
  }

  @Test func aSpaceThatBeganAtAHubReturns() async throws {
    try await withHub { hub in
      try await withDirectory { directory in
        try await withStores(1) { stores in
          let replica = try await stores[0].sync.setUp(atHub: hub.url, deviceName: "first").replica
          try await stores[0].sync.synchronize()
          try await stores[0].sync.move(to: directory)
          try await requireExchange(between: stores)
          try await stores[0].sync.move(toHub: hub.url)
          try await requireExchange(between: stores)
          #expect(try await stores[0].sync.status().replica == replica)
        }
      }
    }
  }

  /// The hub has another address, so the store does not find its token, as after a move by a version that kept none.
  @Test func aDeviceThatBecomesAnotherMemberBecomesANewReplica() async throws {
    try await withDirectory { directory in
      try await withSpace(of: 2) { stores, folder in
        let replica = try await stores[1].sync.status().replica
        try await withHub(HubOptions(), in: directory) { hub in
          try await stores[0].sync.move(toHub: hub.url)
          try await stores[1].sync.move(hubInvitation: try await stores[0].sync.inviteToHub())
          try await requireExchange(between: stores)
          try await stores[1].sync.move(to: folder)
        }
        try await stores[1].write { _ = try $0.add("written in between", to: .inbox) }
        try await withHub(HubOptions(), in: directory) { hub in
          try await stores[0].sync.move(toNewAddress: hub.url)
          try await stores[1].sync.move(hubInvitation: try await stores[0].sync.inviteToHub())
          let status = try await stores[1].sync.status()
          #expect(status.replica != replica)
          #expect(status.members.contains { $0.replica == replica && $0.isFormer })
          try await requireExchange(between: stores)
          #expect(try stores[0].titles.contains("written in between"))
        }
      }
    }
  }

  @Test func aReaderReturnsAsTheReplicaThatItWas() async throws {
    try await withHub { hub in
      try await withSpace(of: 2) { stores, folder in
        try await stores[0].sync.move(toHub: hub.url)
        try await stores[1].sync.move(hubInvitation: try await stores[0].sync.inviteToHub(as: .reader))
        for store in [stores[1], stores[0]] { _ = try? await store.sync.synchronize() }
        let replica = try await stores[1].sync.status().replica
        try await stores[1].sync.move(to: folder)
        try await stores[1].sync.move(toHub: hub.url)
        #expect(try await stores[1].sync.status().replica == replica)
      }
    }
  }

  @Test(arguments: ["HTTP://LOCALHOST:%/", "http://localhost:%", "http://localhost:%//"])
  func aHubHasOneTokenHoweverItsAddressIsWritten(_ address: String) async throws {
    try await withHub { hub in
      try await withSpace(of: 1) { stores, folder in
        try await stores[0].sync.move(toHub: "http://localhost:\(hub.port)/")
        try await stores[0].sync.move(to: folder)
        let known = try await stores[0].sync.tokenForMove(
          toHub: address.replacingOccurrences(of: "%", with: "\(hub.port)"))
        #expect(!known.isNew)
        #expect(try await stores[0].sync.tokenForMove(toHub: "http://localhost").isNew)
        #expect(try await !stores[0].sync.tokenForMove(toHub: "http://localhost:80/").isNew)
      }
    }
  }

  @Test func anInvitationWorksHoweverItsAddressIsWritten() async throws {
    try await withHub { hub in
      try await withSpace(of: 2) { stores, _ in
        try await stores[0].sync.move(toHub: hub.url)
        let invitation = try await stores[0].sync.inviteToHub().replacingOccurrences(of: "http://", with: "HTTP://")
        try await stores[1].sync.move(hubInvitation: invitation)
        try await requireExchange(between: stores)
      }
    }
  }

  /// A full space refuses a card, too, and does not say whose it is.
  @Test func onlyADenialSaysThatAReplicaIsAnotherMembers() {
    #expect(HubFault.status(403, "").refusal?.isDenial == true)
    for status in [400, 404, 409, 413, 507] { #expect(HubFault.status(status, "").refusal?.isDenial == false) }
    #expect(HubFault.status(503, "").refusal == nil)
  }

  @Test func aTokenThatMovesToANewAddressIsNoLongerForTheOldOne() async throws {
    try await withHub { hub in
      try await withSpace(of: 1) { stores, _ in
        try await stores[0].sync.move(toHub: hub.url)
        let (former, token) = (hub.url, try await stores[0].sync.place().token)
        try await stores[0].sync.move(toNewAddress: "http://localhost:\(hub.port)")
        #expect(try await stores[0].sync.place().token == token)
        #expect(try await stores[0].sync.tokenForMove(toHub: former).isNew)
      }
    }
  }

  @Test func anOlderHubSaysNothingAboutOwners() async throws {
    try await withHub { hub in
      try await withOlderHub(before: hub) { older in
        try await withStores(1) { stores in
          let setup = try await stores[0].sync.setUp(atHub: older, deviceName: "first")
          try await stores[0].sync.synchronize()
          #expect(try await stores[0].sync.recoveryCode() == setup.recoveryCode)
        }
      }
    }
  }

  /// Hubs before this version ignore the hash of a device's token, and make a token themselves.
  @Test func aMoveToAnOlderHubThatFailedGoesOn() async throws {
    try await withHub { hub in
      try await withOlderHub(before: hub) { older in
        try await withSpace(of: 2) { stores, _ in
          let broken = StoreSync(stores[0], connector: UnreachableConnector())
          await #expect(throws: (any Error).self) { try await broken.move(toHub: older) }
          try await stores[0].sync.move(toHub: older)
          let invitation = try await stores[0].sync.inviteToHub()
          await #expect(throws: (any Error).self) {
            try await StoreSync(stores[1], connector: UnreachableConnector()).move(hubInvitation: invitation)
          }
          try await stores[1].sync.move(hubInvitation: invitation)
          try await requireExchange(between: stores)
        }
      }
    }
  }

  @Test(arguments: HubKind.allCases)
  func tokensOfOthersStayTheirs(_ kind: HubKind) async throws {
    try await withHub(of: kind) { hub in
      let (access, space, token) = (HubAccess(at: hub.url), SpaceID(), SyncPlace.newToken())
      let account = try await access.createAccount().token
      #expect(try await access.createSpace(space, account: account, as: token) == token)
      let invitation = try await access.invite(to: space, role: .writer, validInSeconds: 60, token: token)
      let writer = SyncPlace.newToken()
      for known in [account, token] {
        await expectRefusal { try await access.createSpace(SpaceID(), account: account, as: known) }
        await expectRefusal { try await access.join(invitation, to: space, as: known) }
      }
      await expectRefusal { try await access.createSpace(SpaceID(), account: account, as: invitation) }
      // The invitation is not used up.
      #expect(try await access.join(invitation, to: space, as: writer) == writer)
      #expect(try await hub.store.spaces(after: nil, limit: 10).map(\.members) == [["owner": 1, "writer": 1]])
      let card = SealedStream(in: space).card()
      try await HubTransport(at: hub.url, space: space, token: writer).putCard(card.bytes, of: card.replica, number: 1)
      try await access.revoke(card.replica, behind: 0, in: space, token: token)
      await expectRefusal { try await access.createSpace(SpaceID(), account: account, as: writer) }
      await #expect(throws: HubFault.revoked) { try await access.knows(writer, in: space) }
      #expect(try await access.knows(token, in: space))
      #expect(try await !access.knows(SyncPlace.newToken(), in: space))
    }
  }

  private func expectRefusal(_ body: () async throws -> String, _ place: SourceLocation = #_sourceLocation) async {
    let fault = await #expect(throws: HubFault.self, sourceLocation: place) { _ = try await body() }
    if case .status(403, _) = fault {} else { Issue.record("\(String(describing: fault))", sourceLocation: place) }
  }

  /// Runs a body with stores that share a space in a folder.
  private func withSpace(of count: Int, _ body: ([TaskStore], FilePath) async throws -> Void) async throws {
    try await withDirectory { directory in
      try await withStores(count) { stores in
        let folder = directory.appending("shared")
        try FileManager.default.createDirectory(atPath: folder.string, withIntermediateDirectories: true)
        let invitation = try await stores[0].sync.setUp(in: folder, deviceName: "device 0").invitation
        for (number, store) in stores.enumerated().dropFirst() {
          try await store.sync.join(invitation, in: folder, deviceName: "device \(number)")
        }
        try await requireExchange(between: stores)
        try await body(stores, folder)
      }
    }
  }

  /// Requires that what each of the stores writes arrives at all of them.
  private func requireExchange(between stores: [TaskStore]) async throws {
    for store in stores { try await store.write { _ = try $0.add("\(UUID())", to: .inbox) } }
    for _ in 0..<2 { for store in stores { try await store.sync.synchronize() } }
    let hashes = Set(try await statuses(of: stores).map(\.stateHash))
    #expect(hashes.count == 1)
    #expect(try Set(stores.map { try $0.titles.sorted() }).count == 1)
  }

  private func statuses(of stores: [TaskStore]) async throws -> [SyncStatus] {
    var statuses: [SyncStatus] = []
    for store in stores { statuses.append(try await store.sync.status()) }
    return statuses
  }
}

/// Reaches no hub.
private struct UnreachableConnector: SyncConnector {
  func transport(to place: SyncPlace, space: SpaceID) throws -> any SyncTransport {
    throw HubFault.unreachable("It is off.")
  }
}
