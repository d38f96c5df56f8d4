public import TallySync

/// A connection to a place in memory.
public actor MemoryTransport: SyncTransport {
  private let place: MemoryPlace
  /// The change that this connection knows; `nil` before it reads for the first time.
  private var known: UInt64?

  /// How often a wait checks for changes: a test double need not do better.
  private static let interval = Duration.milliseconds(5)
  private static let longestWaitInSeconds = 1e9

  /// Connects to a place.
  ///
  /// - Parameter place: The place, which other connections may share.
  public init(_ place: MemoryPlace) {
    self.place = place
  }

  /// The last segment of each replica.
  ///
  /// - Returns: The heads.
  /// - Throws: `MemoryPlace.Unreachable`.
  public func heads() async throws -> [ReplicaID: SegmentHead] {
    let (heads, count) = try await place.read { contents in
      contents.replicas.compactMapValues { $0.head.number > 0 ? $0.head : nil }
    }
    known = count
    return heads
  }

  /// Some of the segments of a replica.
  ///
  /// - Parameters:
  ///   - replica: Whose.
  ///   - number: The segments after this one; 0 for all.
  ///   - byteCount: The number of bytes after which reading stops; at least one segment is returned if there is one.
  /// - Returns: The segments.
  /// - Throws: `MemoryPlace.Unreachable`.
  public func segments(of replica: ReplicaID, after number: UInt64, byteCount: Int) async throws -> [[UInt8]] {
    try await place.read { contents in
      let rest = (contents.replicas[replica]?.segments ?? []).drop { $0.number <= number }
      guard let first = rest.first, first.number == number + 1 else { return [] }
      var (segments, size) = ([[UInt8]](), 0)
      for segment in rest where segments.isEmpty || size < byteCount {
        segments.append(segment.bytes)
        size += segment.bytes.count
      }
      return segments
    }.result
  }

  /// Appends segments.
  ///
  /// - Parameters:
  ///   - segments: The sealed bytes, whose numbers follow each other.
  ///   - replica: The replica of the stream.
  /// - Returns: An answer for each segment, up to the first one that the place does not have now.
  /// - Throws: `MemoryPlace.NoSegment` or `MemoryPlace.Unreachable`.
  public func append(_ segments: [[UInt8]], of replica: ReplicaID) async throws -> [AppendAnswer] {
    if let reason = await place.refusedReason() { return [.refused(reason)] }
    let heads = try segments.map { segment in
      guard let head = SegmentHead(of: segment) else { throw MemoryPlace.NoSegment() }
      return head
    }
    return try await change { contents in
      var answers: [AppendAnswer] = []
      for (segment, head) in zip(segments, heads) {
        answers.append(contents.replicas[replica, default: .init()].append(segment, head: head))
        if answers.last?.isThere != true { break }
      }
      return answers
    }
  }

  /// The newest card of each replica.
  ///
  /// - Returns: The sealed bytes.
  /// - Throws: `MemoryPlace.Unreachable`.
  public func cards() async throws -> [ReplicaID: [UInt8]] {
    try await place.read { contents in contents.replicas.compactMapValues { $0.card?.bytes } }.result
  }

  /// Stores a card, unless there is a newer one.
  ///
  /// - Parameters:
  ///   - card: The sealed bytes.
  ///   - replica: The replica.
  ///   - number: The number of the card.
  /// - Throws: `MemoryPlace.Unreachable`.
  public func putCard(_ card: [UInt8], of replica: ReplicaID, number: UInt64) async throws {
    try await change { contents in
      guard number >= contents.replicas[replica]?.card?.number ?? 0 else { return }
      contents.replicas[replica, default: .init()].card = (number, card)
    }
  }

  /// The complete snapshots, newest first.
  ///
  /// - Returns: Their names.
  /// - Throws: `MemoryPlace.Unreachable`.
  public func snapshots() async throws -> [SnapshotName] {
    try await place.read { contents in
      contents.parts.filter { $0.key.partCount == $0.value.count }.keys.sorted {
        ($0.number, $0.replica) > ($1.number, $1.replica)
      }
    }.result
  }

  /// One part of a snapshot.
  ///
  /// - Parameters:
  ///   - number: Which, from 0.
  ///   - name: Of the snapshot.
  /// - Returns: The sealed bytes.
  /// - Throws: `MemoryPlace.Missing` or `MemoryPlace.Unreachable`.
  public func part(_ number: Int, of name: SnapshotName) async throws -> [UInt8] {
    try await place.read { contents in
      guard let part = contents.parts[name]?[number] else { throw MemoryPlace.Missing() }
      return part
    }.result
  }

  /// Stores one part of a snapshot.
  ///
  /// - Parameters:
  ///   - part: The sealed bytes.
  ///   - number: Which, from 0.
  ///   - name: Of the snapshot.
  /// - Throws: `MemoryPlace.Unreachable`.
  public func putPart(_ part: [UInt8], number: Int, of name: SnapshotName) async throws {
    try await change { contents in contents.parts[name, default: [:]][number] = part }
  }

  /// Deletes segments and snapshots of a replica; its head stays.
  ///
  /// - Parameters:
  ///   - replica: Whose; snapshots of others are left alone.
  ///   - number: The last segment to delete; 0 for none.
  ///   - snapshots: The snapshots to delete.
  /// - Throws: `MemoryPlace.Unreachable`.
  public func delete(segmentsOf replica: ReplicaID, upTo number: UInt64, snapshots: [SnapshotName]) async throws {
    try await change { contents in
      contents.replicas[replica]?.segments.removeAll { $0.number <= number }
      for name in snapshots where name.replica == replica { contents.parts[name] = nil }
    }
  }

  /// Returns when another connection has changed something since the last read, or when the time is over.
  ///
  /// - Parameter seconds: How long to wait at most.
  /// - Returns: Whether something has changed.
  /// - Throws: `CancellationError` or `MemoryPlace.Unreachable`.
  @discardableResult
  public func waitForChanges(seconds: Double) async throws -> Bool {
    // A comparison with NaN is false.
    let limit = Duration.seconds(seconds > 0 ? min(seconds, Self.longestWaitInSeconds) : 0)
    let deadline = ContinuousClock.now + limit
    var count = try await place.read { _ in }.changeCount
    let start = known ?? count
    while count == start, .now < deadline {
      try await Task.sleep(for: Self.interval)
      count = try await place.read { _ in }.changeCount
    }
    try Task.checkCancellation()
    known = count
    return count != start
  }

  /// Changes the place; a wait does not end because of it.
  private func change<R: Sendable>(
    _ body: @Sendable (inout MemoryPlace.Contents) throws -> R
  ) async throws -> R {
    let (result, count) = try await place.write(body)
    if known == count - 1 { known = count }
    return result
  }
}

extension MemoryPlace.Contents.Replica {
  fileprivate mutating func append(_ segment: [UInt8], head: SegmentHead) -> AppendAnswer {
    guard head.number != self.head.number + 1 else {
      segments.append((head.number, segment))
      self.head = head
      return .stored
    }
    guard let stored = segments.first(where: { $0.number == head.number }) else {
      return head == self.head ? .known : .gap(self.head)
    }
    return stored.bytes == segment ? .known : .fork
  }
}

/// A place in memory, with switches for tests of what else a place may do.
public actor MemoryPlace {
  /// Everything at the place.
  public struct Contents: Sendable {
    struct Replica: Sendable {
      /// The segments that are not deleted.
      var segments: [(number: UInt64, bytes: [UInt8])] = []
      var head = SegmentHead.none
      var card: (number: UInt64, bytes: [UInt8])?
    }

    var replicas: [ReplicaID: Replica] = [:]
    var parts: [SnapshotName: [Int: [UInt8]]] = [:]
  }

  /// The place does not answer.
  public struct Unreachable: Error, Hashable {}

  /// The bytes are not a segment.
  public struct NoSegment: Error, Hashable {}

  /// The part of a snapshot is not there.
  public struct Missing: Error, Hashable {}

  private var contents = Contents()
  private var isReachable = true
  private var refusal: String?
  /// Rises with each change.
  private var changeCount: UInt64 = 0

  /// Creates an empty place.
  public init() {}

  /// Switches the place off or on; while it is off, every call fails with ``Unreachable``.
  ///
  /// - Parameter isReachable: Whether it answers.
  public func setReachable(_ isReachable: Bool) { self.isReachable = isReachable }

  /// Refuses segments, or stops to refuse them.
  ///
  /// - Parameter reason: The text of the answer; `nil` to store them.
  public func refuseSegments(_ reason: String?) { refusal = reason }

  /// Forgets everything.
  public func loseEverything() { restore(Contents()) }

  /// Everything that is at the place now.
  ///
  /// - Returns: A copy, for ``restore(_:)``.
  public func save() -> Contents { contents }

  /// Restores earlier contents, like a place that was restored from a backup.
  ///
  /// - Parameter contents: The contents from now on.
  public func restore(_ contents: Contents) {
    self.contents = contents
    changeCount += 1
  }

  /// Reads the contents.
  func read<R: Sendable>(_ body: @Sendable (Contents) throws -> R) throws -> (result: R, changeCount: UInt64) {
    guard isReachable else { throw Unreachable() }
    return (try body(contents), changeCount)
  }

  /// Changes the contents.
  ///
  /// - Returns: What the body returns, and the number of the change.
  func write<R: Sendable>(_ body: @Sendable (inout Contents) throws -> R) throws -> (result: R, changeCount: UInt64) {
    guard isReachable else { throw Unreachable() }
    let result = try body(&contents)
    changeCount += 1
    return (result, changeCount)
  }

  /// Why the place accepts no segments.
  func refusedReason() -> String? { refusal }
}
