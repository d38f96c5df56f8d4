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

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Stores that synchronise through a hub.
struct HubSpaceTests {
  @Test func aChangeArrivesAtTheOtherDevice() async throws {
    try await withHub { hub in
      try await withStores(2) { stores in
        try await stores[0].write { _ = try $0.add("before", to: .inbox) }
        let invitation = try await stores[0].sync.setUp(atHub: hub.url, deviceName: "first").invitation
        try await stores[0].sync.synchronize()
        try await stores[1].sync.join(hubInvitation: invitation, deviceName: "second")
        try await stores[1].sync.synchronize()
        try await stores[1].write { _ = try $0.add("after", to: .inbox) }
        try await stores[1].sync.synchronize()
        try await stores[0].sync.synchronize()
        for store in stores {
          #expect(try store.read { try Set($0.view(.inbox).tasks.map(\.title)) } == ["before", "after"])
        }
        #expect(try await stores[0].sync.status().stateHash == stores[1].sync.status().stateHash)
        await #expect(throws: HubFault.self) {
          try await stores[1].sync.join(hubInvitation: invitation, deviceName: "again")
        }
      }
    }
  }

  @Test func agentsExchangeWithoutBeingAsked() async throws {
    try await withHub { hub in
      try await withStores(2) { stores in
        let invitation = try await stores[0].sync.setUp(atHub: hub.url, deviceName: "first").invitation
        try await stores[1].sync.join(hubInvitation: invitation, deviceName: "second")
        let agents = stores.map { store in Task { try await store.sync.run { _ in } } }
        defer { for agent in agents { agent.cancel() } }
        for number in 0..<3 {
          try await stores[number % 2].write { _ = try $0.add("task \(number)", to: .inbox) }
          let other = stores[1 - number % 2]
          try await wait { try other.read { try $0.view(.inbox).tasks.count } == number + 1 }
        }
        // A store with a reader cannot be closed.
        for agent in agents {
          agent.cancel()
          _ = try? await agent.value
        }
      }
    }
  }

  @Test func aRefusedChangeWaitsAndIsSentWhenThereIsRoom() async throws {
    try await withDirectory { directory in
      try await withStores(2) { stores in
        var small = HubConfiguration()
        small.spaceLimitInBytes = 4_000
        try await withHub(HubOptions(configuration: small), in: directory) { hub in
          _ = try await stores[0].sync.setUp(atHub: hub.url, deviceName: "first")
          for number in 0..<100 {
            try await stores[0].write { _ = try $0.add("task \(number) with a longer title", to: .inbox) }
          }
          let error = await #expect(throws: TallyError.self) { try await stores[0].sync.synchronize() }
          #expect(error?.code == .syncRefused)
          let status = try await stores[0].sync.status()
          #expect(status.pending == 100)
          #expect(status.refused == "The space has no room at the hub.")
        }
      }
    }
  }

  @Test func aRevokedDeviceIsShutOutAndKeepsItsChanges() async throws {
    try await withHub { hub in
      try await withStores(2) { stores in
        let invitation = try await stores[0].sync.setUp(atHub: hub.url, deviceName: "first").invitation
        try await stores[0].sync.synchronize()
        try await stores[1].sync.join(hubInvitation: invitation, deviceName: "second")
        try await stores[1].write { _ = try $0.add("kept", to: .inbox) }
        try await stores[1].sync.synchronize()
        try await stores[0].sync.revokeAtHub(try await stores[1].sync.status().replica)
        try await stores[1].write { _ = try $0.add("late", to: .inbox) }
        let error = await #expect(throws: TallyError.self) { try await stores[1].sync.synchronize() }
        #expect(error?.code == .deviceRevoked)
        let status = try await stores[1].sync.status()
        #expect(status.pending == 1)
        #expect(status.refused == error?.message)
        // The hub alone shuts nobody out for good: only a record of the space is believed.
        #expect(!status.isRevoked)
        try await stores[0].sync.synchronize()
        #expect(try stores[0].read { try $0.view(.inbox).tasks.map(\.title) } == ["kept"])
      }
    }
  }

  @Test func aReaderGetsChanges() async throws {
    try await withHub { hub in
      try await withStores(2) { stores in
        _ = try await stores[0].sync.setUp(atHub: hub.url, deviceName: "first")
        try await stores[0].write { _ = try $0.add("seen", to: .inbox) }
        try await stores[0].sync.synchronize()
        let invitation = try await stores[0].sync.inviteToHub(as: .reader)
        try await stores[1].sync.join(hubInvitation: invitation, deviceName: "second")
        try await stores[1].sync.synchronize()
        #expect(try stores[1].read { try $0.view(.inbox).tasks.map(\.title) } == ["seen"])
        // What it writes itself stays with it, and does not keep it from reading.
        try await stores[1].write { _ = try $0.add("own", to: .inbox) }
        try await stores[0].write { _ = try $0.add("later", to: .inbox) }
        try await stores[0].sync.synchronize()
        let error = await #expect(throws: TallyError.self) { try await stores[1].sync.synchronize() }
        #expect(error?.code == .syncRefused)
        #expect(try stores[1].read { try Set($0.view(.inbox).tasks.map(\.title)) } == ["seen", "own", "later"])
        #expect(try await stores[1].sync.status().pending == 1)
      }
    }
  }

  @Test func requestsWithoutATokenAreLimited() async throws {
    var strict = HubConfiguration()
    (strict.burstOfStrangers, strict.requestsOfStrangersPerSecond) = (2, 0.001)
    try await withHub(strict) { hub in
      let access = HubAccess(at: hub.url)
      for _ in 0..<2 { _ = try await access.createAccount() }
      let fault = await #expect(throws: HubFault.self) { try await access.createAccount() }
      #expect(fault?.isRefusal == false)
    }
  }

  @Test func aTokenIsForOneSpace() async throws {
    try await withHub { hub in
      let (access, spaces) = (HubAccess(at: hub.url), [SpaceID(), SpaceID()])
      let account = try await access.createAccount().token
      var tokens: [String] = []
      for space in spaces { tokens.append(try await access.createSpace(space, account: account)) }
      _ = try await HubTransport(at: hub.url, space: spaces[0], token: tokens[0]).heads()
      for token in [tokens[1], account, ""] {
        let stranger = HubTransport(at: hub.url, space: spaces[0], token: token)
        await #expect(throws: (any Error).self) { try await stranger.heads() }
        await #expect(throws: (any Error).self) { try await stranger.cards() }
      }
    }
  }

  @Test func aRevokedMemberThatHasAppendedIsDenied() async throws {
    try await withHub { hub in
      let (access, space) = (HubAccess(at: hub.url), SpaceID())
      let account = try await access.createAccount().token
      let token = try await access.createSpace(space, account: account)
      let transport = HubTransport(at: hub.url, space: space, token: token)
      var stream = SealedStream(in: space)
      for isRevoked in [false, true] {
        let segment = stream.next(1)[0]
        if isRevoked { try await access.revoke(stream.replica, behind: 1, in: space, token: token) }
        let answers = try await transport.append([segment], of: stream.replica)
        #expect((answers == [.stored]) == !isRevoked)
      }
      #expect(try await hub.store.segments(after: 0, byteCount: 1 << 20, in: space).count == 1)
    }
  }

  @Test func theStoreHasNoToken() async throws {
    try await withDirectory { directory in
      var tokens: [String] = []
      try await withHub(HubOptions(), in: directory) { hub in
        let (access, space) = (HubAccess(at: hub.url), SpaceID())
        tokens.append(try await access.createAccount().token)
        tokens.append(try await access.createSpace(space, account: tokens[0]))
        tokens.append(try await access.invite(to: space, role: .writer, validInSeconds: 60, token: tokens[1]))
      }
      let data = try Data(contentsOf: URL(filePath: directory.appending("data.mdb").string))
      for token in tokens {
        let bytes = try #require(Hexadecimal.bytes(of: token))
        #expect(data.range(of: Data(token.utf8)) == nil && data.range(of: Data(bytes)) == nil)
        let hash = Data(SHA256.hash(data: Data(token.utf8)))
        #expect(data.range(of: hash) != nil)
      }
    }
  }

  @Test func aStoreThatSynchronisesUsesUpNoInvitation() async throws {
    try await withHub { hub in
      try await withStores(2) { stores in
        let invitation = try await stores[0].sync.setUp(atHub: hub.url, deviceName: "first").invitation
        await #expect(throws: HubFault.alreadySynchronises) {
          try await stores[0].sync.join(hubInvitation: invitation, deviceName: "first")
        }
        try await stores[1].sync.join(hubInvitation: invitation, deviceName: "second")
      }
    }
  }

  @Test(arguments: [
    "{}", #"{"spaces":{},"seconds":1}"#, #"{"spaces":{"x":{"change":0,"token":""}},"seconds":1}"#, "[]", "",
  ])
  func aWaitNamesSpaces(_ body: String) async throws {
    try await withHub { hub in
      var request = URLRequest(url: try #require(URL(string: "\(hub.url)/v1/wait")))
      (request.httpMethod, request.httpBody) = ("POST", Data(body.utf8))
      let (_, response) = try await URLSession.shared.data(for: request)
      #expect((response as? HTTPURLResponse)?.statusCode == 400)
    }
  }
}

extension TaskStore {
  var sync: StoreSync { StoreSync(self, connector: HubConnector()) }
}

/// Runs a body with new stores.
func withStores(_ count: Int, _ body: ([TaskStore]) async throws -> Void) async throws {
  try await withDirectory { directory in
    let stores = try (0..<count).map { try TaskStore(at: directory.appending("store-\($0)")) }
    try await body(stores)
    for store in stores {
      #expect(try store.verify().isSound)
      try store.close()
    }
  }
}

/// Waits until something is so, for a time that is generous on a busy machine.
private func wait(until isSo: () throws -> Bool, sourceLocation: SourceLocation = #_sourceLocation) async throws {
  let deadline = ContinuousClock.now + .seconds(60)
  while try !isSo() {
    try #require(ContinuousClock.now < deadline, sourceLocation: sourceLocation)
    try await Task.sleep(for: .milliseconds(20))
  }
}
