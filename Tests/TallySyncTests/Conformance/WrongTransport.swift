import TallySync

/// A place that does one thing wrong.
struct WrongTransport: SyncTransport {
  enum Fault: CaseIterable {
    case forgetsTheLastSegment, acceptsForks, acceptsGaps, givesGaps, givesAnotherOrder, ignoresTheLimit, givesNothing
    case changesBytes, keepsTheOldCard, showsIncompleteSnapshots, showsTheOldestFirst, deletesMore, deletesOthers
    case neverWakes, callsEveryWaitChanged, ignoresCancellation, doublesWhatIsKnown
    case storesOnlyTheFirst, goesOnAfterARefusal

    /// The check that must find it; others may, too.
    var check: String {
      switch self {
      case .forgetsTheLastSegment: "segments are appended in order, and the last one is the head"
      case .acceptsForks: "another segment with a number that is taken is a fork"
      case .acceptsGaps: "a segment that is not the next one is refused with the last one there"
      case .givesGaps, .givesAnotherOrder, .changesBytes: "segments are given back byte for byte, from any number on"
      case .ignoresTheLimit, .givesNothing: "reading stops at the number of bytes, after one segment at least"
      case .keepsTheOldCard: "of the cards of a replica the one with the greatest number is given"
      case .showsIncompleteSnapshots: "a snapshot is there when all its parts are"
      case .showsTheOldestFirst: "the newest snapshot comes first"
      case .deletesMore: "deleting old segments keeps the newer ones"
      case .deletesOthers: "a replica deletes nothing of others"
      case .neverWakes: "a segment of another replica ends a wait"
      case .callsEveryWaitChanged: "a wait ends at its limit"
      case .ignoresCancellation: "a cancelled wait ends with an error"
      case .doublesWhatIsKnown: "the same segment again is known"
      case .storesOnlyTheFirst: "segments that are sent together are stored in their order"
      case .goesOnAfterARefusal: "of segments that are sent together none is stored after one that is not"
      }
    }
  }

  private let inner: any SyncTransport
  private let fault: Fault

  init(_ inner: any SyncTransport, _ fault: Fault) {
    (self.inner, self.fault) = (inner, fault)
  }

  func heads() async throws -> [ReplicaID: SegmentHead] {
    let heads = try await inner.heads()
    guard fault == .forgetsTheLastSegment else { return heads }
    return heads.compactMapValues { $0.number > 1 ? SegmentHead(number: $0.number - 1, digest: $0.digest) : nil }
  }

  func segments(of replica: ReplicaID, after number: UInt64, byteCount: Int) async throws -> [[UInt8]] {
    let limit = fault == .ignoresTheLimit ? .max : byteCount
    let segments = try await inner.segments(of: replica, after: number, byteCount: limit)
    return switch fault {
    case .givesGaps: segments.enumerated().filter { $0.offset != 1 }.map(\.element)
    case .givesAnotherOrder: segments.reversed()
    case .givesNothing: byteCount < (segments.first?.count ?? 0) ? [] : segments
    case .changesBytes: segments.map { [$0[0] ^ 1] + $0.dropFirst() }
    default: segments
    }
  }

  func append(_ segments: [[UInt8]], of replica: ReplicaID) async throws -> [AppendAnswer] {
    var answers: [AppendAnswer] = []
    switch fault {
    case .storesOnlyTheFirst:
      answers = try await inner.append([segments[0]], of: replica)
      answers += segments.dropFirst().map { _ in .stored }
    case .goesOnAfterARefusal:
      for segment in segments { answers += try await inner.append([segment], of: replica) }
    default:
      answers = try await inner.append(segments, of: replica)
    }
    return answers.map { answer in
      switch (answer, fault) {
      case (.fork, .acceptsForks), (.gap, .acceptsGaps), (.known, .doublesWhatIsKnown): .stored
      default: answer
      }
    }
  }

  func cards() async throws -> [ReplicaID: [UInt8]] { try await inner.cards() }

  func putCard(_ card: [UInt8], of replica: ReplicaID, number: UInt64) async throws {
    if fault == .keepsTheOldCard, try await inner.cards()[replica] != nil { return }
    try await inner.putCard(card, of: replica, number: number)
  }

  func snapshots() async throws -> [SnapshotName] {
    let names = try await inner.snapshots()
    return fault == .showsTheOldestFirst ? names.reversed() : names
  }

  func part(_ number: Int, of name: SnapshotName) async throws -> [UInt8] { try await inner.part(number, of: name) }

  func putPart(_ part: [UInt8], number: Int, of name: SnapshotName) async throws {
    try await inner.putPart(part, number: number, of: name)
    guard fault == .showsIncompleteSnapshots else { return }
    for other in 0..<name.partCount { try await inner.putPart(part, number: other, of: name) }
  }

  func delete(segmentsOf replica: ReplicaID, upTo number: UInt64, snapshots: [SnapshotName]) async throws {
    let last = number > 0 && fault == .deletesMore ? number + 1 : number
    try await inner.delete(segmentsOf: replica, upTo: last, snapshots: snapshots)
    guard fault == .deletesOthers else { return }
    for name in snapshots { try await inner.delete(segmentsOf: name.replica, upTo: 0, snapshots: [name]) }
  }

  func waitForChanges(seconds: Double) async throws -> Bool {
    switch fault {
    case .neverWakes:
      try await Task.sleep(for: .seconds(seconds))
      return false
    case .callsEveryWaitChanged:
      try await inner.waitForChanges(seconds: seconds)
      return true
    case .ignoresCancellation:
      do { return try await inner.waitForChanges(seconds: seconds) } catch is CancellationError { return true }
    default: return try await inner.waitForChanges(seconds: seconds)
    }
  }
}
