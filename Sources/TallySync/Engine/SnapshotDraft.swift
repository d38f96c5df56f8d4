import Tally

/// A snapshot whose parts are not sealed yet: the rows of the store, divided.
///
/// Copying the rows is all that holds up other writes. Decoding, encoding and sealing take most of the time, and need
/// neither the store nor one another.
struct SnapshotDraft: Sendable {
  let name: SnapshotName
  private let summary: SnapshotSummary
  private let table: StateTable
  private let parts: [Part]
  private let (keys, space): (ReplicaKeys, SpaceKeys)

  /// The content of one part.
  private enum Part {
    case rows([StateTable.Row])
    /// A piece of a state that is too large for one part.
    case piece(ObjectKey, ObjectState)
  }

  /// How many parts are sealed ahead of the one that is written.
  private static let aheadCount = 2

  /// Divides rows.
  ///
  /// - Parameters:
  ///   - rows: The states.
  ///   - table: The table of which they are.
  ///   - coverage: The last segment of each replica whose changes are in them.
  ///   - madeAt: The time now, in microseconds since 1970.
  ///   - settings: Of the replica that makes the snapshot.
  /// - Throws: A fault of the settings.
  init(
    _ rows: [StateTable.Row], in table: StateTable, coverage: [ReplicaID: StreamPosition], madeAt: Int64,
    of settings: SyncSettings
  ) throws {
    let divided = try rows.divided(limitInBytes: SnapshotPart.softLimitInBytes, byteCount: \.byteCount).flatMap {
      try Self.parts(of: $0, in: table)
    }
    // A snapshot of nothing has a part, too.
    parts = divided.isEmpty ? [.rows([])] : divided
    objectCount = rows.count
    summary = SnapshotSummary(
      coverage: coverage, madeAt: madeAt, stateHash: ContentHash(bytes: table.hash.bytes) ?? .none,
      partCount: parts.count)
    name = SnapshotName(
      replica: settings.replicaID, number: (settings.snapshot?.number ?? 0) + 1,
      digest: Array(summary.coverageHash.bytes.prefix(SegmentHead.digestByteCount)), partCount: parts.count)
    (keys, space, self.table) = (try settings.secretKeys(), try settings.spaceKeys(), table)
  }

  /// How many objects it has.
  let objectCount: Int

  /// The rows as one part; a single large state as several parts.
  private static func parts(of rows: [StateTable.Row], in table: StateTable) throws -> [Part] {
    // A row that is larger than a part is always the only one.
    guard let row = rows.first, row.byteCount > ObjectChange.maximumByteCount else { return [.rows(rows)] }
    return try table.state(of: row).divided(limitInBytes: ObjectChange.maximumByteCount).map { .piece(row.object, $0) }
  }

  /// Seals all parts and passes them to a closure, in order; the next ones are sealed meanwhile.
  ///
  /// - Parameter body: Receives the number of a part and its sealed bytes.
  /// - Throws: What sealing and the closure throw.
  func forEachPart(_ body: (_ number: Int, _ part: [UInt8]) async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: (Int, [UInt8]).self) { group in
      var (begun, sealed): (Int, [Int: [UInt8]]) = (0, [:])
      for number in parts.indices {
        while begun < min(parts.count, number + 1 + Self.aheadCount) {
          group.addTask { [begun] in (begun, try sealedPart(begun)) }
          begun += 1
        }
        while sealed[number] == nil, let (number, part) = try await group.next() { sealed[number] = part }
        if let part = sealed.removeValue(forKey: number) { try await body(number, part) }
      }
    }
  }

  private func sealedPart(_ number: Int) throws -> [UInt8] {
    var states: SnapshotPart.States = [:]
    switch parts[number] {
    case .rows(let rows):
      states.reserveCapacity(rows.count)
      for row in rows { states.append(try table.state(of: row), forKey: row.object) }
    case .piece(let object, let state): states.append(state, forKey: object)
    }
    let label = EnvelopeHeader.Label(
      kind: .snapshotPart, replica: name.replica, number: UInt64(number), link: summary.coverageHash)
    let body = SnapshotPart(summary: summary, states: states).encoded(by: name.replica)
    return try Envelope(sealing: body, as: label, with: keys, in: space).bytes
  }
}
