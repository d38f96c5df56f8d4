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

  /// Expects that everything behind a number is given, in order and byte for byte.
  func requireSegments(_ expected: [SampleStream.Segment], of replica: ReplicaID, after number: UInt64) async throws {
    let found = try await segments(of: replica, after: number, byteCount: .max)
    try require(
      found == expected.map(\.bytes),
      "the segments after \(number) to be those with the numbers \(expected.map(\.head.number)), unchanged; "
        + "found \(found.count), the first \(found.first.flatMap { SegmentHead(of: $0)?.number } ?? 0)")
  }
}
