import Synchronization
import TallySync

/// Remembers which functions of a place were called, when, and how many bytes they sent.
final class MeasuredTransport: SyncTransport {
  enum Kind { case append, putPart, part, other }

  struct Call {
    let kind: Kind
    let byteCount: Int
    let start: Moment
    let end: Moment
  }

  private let place: any SyncTransport
  private let made = Mutex<[Call]>([])

  init(_ place: some SyncTransport) {
    self.place = place
  }

  /// The calls so far.
  var calls: [Call] { made.withLock { $0 } }

  /// How many bytes the calls of a kind have sent.
  func byteCount(_ kind: Kind) -> Int {
    calls.filter { $0.kind == kind }.map(\.byteCount).reduce(0, +)
  }

  private func measure<R>(_ kind: Kind, _ byteCount: Int = 0, _ body: () async throws -> R) async throws -> R {
    let start = Moment.now
    let result = try await body()
    made.withLock { $0.append(Call(kind: kind, byteCount: byteCount, start: start, end: .now)) }
    return result
  }

  func heads() async throws -> [ReplicaID: SegmentHead] { try await measure(.other) { try await place.heads() } }

  func segments(of replica: ReplicaID, after number: UInt64, byteCount: Int) async throws -> [[UInt8]] {
    try await measure(.other) { try await place.segments(of: replica, after: number, byteCount: byteCount) }
  }

  func append(_ segments: [[UInt8]], of replica: ReplicaID) async throws -> [AppendAnswer] {
    try await measure(.append, segments.reduce(0) { $0 + $1.count }) {
      try await place.append(segments, of: replica)
    }
  }

  func cards() async throws -> [ReplicaID: [UInt8]] { try await measure(.other) { try await place.cards() } }

  func putCard(_ card: [UInt8], of replica: ReplicaID, number: UInt64) async throws {
    try await measure(.other) { try await place.putCard(card, of: replica, number: number) }
  }

  func snapshots() async throws -> [SnapshotName] { try await measure(.other) { try await place.snapshots() } }

  func part(_ number: Int, of name: SnapshotName) async throws -> [UInt8] {
    try await measure(.part) { try await place.part(number, of: name) }
  }

  func putPart(_ part: [UInt8], number: Int, of name: SnapshotName) async throws {
    try await measure(.putPart, part.count) { try await place.putPart(part, number: number, of: name) }
  }

  func delete(segmentsOf replica: ReplicaID, upTo number: UInt64, snapshots: [SnapshotName]) async throws {
    try await measure(.other) {
      try await place.delete(segmentsOf: replica, upTo: number, snapshots: snapshots)
    }
  }

  func waitForChanges(seconds: Double) async throws -> Bool {
    try await measure(.other) { try await place.waitForChanges(seconds: seconds) }
  }
}
