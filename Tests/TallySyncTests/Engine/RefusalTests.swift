import Foundation
import Synchronization
import Tally
import TallySyncConformance
import TallyTestSupport
import Testing

@testable import TallySync

/// A place that refuses what a store sends or asks.
struct RefusalTests {
  @Test func whatOthersSentArrivesThoughThePlaceTakesNothing() async throws {
    try await withPlace { space, place in
      try await space.synchronizeAll(through: place)
      try await space.stores[0].write { _ = try $0.add("from the other", to: .inbox) }
      try await space.sync(0).synchronize(through: MemoryTransport(place))
      try await space.stores[1].write { _ = try $0.add("waits", to: .inbox) }
      let refusing = RefusingTransport(MemoryTransport(place), refusing: [.append: SyncRefusal("No room.")])
      let error = await #expect(throws: TallyError.self) { try await space.sync(1).synchronize(through: refusing) }
      #expect(error?.code == .syncRefused && error?.message.contains("No room") == true)
      #expect(try space.stores[1].read { try Set($0.view(.inbox).tasks.map(\.title)) } == ["from the other", "waits"])
      #expect(try await space.sync(1).status().pending == 1)
    }
  }

  @Test(arguments: RefusingTransport.Call.allCases)
  func nothingIsLostWhateverIsRefused(_ call: RefusingTransport.Call) async throws {
    try await withPlace { space, place in
      for number in 0..<3 { try await space.stores[0].write { _ = try $0.add("task \(number)", to: .inbox) } }
      let refusing = RefusingTransport(MemoryTransport(place), refusing: [call: SyncRefusal("Go away.")])
      _ = try? await space.sync(0).synchronize(through: refusing)
      let isReached = refusing.wasRefused
      #expect(try await space.sync(0).status().refused == (isReached ? "Go away." : nil))
      try await space.synchronizeAll(through: place)
      #expect(try await space.sync(0).status().refused == nil)
      #expect(try await space.sync(0).status().pending == 0)
      #expect(try space.stores[1].read { try $0.view(.inbox).tasks.count } == 3)
      try await space.expectEqualStores()
    }
  }

  @Test func aPlaceThatCannotBeReachedKeepsWhatItHadRefused() async throws {
    try await withPlace { space, place in
      try await space.stores[0].write { _ = try $0.add("one", to: .inbox) }
      await place.refuseSegments("The account is full")
      _ = try? await space.sync(0).synchronize(through: MemoryTransport(place))
      #expect(try await space.sync(0).status().refused == "The account is full")
      struct Away: Error {}
      let away = RefusingTransport(MemoryTransport(place), refusing: [.heads: Away()])
      let error = await #expect(throws: TallyError.self) { try await space.sync(0).synchronize(through: away) }
      #expect(error?.code == .syncUnreachable)
      #expect(try await space.sync(0).status().refused == "The account is full")
    }
  }

  @Test func upkeepGoesOnWhileSegmentsAreRefused() async throws {
    try await withPlace { space, place in
      try await space.synchronizeAll(through: place)
      try await space.stores[0].write { _ = try $0.add("one", to: .inbox) }
      let refusing = RefusingTransport(MemoryTransport(place), refusing: [.append: SyncRefusal("No room.")])
      _ = try? await space.sync(0).synchronize(through: refusing)
      // It comes last in an exchange.
      #expect(refusing.calls.contains(.pack))
    }
  }

  @Test func aPlaceDoesNotPrintItsToken() {
    let place = SyncPlace("https://hub.example", token: "secret")
    var dumped = ""
    dump(place, to: &dumped)
    let optional: SyncPlace? = place
    for text in ["\(place)", String(reflecting: place), String(describing: [optional]), dumped] {
      #expect(text.contains("hub.example") && !text.contains("secret"))
    }
  }

  @Test(.timeLimit(.minutes(2))) func theAgentDoesNotAskAgainForEachLocalChange() async throws {
    try await withFolderSpace(1) { space in
      let place = MemoryPlace()
      let transport = RefusingTransport(
        MemoryTransport(place), refusing: [.append: SyncRefusal("No room.", retryInSeconds: 3_600)])
      let store = space.stores[0]
      try await StoreSync(store).leave()
      let sync = StoreSync(store, connector: OneConnector(transport: transport))
      try await store.write { _ = try $0.add("first", to: .inbox) }
      _ = try await sync.setUp(SpaceID(), at: SyncPlace("https://hub.example", token: "x"), deviceName: "one")
      let (events, continuation) = AsyncStream.makeStream(of: SyncEvent.self)
      let agent = Task { try await sync.run { continuation.yield($0) } }
      defer { agent.cancel() }
      var iterator = events.makeAsyncIterator()
      let first = await iterator.next()
      if case .failed(let error, 3_600) = first {
        #expect(error.code == .syncRefused)
      } else {
        Issue.record("\(String(describing: first))")
      }
      for number in 0..<5 { try await store.write { _ = try $0.add("task \(number)", to: .inbox) } }
      // Longer than the agent waits after a commit.
      try await Task.sleep(for: .seconds(1))
      // The first time, and perhaps once more because its own card was news.
      #expect(transport.calls.filter { $0 == .append }.count <= 2)
      // Somebody synchronises by hand when the place takes changes again: the agent goes on at once.
      transport.refuseNothing()
      try await sync.synchronize()
      while let event = await iterator.next() {
        if case .synchronized = event { return }
      }
      Issue.record("The agent does not go on")
    }
  }

  @Test func theAgentAsksAgainAfterLongerAndLongerTimes() {
    let times = (0..<9).map { StoreSync.secondsAfterRefusal(SyncRefusal("No."), failures: $0) }
    #expect(times == [5, 10, 20, 40, 80, 160, 300, 300, 300])
    #expect(StoreSync.secondsAfterRefusal(SyncRefusal("Later.", retryInSeconds: 42), failures: 3) == 42)
  }
}

private func withPlace(_ body: (FolderSpace, MemoryPlace) async throws -> Void) async throws {
  try await withFolderSpace(2) { try await body($0, MemoryPlace()) }
}

private struct OneConnector: SyncConnector {
  let transport: RefusingTransport

  func transport(to place: SyncPlace, space: SpaceID) throws -> any SyncTransport { transport }
}

/// A place that refuses some calls.
final class RefusingTransport: SyncTransport {
  enum Call: String, CaseIterable, Sendable {
    case heads, segments, append, cards, putCard, snapshots, part, putPart, delete, pack
  }

  private let base: any SyncTransport
  private let errors: Mutex<[Call: any Error]>
  private let made = Mutex<[Call]>([])
  private let sent = Mutex<[[[UInt8]]]>([])
  private let appending: Appending

  /// How segments are appended at the place.
  typealias Appending = @Sendable (any SyncTransport, [[UInt8]], ReplicaID) async throws -> [AppendAnswer]

  init(
    _ base: any SyncTransport, refusing errors: [Call: any Error] = [:],
    appending: @escaping Appending = { try await $0.append($1, of: $2) }
  ) {
    (self.base, self.appending) = (base, appending)
    self.errors = Mutex(errors)
  }

  var calls: [Call] { made.withLock { $0 } }
  /// The segments of each call of append.
  var batches: [[[UInt8]]] { sent.withLock { $0 } }
  var wasRefused: Bool { calls.contains { call in errors.withLock { $0[call] != nil } } }

  func refuseNothing() { errors.withLock { $0 = [:] } }

  private func note(_ call: Call) throws {
    made.withLock { $0.append(call) }
    if let error = errors.withLock({ $0[call] }) { throw error }
  }

  func heads() async throws -> [ReplicaID: SegmentHead] {
    try note(.heads)
    return try await base.heads()
  }

  func segments(of replica: ReplicaID, after number: UInt64, byteCount: Int) async throws -> [[UInt8]] {
    try note(.segments)
    return try await base.segments(of: replica, after: number, byteCount: byteCount)
  }

  func append(_ segments: [[UInt8]], of replica: ReplicaID) async throws -> [AppendAnswer] {
    try note(.append)
    sent.withLock { $0.append(segments) }
    return try await appending(base, segments, replica)
  }

  func cards() async throws -> [ReplicaID: [UInt8]] {
    try note(.cards)
    return try await base.cards()
  }

  func putCard(_ card: [UInt8], of replica: ReplicaID, number: UInt64) async throws {
    try note(.putCard)
    try await base.putCard(card, of: replica, number: number)
  }

  func snapshots() async throws -> [SnapshotName] {
    try note(.snapshots)
    return try await base.snapshots()
  }

  func part(_ number: Int, of name: SnapshotName) async throws -> [UInt8] {
    try note(.part)
    return try await base.part(number, of: name)
  }

  func putPart(_ part: [UInt8], number: Int, of name: SnapshotName) async throws {
    try note(.putPart)
    try await base.putPart(part, number: number, of: name)
  }

  func delete(segmentsOf replica: ReplicaID, upTo number: UInt64, snapshots: [SnapshotName]) async throws {
    try note(.delete)
    try await base.delete(segmentsOf: replica, upTo: number, snapshots: snapshots)
  }

  func pack(_ replica: ReplicaID) async throws {
    try note(.pack)
    try await base.pack(replica)
  }

  func waitForChanges(seconds: Double) async throws -> Bool { try await base.waitForChanges(seconds: seconds) }
}
