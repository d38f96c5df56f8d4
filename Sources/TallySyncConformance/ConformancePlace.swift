import Crypto
import Foundation
import TallySync

/// An empty place for one check, and the replicas there.
struct ConformancePlace: Sendable {
  private let conformance: TransportConformance
  private let space = (0..<16).map { _ in UInt8.random(in: 0...255) }

  init(of conformance: TransportConformance) {
    self.conformance = conformance
  }

  /// A new replica, which has written nothing.
  func stream() -> SampleStream { SampleStream(in: space) }

  /// A new connection of a replica.
  func connect(_ stream: SampleStream) async throws -> any SyncTransport {
    try await conformance.makeTransport(space, stream.replica)
  }

  /// Runs work that should end soon, and stops it at a limit.
  ///
  /// - Returns: The error it has thrown, if any.
  func ending(_ name: String, _ work: @escaping @Sendable () async throws -> Void) async throws -> (any Error)? {
    try await ending(of: Task { try await work() }, name)
  }

  /// Waits for the end of a task, up to a limit.
  func ending(of task: Task<Void, any Error>, _ name: String) async throws -> (any Error)? {
    let (results, continuation) = AsyncStream.makeStream(of: Result<Void, any Error>.self)
    // Not a group, which would wait for a task that does not end.
    let observer = Task { continuation.yield(await task.result) }
    let timer = Task { [limit = conformance.waitLimit] in
      try await Task.sleep(for: limit)
      continuation.finish()
    }
    defer {
      timer.cancel()
      observer.cancel()
    }
    for await result in results {
      if case .failure(let error) = result { return error }
      return nil
    }
    task.cancel()
    throw UnmetExpectation(text: "\(name) to end within \(conformance.waitLimit)")
  }
}

extension SyncTransport {
  /// Appends segments one by one, which must be stored.
  func store(_ segments: [SampleStream.Segment]) async throws {
    for segment in segments {
      let answer = try await append(segment)
      try require(answer, is: .stored, "the answer to the next segment, \(segment.head.number),")
    }
  }

  /// Appends one segment.
  func append(_ segment: SampleStream.Segment) async throws -> AppendAnswer {
    let answers = try await append([segment.bytes], of: segment.replica)
    try require(answers.count, is: 1, "the number of answers to one segment")
    return answers[0]
  }

  /// Expects that everything behind a number is returned, in order and byte for byte.
  func requireSegments(_ expected: [SampleStream.Segment], of replica: ReplicaID, after number: UInt64) async throws {
    let found = try await segments(of: replica, after: number, byteCount: .max)
    try require(
      found == expected.map(\.bytes),
      "the segments after \(number) to be those with the numbers \(expected.map(\.head.number)), unchanged; "
        + "found \(found.count), the first \(found.first.flatMap { SegmentHead(of: $0)?.number } ?? 0)")
  }
}

/// Makes envelopes of one replica that nobody can open, with random contents and a correct chain.
struct SampleStream: Sendable {
  struct Segment: Hashable, Sendable {
    let replica: ReplicaID
    let bytes: [UInt8]
    let head: SegmentHead
  }

  private enum Kind: UInt8 {
    case segment = 1
    case snapshotPart = 2
    case card = 3
  }

  let replica: ReplicaID
  private let space: [UInt8]
  private let replicaBytes: [UInt8]
  /// The hash of the last segment.
  private var previous = [UInt8](repeating: 0, count: SHA256.byteCount)
  private var number: UInt64 = 0

  init(in space: [UInt8]) {
    self.space = space
    let id = UUID()
    replica = ReplicaID(id)
    let text = id.uuidString.filter { $0 != "-" }
    replicaBytes = stride(from: 0, to: text.count, by: 2).compactMap { offset in
      UInt8(text.dropFirst(offset).prefix(2), radix: 16)
    }
  }

  /// The next segment.
  mutating func next(bodyByteCount: Int = 64) -> Segment {
    number += 1
    let bytes = envelope(.segment, number: number, previous: previous, bodyByteCount: bodyByteCount)
    previous = Array(SHA256.hash(data: bytes))
    return Segment(replica: replica, bytes: bytes, head: SegmentHead(number: number, digest: previous))
  }

  /// The next segments.
  mutating func next(_ count: Int) -> [Segment] { (0..<count).map { _ in next() } }

  /// A card.
  func card(_ number: UInt64) -> [UInt8] {
    envelope(.card, number: number, previous: [UInt8](repeating: 0, count: SHA256.byteCount), bodyByteCount: 64)
  }

  /// The name of a snapshot of the replica.
  func snapshot(_ number: UInt64, partCount: Int) -> SnapshotName {
    SnapshotName(
      replica: replica, number: number, digest: (0..<UInt8(SegmentHead.digestByteCount)).map { $0 &+ UInt8(number) },
      partCount: partCount)
  }

  /// A part of a snapshot.
  func part(_ number: Int) -> [UInt8] {
    envelope(.snapshotPart, number: UInt64(number), previous: previous, bodyByteCount: 128)
  }

  private func envelope(_ kind: Kind, number: UInt64, previous: [UInt8], bodyByteCount: Int) -> [UInt8] {
    var bytes = Array("TLYS".utf8) + [1, kind.rawValue, 1, 0]
    bytes += space + replicaBytes
    bytes += bigEndian(UInt32(1)) + bigEndian(number)
    bytes += previous + random(32)
    bytes += bigEndian(UInt32(bodyByteCount))
    return bytes + random(bodyByteCount) + random(64)
  }

  private func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] {
    stride(from: value.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> $0) }
  }

  private func random(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    let words = (0..<(count + 7) / 8).map { _ in generator.next() }
    // Read within the call.
    return unsafe words.withUnsafeBytes { unsafe Array($0.prefix(count)) }
  }
}
