import Tally
import TallySyncConformance
import TallyTestSupport
import Testing

@testable import TallySync

/// Segments that wait are sent together.
struct SendingTests {
  @Test func allThatWaitsIsSentByOneCall() async throws {
    try await withWaitingSegments(5) { space, place in
      let transport = RefusingTransport(MemoryTransport(place))
      let report = try await space.sync(0).synchronize(through: transport)
      #expect(transport.batches.map(\.count) == [5])
      #expect(report.sent == 5 && report.pending == 0)
      try await expectArrival(of: 5, in: space, place)
    }
  }

  @Test func whatAPlaceTakesOfABatchIsAcknowledgedAndTheRestWaits() async throws {
    try await withWaitingSegments(5) { space, place in
      let transport = RefusingTransport(MemoryTransport(place)) { base, segments, replica in
        try await base.append(Array(segments.prefix(2)), of: replica) + [.refused("No room.")]
      }
      let error = await #expect(throws: TallyError.self) { try await space.sync(0).synchronize(through: transport) }
      #expect(error?.code == .syncRefused)
      let status = try await space.sync(0).status()
      #expect(status.pending == 3 && status.refused == "No room.")
      // The rest alone, with the same bytes.
      let later = RefusingTransport(MemoryTransport(place))
      try await space.sync(0).synchronize(through: later)
      #expect(later.batches == [Array(transport.batches[0].dropFirst(2))])
      try await expectArrival(of: 5, in: space, place)
    }
  }

  @Test func aBatchWhoseAnswerWasLostIsSentAgainWithTheSameBytes() async throws {
    try await withWaitingSegments(4) { space, place in
      struct Lost: Error {}
      let transport = RefusingTransport(MemoryTransport(place)) { base, segments, replica in
        _ = try await base.append(Array(segments.prefix(3)), of: replica)
        throw Lost()
      }
      let error = await #expect(throws: TallyError.self) { try await space.sync(0).synchronize(through: transport) }
      #expect(error?.code == .syncUnreachable)
      #expect(try await space.sync(0).status().pending == 4)
      let later = RefusingTransport(MemoryTransport(place))
      try await space.sync(0).synchronize(through: later)
      #expect(later.batches == transport.batches)
      try await expectArrival(of: 4, in: space, place)
    }
  }

  @Test func aPlaceThatAnswersToOnlySomeSegmentsIsAskedForTheRest() async throws {
    try await withWaitingSegments(3) { space, place in
      let transport = RefusingTransport(MemoryTransport(place)) { base, segments, replica in
        try await base.append([segments[0]], of: replica)
      }
      try await space.sync(0).synchronize(through: transport)
      #expect(transport.batches.map(\.count) == [3, 2, 1])
      try await expectArrival(of: 3, in: space, place)
    }
  }

  @Test func aPlaceThatDoesNotSayWhatItHasStoredIsNotBelieved() async throws {
    try await withWaitingSegments(2) { space, place in
      for answers in [[], [.stored, .stored, .stored]] as [[AppendAnswer]] {
        let transport = RefusingTransport(MemoryTransport(place)) { _, _, _ in answers }
        let error = await #expect(throws: TallyError.self) { try await space.sync(0).synchronize(through: transport) }
        #expect(error?.code == .syncUnreachable)
        #expect(try await space.sync(0).status().pending == 2)
      }
      try await expectArrival(of: 2, in: space, place)
    }
  }

  @Test func aBatchHasABoundOfBytes() async throws {
    try await withFolderSpace(2) { space in
      let place = MemoryPlace()
      let note = String(repeating: "x", count: 60_000)
      try await space.stores[0].write {
        for number in 0..<30 { _ = try $0.add("\(number)", to: .inbox) { $0.notes = note } }
      }
      let transport = RefusingTransport(MemoryTransport(place))
      try await space.sync(0).synchronize(through: transport)
      let sizes = transport.batches.map { $0.reduce(0) { $0 + $1.count } }
      #expect(sizes.count > 2 && sizes.allSatisfy { $0 <= Outbox.mostBytesAtOnce })
      #expect(transport.batches[0].count > 1)
      try await expectArrival(of: 30, in: space, place)
    }
  }

  /// A space whose first store has some segments that a place has refused so far, with a change each.
  private func withWaitingSegments(_ count: Int, _ body: (FolderSpace, MemoryPlace) async throws -> Void) async throws {
    try await withFolderSpace(2) { space in
      let place = MemoryPlace()
      try await space.synchronizeAll(through: place)
      await place.refuseSegments("Not yet.")
      for number in 0..<count {
        try await space.stores[0].write { _ = try $0.add("task \(number)", to: .inbox) }
        _ = try? await space.sync(0).synchronize(through: MemoryTransport(place))
      }
      await place.refuseSegments(nil)
      try await body(space, place)
    }
  }

  private func expectArrival(of count: Int, in space: FolderSpace, _ place: MemoryPlace) async throws {
    try await space.synchronizeAll(through: place)
    #expect(try await space.sync(0).status().pending == 0)
    #expect(try space.stores[1].read { try $0.view(.inbox).tasks.count } == count)
    try await space.expectEqualStores()
  }
}
