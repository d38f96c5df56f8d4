public import TallySync

/// Checks that a place fulfills what `SyncTransport` promises.
///
/// An implementation outside this package runs it in its own tests, with any test library:
///
///     let conformance = TransportConformance { space, replica in
///       try FolderTransport.create(at: folder, space: space)
///     }
///     #expect(await conformance.run() == [])
///
/// Each check has a place of its own. The bytes that it stores have the form of sealed envelopes with a correct chain of
/// hashes, but no key fits them.
public struct TransportConformance: Sendable {
  /// Connects a replica to the place of a space, and creates the place if it is not there.
  ///
  /// Two calls with the same space return two transports of one place. A space is sixteen bytes.
  public typealias MakeTransport =
    @Sendable (_ space: [UInt8], _ replica: ReplicaID) async throws -> any SyncTransport

  let makeTransport: MakeTransport
  let waitLimit: Duration

  /// Creates checks for places to which a closure connects.
  ///
  /// - Parameters:
  ///   - waitLimit: The time after which a wait that should have ended counts as failed; it is long because test
  ///     machines are busy.
  ///   - makeTransport: Connects a replica to the place of a space.
  public init(waitLimit: Duration = .seconds(60), makeTransport: @escaping MakeTransport) {
    (self.makeTransport, self.waitLimit) = (makeTransport, waitLimit)
  }

  /// The names of all checks, in the order in which they run.
  public static var checkNames: [String] { checks.map(\.name) }

  /// Runs the checks one after the other.
  ///
  /// - Returns: At most one failure per check; none if the place fulfills all promises.
  public func run() async -> [ConformanceFailure] {
    var failures: [ConformanceFailure] = []
    for check in Self.checks {
      do {
        try await check.body(ConformancePlace(of: self))
      } catch let unmet as UnmetExpectation {
        failures.append(ConformanceFailure(check: check.name, expected: unmet.text))
      } catch {
        failures.append(ConformanceFailure(check: check.name, expected: "no error, not '\(error)'"))
      }
    }
    return failures
  }

  static let checks = appending + reading + cards + snapshots + deleting + waiting
}

/// A promise that a place does not fulfill.
public struct ConformanceFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The name of the check, a claim.
  public let check: String
  /// The promise, at the point where the check ended.
  public let expected: String

  /// Both in one line.
  public var description: String { "\(check): expected \(expected)" }
}

/// One check: a claim, and its proof.
struct ConformanceCheck: Sendable {
  let name: String
  let body: @Sendable (ConformancePlace) async throws -> Void

  init(_ name: String, _ body: @escaping @Sendable (ConformancePlace) async throws -> Void) {
    (self.name, self.body) = (name, body)
  }
}

/// Ends a check.
struct UnmetExpectation: Error {
  let text: String
}

/// Ends the check unless a condition holds.
func require(_ condition: Bool, _ text: @autoclosure () -> String) throws(UnmetExpectation) {
  guard condition else { throw UnmetExpectation(text: text()) }
}

/// Ends the check unless two values are equal.
func require<Value: Equatable>(_ found: Value, is expected: Value, _ name: String) throws(UnmetExpectation) {
  try require(found == expected, "\(name) to be \(expected), not \(found)")
}

extension TransportConformance {
  static let reading = [
    ConformanceCheck("segments are given back byte for byte, from any number on") { place in
      var stream = place.stream()
      let transport = try await place.connect(stream)
      let segments = stream.next(4) + [stream.next(bodyByteCount: 1 << 20)] + stream.next(2)
      try await transport.store(segments)
      for number in 0...segments.count {
        let rest = Array(segments[number...])
        try await transport.requireSegments(rest, of: stream.replica, after: UInt64(number))
      }
      for number in [8, 1_000_000, UInt64.max] {
        try await transport.requireSegments([], of: stream.replica, after: number)
      }
      try await transport.requireSegments([], of: place.stream().replica, after: 0)
    },
    ConformanceCheck("reading stops at the number of bytes, after one segment at least") { place in
      var stream = place.stream()
      let transport = try await place.connect(stream)
      let segments = stream.next(9)
      try await transport.store(segments)
      let size = segments[0].bytes.count
      for limit in [0, 1, size - 1, size, size + 1, 3 * size, 3 * size + 1, 100 * size] {
        var found: [[UInt8]] = []
        while found.count < segments.count {
          let next = try await transport.segments(
            of: stream.replica, after: UInt64(found.count), byteCount: limit)
          try require(!next.isEmpty, "a segment after \(found.count) with a limit of \(limit) bytes")
          let sizeBeforeLast = next.dropLast().reduce(0) { $0 + $1.count }
          try require(
            next.count == 1 || sizeBeforeLast < limit,
            "reading to stop at \(limit) bytes, not \(sizeBeforeLast) before the last segment")
          found += next
        }
        try require(found == segments.map(\.bytes), "every segment once and in order with a limit of \(limit) bytes")
      }
    },
    ConformanceCheck("a new connection finds what an old one has stored") { place in
      var stream = place.stream()
      let segments = stream.next(3)
      try await place.connect(stream).store(segments)
      let transport = try await place.connect(stream)
      try require(try await transport.heads(), is: [stream.replica: segments[2].head], "the heads")
      try await transport.requireSegments(segments, of: stream.replica, after: 0)
      try await transport.store(stream.next(1))
    },
    ConformanceCheck("a reader beside a writer finds whole segments without gaps") { place in
      var stream = place.stream()
      let (writer, reader) = (try await place.connect(stream), try await place.connect(place.stream()))
      let segments = stream.next(40)
      let replica = stream.replica
      let writing = Task { try await writer.store(segments) }
      let error = try await place.ending("reading") {
        var known = 0
        while known < segments.count {
          let found = try await reader.segments(of: replica, after: 0, byteCount: .max)
          try require(
            found == segments.prefix(found.count).map(\.bytes) && found.count >= known,
            "the first segments, at least \(known) of them, while others are written")
          // A place may refuse a reader that asks without a pause.
          if found.count == known { try await Task.sleep(for: .milliseconds(20)) }
          known = found.count
        }
      }
      try await writing.value
      if let error { throw error }
    },
  ]
}

extension TransportConformance {
  static let appending = [
    ConformanceCheck("an empty place has nothing") { place in
      let stream = place.stream()
      let transport = try await place.connect(stream)
      try require(try await transport.heads(), is: [:], "the heads")
      try require(try await transport.cards(), is: [:], "the cards")
      try require(try await transport.snapshots(), is: [], "the snapshots")
      try await transport.requireSegments([], of: stream.replica, after: 0)
    },
    ConformanceCheck("segments are appended in order, and the last one is the head") { place in
      var stream = place.stream()
      let transport = try await place.connect(stream)
      for segment in stream.next(12) {
        try await transport.store([segment])
        try require(try await transport.heads(), is: [stream.replica: segment.head], "the heads")
      }
    },
    ConformanceCheck("the same segment again is known") { place in
      var stream = place.stream()
      let transport = try await place.connect(stream)
      let segments = stream.next(3)
      try await transport.store(segments)
      for segment in segments.reversed() {
        let answer = try await transport.append(segment)
        try require(answer, is: .known, "the answer to segment \(segment.head.number) again")
      }
      try await transport.requireSegments(segments, of: stream.replica, after: 0)
    },
    ConformanceCheck("another segment with a number that is taken is a fork") { place in
      var stream = place.stream()
      let transport = try await place.connect(stream)
      var twin = stream
      let segments = stream.next(3)
      try await transport.store(segments)
      for segment in twin.next(3) {
        let answer = try await transport.append(segment)
        try require(answer, is: .fork, "the answer to another segment \(segment.head.number)")
      }
      try require(try await transport.heads(), is: [stream.replica: segments[2].head], "the heads")
      try await transport.requireSegments(segments, of: stream.replica, after: 0)
    },
    ConformanceCheck("a segment that is not the next one is refused with the last one there") { place in
      var stream = place.stream()
      let transport = try await place.connect(stream)
      let segments = stream.next(5)
      try require(try await transport.append(segments[1]), is: .gap(.none), "the answer to segment 2 alone")
      try await transport.store(Array(segments[..<2]))
      let answer = try await transport.append(segments[4])
      try require(answer, is: .gap(segments[1].head), "the answer to segment 5 after 2")
      try await transport.requireSegments(Array(segments[..<2]), of: stream.replica, after: 0)
      try await transport.store(Array(segments[2...]))
    },
    ConformanceCheck("segments that are sent together are stored in their order") { place in
      var stream = place.stream()
      let transport = try await place.connect(stream)
      let segments = stream.next(20)
      let bytes = segments.map(\.bytes)
      let first = try await transport.append(Array(bytes[..<12]), of: stream.replica)
      try require(first, is: Array(repeating: .stored, count: 12), "the answers to 12 segments")
      try await transport.requireSegments(Array(segments[..<12]), of: stream.replica, after: 0)
      // As after an answer that was lost.
      let again = try await transport.append(Array(bytes[4...]), of: stream.replica)
      let expected = Array(repeating: AppendAnswer.known, count: 8) + Array(repeating: .stored, count: 8)
      try require(again, is: expected, "the answers to 8 segments that are there and 8 that follow")
      try require(try await transport.heads(), is: [stream.replica: segments[19].head], "the heads")
      try await transport.requireSegments(segments, of: stream.replica, after: 0)
    },
    ConformanceCheck("of segments that are sent together none is stored after one that is not") { place in
      var stream = place.stream()
      let transport = try await place.connect(stream)
      var twin = stream
      let (segments, other) = (stream.next(6), twin.next(2)[1])
      let gap = [segments[0], segments[1], segments[3], segments[4]].map(\.bytes)
      let answers = try await transport.append(gap, of: stream.replica)
      try require(answers, is: [.stored, .stored, .gap(segments[1].head)], "the answers to segments 1, 2, 4 and 5")
      let fork = [segments[0], other, segments[2]].map(\.bytes)
      let refused = try await transport.append(fork, of: stream.replica)
      try require(refused, is: [.known, .fork], "the answers to 1, another 2, and 3")
      try require(try await transport.heads(), is: [stream.replica: segments[1].head], "the heads")
      try await transport.requireSegments(Array(segments[..<2]), of: stream.replica, after: 0)
    },
    ConformanceCheck("the streams of two replicas do not depend on each other") { place in
      var (first, second) = (place.stream(), place.stream())
      let transports = (try await place.connect(first), try await place.connect(second))
      let segments = (first.next(3), second.next(2))
      try await transports.0.store([segments.0[0]])
      try await transports.1.store(segments.1)
      try await transports.0.store(Array(segments.0[1...]))
      for transport in [transports.0, transports.1] {
        let heads = [first.replica: segments.0[2].head, second.replica: segments.1[1].head]
        try require(try await transport.heads(), is: heads, "the heads")
        try await transport.requireSegments(segments.0, of: first.replica, after: 0)
        try await transport.requireSegments(segments.1, of: second.replica, after: 0)
      }
    },
  ]
}

extension TransportConformance {
  static let cards = [
    ConformanceCheck("of the cards of a replica the one with the greatest number is given") { place in
      let (stream, other) = (place.stream(), place.stream())
      let (transport, reader) = (try await place.connect(stream), try await place.connect(other))
      for number: UInt64 in [1, 2, 9, 10, 11] {
        let card = stream.card(number)
        try await transport.putCard(card, of: stream.replica, number: number)
        try require(try await reader.cards() == [stream.replica: card], "card \(number) alone")
      }
      let newest = try await reader.cards()
      try await transport.putCard(stream.card(3), of: stream.replica, number: 3)
      try require(try await reader.cards() == newest, "card 11 to stay after card 3 was stored")
    },
    ConformanceCheck("every replica has a card of its own") { place in
      let streams = [place.stream(), place.stream(), place.stream()]
      var cards: [ReplicaID: [UInt8]] = [:]
      for stream in streams {
        let card = stream.card(1)
        cards[stream.replica] = card
        try await place.connect(stream).putCard(card, of: stream.replica, number: 1)
      }
      for stream in streams {
        try require(try await place.connect(stream).cards() == cards, "the cards of three replicas")
      }
    },
  ]
}

extension TransportConformance {
  static let deleting = [
    ConformanceCheck("deleting old segments keeps the newer ones") { place in
      var stream = place.stream()
      let (transport, reader) = (try await place.connect(stream), try await place.connect(place.stream()))
      let segments = stream.next(6)
      try await transport.store(segments)
      try await transport.delete(segmentsOf: stream.replica, upTo: 0, snapshots: [])
      try await reader.requireSegments(segments, of: stream.replica, after: 0)
      try await transport.delete(segmentsOf: stream.replica, upTo: 4, snapshots: [])
      try await reader.requireSegments(Array(segments[4...]), of: stream.replica, after: 4)
      try require(try await reader.heads(), is: [stream.replica: segments[5].head], "the heads")
      // A place may keep more than it must, but must not return what follows a gap.
      let rest = try await reader.segments(of: stream.replica, after: 0, byteCount: .max)
      try require(rest.isEmpty || rest == segments.map(\.bytes), "nothing after a gap")
    },
    ConformanceCheck("a stream goes on after all its segments are deleted") { place in
      var stream = place.stream()
      let transport = try await place.connect(stream)
      let segments = stream.next(3)
      try await transport.store(segments)
      try await transport.delete(segmentsOf: stream.replica, upTo: 3, snapshots: [])
      try require(try await transport.heads(), is: [stream.replica: segments[2].head], "the heads")
      let next = stream.next(2)
      try await place.connect(stream).store(next)
      try await transport.requireSegments(next, of: stream.replica, after: 3)
    },
    ConformanceCheck("a deleted snapshot is gone, and the others stay") { place in
      let stream = place.stream()
      let transport = try await place.connect(stream)
      let names = [1, 2, 3].map { stream.snapshot($0, partCount: 2) }
      for name in names {
        for number in 0..<2 { try await transport.putPart(stream.part(number), number: number, of: name) }
      }
      try await transport.delete(segmentsOf: stream.replica, upTo: 0, snapshots: [names[1]])
      try require(try await transport.snapshots(), is: [names[2], names[0]], "the snapshots")
      let part = try? await transport.part(0, of: names[1])
      try require(part == nil, "an error for a part of a deleted snapshot")
    },
    ConformanceCheck("a replica deletes nothing of others") { place in
      var (stream, other) = (place.stream(), place.stream())
      let (transport, reader) = (try await place.connect(stream), try await place.connect(other))
      let (own, foreign) = (stream.next(3), other.next(3))
      try await transport.store(own)
      try await reader.store(foreign)
      let name = other.snapshot(1, partCount: 1)
      try await reader.putPart(other.part(0), number: 0, of: name)
      // A place may throw here or do nothing.
      try? await transport.delete(segmentsOf: stream.replica, upTo: 3, snapshots: [name])
      try require(try await reader.snapshots(), is: [name], "the snapshots of the other replica")
      try await reader.requireSegments(foreign, of: other.replica, after: 0)
    },
  ]
}

extension TransportConformance {
  static let snapshots = [
    ConformanceCheck("a snapshot is there when all its parts are") { place in
      let stream = place.stream()
      let (transport, reader) = (try await place.connect(stream), try await place.connect(place.stream()))
      let name = stream.snapshot(1, partCount: 3)
      let parts = (0..<3).map { stream.part($0) }
      for number in [2, 0, 1] {
        try require(try await reader.snapshots(), is: [], "the snapshots before part \(number) is there")
        try await transport.putPart(parts[number], number: number, of: name)
      }
      try require(try await reader.snapshots(), is: [name], "the snapshots")
      for number in 0..<3 {
        try require(try await reader.part(number, of: name) == parts[number], "part \(number) unchanged")
      }
    },
    ConformanceCheck("the newest snapshot comes first") { place in
      let stream = place.stream()
      let transport = try await place.connect(stream)
      for number: UInt64 in [9, 11, 2, 10] {
        try await transport.putPart(stream.part(0), number: 0, of: stream.snapshot(number, partCount: 1))
      }
      try require(try await transport.snapshots().map(\.number), is: [11, 10, 9, 2], "the numbers of the snapshots")
    },
    ConformanceCheck("a part that is not there is an error") { place in
      let stream = place.stream()
      let transport = try await place.connect(stream)
      try await transport.putPart(stream.part(0), number: 0, of: stream.snapshot(1, partCount: 2))
      for (number, name) in [(1, stream.snapshot(1, partCount: 2)), (0, stream.snapshot(2, partCount: 2))] {
        let part = try? await transport.part(number, of: name)
        try require(part == nil, "an error for part \(number) of snapshot \(name.number)")
      }
    },
  ]
}

extension TransportConformance {
  /// Longer than any test should take.
  private static let longWaitInSeconds = 86_400.0

  static let waiting = [
    ConformanceCheck("a wait ends at its limit") { place in
      let transport = try await place.connect(place.stream())
      _ = try await transport.heads()
      for seconds in [-1, 0, 0.05] {
        let error = try await place.ending("a wait of \(seconds) seconds") {
          let isChanged = try await transport.waitForChanges(seconds: seconds)
          try require(!isChanged, "a wait in which nothing changes to return false")
        }
        if let error { throw error }
      }
    },
    ConformanceCheck("a segment of another replica ends a wait") { place in
      var stream = place.stream()
      let (writer, reader) = (try await place.connect(stream), try await place.connect(place.stream()))
      _ = try await reader.heads()
      // The first segment creates whatever a new replica needs; the second one is an ordinary one.
      for segment in stream.next(2) {
        let wait = Task {
          let isChanged = try await reader.waitForChanges(seconds: longWaitInSeconds)
          try require(isChanged, "a wait that a segment ends to return true")
        }
        try await writer.store([segment])
        if let error = try await place.ending(of: wait, "the wait for segment \(segment.head.number)") { throw error }
        try require(try await reader.heads(), is: [stream.replica: segment.head], "the heads after the wait")
      }
    },
    ConformanceCheck("a change between a look and a wait ends the wait") { place in
      var stream = place.stream()
      let (writer, reader) = (try await place.connect(stream), try await place.connect(place.stream()))
      try await writer.store(stream.next(1))
      _ = try await reader.heads()
      try await writer.store(stream.next(1))
      let error = try await place.ending("a wait that begins after the change") {
        _ = try await reader.waitForChanges(seconds: longWaitInSeconds)
      }
      if let error { throw error }
    },
    ConformanceCheck("other functions can be called while a wait goes on") { place in
      var stream = place.stream()
      let transport = try await place.connect(stream)
      _ = try await transport.heads()
      let wait = Task { _ = try await transport.waitForChanges(seconds: longWaitInSeconds) }
      for segment in stream.next(3) {
        try await transport.store([segment])
        try require(try await transport.heads(), is: [stream.replica: segment.head], "the heads during the wait")
      }
      wait.cancel()
      _ = try await place.ending(of: wait, "a wait during which others were called")
    },
    ConformanceCheck("a cancelled wait ends with an error") { place in
      let transport = try await place.connect(place.stream())
      _ = try await transport.heads()
      let wait = Task { _ = try await transport.waitForChanges(seconds: longWaitInSeconds) }
      wait.cancel()
      let error = try await place.ending(of: wait, "a cancelled wait")
      try require(error is CancellationError, "a CancellationError from a cancelled wait")
    },
  ]
}
