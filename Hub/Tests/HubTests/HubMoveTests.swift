import Foundation
import HubClient
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
        try await stores[0].sync.synchronise()
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
          try await stores[0].sync.synchronise()
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
        var owner: String?
        try await withHub(HubOptions(), in: directory) { hub in
          try await stores[0].sync.move(toHub: hub.url)
          try await stores[1].sync.move(hubInvitation: try await stores[0].sync.inviteToHub())
          try await requireExchange(between: stores)
          owner = try await stores[0].sync.place().token
          try await stores[1].sync.move(to: folder)
        }
        try await stores[1].write { _ = try $0.add("written in between", to: .inbox) }
        try await withHub(HubOptions(), in: directory) { hub in
          try await stores[0].sync.move(to: SyncPlace(hub.url, token: owner))
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

  @Test(arguments: HubKind.allCases)
  func whoAsksAgainIsTheSameMember(_ kind: HubKind) async throws {
    try await withHub(of: kind) { hub in
      let (access, space, token) = (HubAccess(at: hub.url), SpaceID(), SyncPlace.newToken())
      let account = try await access.createAccount().token
      for _ in 0..<2 { #expect(try await access.createSpace(space, account: account, as: token) == token) }
      let invitation = try await access.invite(to: space, role: .reader, validInSeconds: 60, token: token)
      let reader = SyncPlace.newToken()
      for _ in 0..<2 { #expect(try await access.join(invitation, to: space, as: reader) == reader) }
      #expect(try await hub.store.spaces(after: nil, limit: 10).map(\.members) == [["owner": 1, "reader": 1]])
      // Tokens of others stay theirs.
      await #expect(throws: HubFault.self) { try await access.createSpace(SpaceID(), account: account, as: account) }
      await #expect(throws: HubFault.self) { try await access.createSpace(SpaceID(), account: account, as: token) }
      let other = SpaceID()
      let owner = try await access.createSpace(other, account: account)
      let second = try await access.invite(to: other, role: .owner, validInSeconds: 60, token: owner)
      await #expect(throws: HubFault.self) { try await access.join(second, to: other, as: reader) }
      await #expect(throws: HubFault.self) { try await access.join(second, to: other, as: account) }
      #expect(try await access.knows(token, in: space))
      #expect(try await access.knows(reader, in: space))
      await #expect(throws: HubFault.self) { try await access.knows(reader, in: other) }
      #expect(try await !access.knows(SyncPlace.newToken(), in: other))
      _ = try await access.join(second, to: other)
    }
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
    for _ in 0..<2 { for store in stores { try await store.sync.synchronise() } }
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
