import Foundation
import Tally

/// Why a segment does not continue a stream.
enum StreamFault: Error {
  case otherNumber
  case unknownReplica
  case brokenChain
  case revoked
  case lacksNewKey
  /// The value of a field that possibly only a newer version can read.
  case unreadableValue(of: String)

  /// Why the stream stops at the segment.
  var obstacle: StreamObstacle {
    switch self {
    case .otherNumber:
      StreamObstacle(.refused, "A segment has another number than its place in the stream.")
    case .unknownReplica:
      StreamObstacle(.unverified, "The card of the device has not arrived, so its changes cannot be verified.")
    case .brokenChain:
      StreamObstacle(.refused, "A segment does not follow the one before it: the stream was changed.")
    case .revoked:
      StreamObstacle(.revoked, "The device was revoked: what it wrote afterwards is ignored.")
    case .lacksNewKey:
      StreamObstacle(.needsInvitation, "The device has joined with an old key: invite it again.")
    case .unreadableValue(let field):
      StreamObstacle(.needsUpgrade, "It has written a value of '\(field)' that this version of Tally cannot read.")
    }
  }
}

extension EnvelopeFault {
  /// Why a stream stops at a segment that cannot be opened.
  var obstacle: StreamObstacle {
    switch self {
    case .needsNewerVersion: StreamObstacle(.needsUpgrade, description)
    case .unknownEpoch: StreamObstacle(.unverified, description)
    default: StreamObstacle(.refused, description)
    }
  }
}

/// The reason why reading the stream of a replica has stopped.
struct StreamObstacle: Hashable, Sendable {
  enum Kind: String {
    /// Segments are known to exist but are absent or incomplete.
    case missing
    /// Only placeholders of the segments are there.
    case notFetched
    /// The system does not allow reading the segments.
    case unreadable
    /// The card or the key that verifies or opens the segments has not arrived.
    case unverified
    /// Only a newer version can read the segments.
    case needsUpgrade
    case needsInvitation
    case revoked
    /// The segments are not what the replica should have written.
    case refused
  }

  let kind: Kind
  /// A sentence for people.
  let reason: String
  /// The segments that are missing, ascending.
  var missing: [ClosedRange<UInt64>] = []

  init(_ kind: Kind, _ reason: String, missing: [ClosedRange<UInt64>] = []) {
    (self.kind, self.reason, self.missing) = (kind, reason, Array(missing.prefix(Self.mostRuns)))
  }

  /// How many runs of missing segments are stored and reported: the names of the files at a place may name any number of them.
  static let mostRuns = 100

  /// Describes what the place lacks; `nil` if it lacks nothing.
  ///
  /// - Parameters:
  ///   - gaps: The segments.
  ///   - lacksSnapshot: Whether a snapshot that has their changes is incomplete.
  init?(_ gaps: [PlaceGap], lacksSnapshot: Bool) {
    var sentences: [String] = []
    for cause in gaps.map(\.cause).uniqued {
      let numbers = gaps.filter { $0.cause == cause }.compactMap(\.numbers)
      sentences.append(Self.sentence(numbers, cause))
    }
    if lacksSnapshot { sentences.append("A snapshot of its changes has arrived in part only.") }
    guard !sentences.isEmpty else { return nil }
    let causes = gaps.map(\.cause)
    let kind: Kind =
      causes.contains { if case .unreadable = $0 { true } else { false } }
      ? .unreadable : causes.contains(.notFetched) ? .notFetched : .missing
    self.init(kind, sentences.joined(separator: " "), missing: gaps.compactMap(\.numbers))
  }

  private static func sentence(_ numbers: [ClosedRange<UInt64>], _ cause: PlaceGap.Cause) -> String {
    let isOne = numbers.count == 1 && numbers[0].count == 1
    let subject = numbers.isEmpty ? "Its files" : "\(isOne ? "Segment" : "Segments") \(words(numbers))"
    let (has, are) = isOne ? ("has", "is") : ("have", "are")
    return switch cause {
    case .missing: "\(subject) \(has) not arrived."
    case .notWhole: "\(subject) \(has) not arrived completely, or \(are) damaged."
    case .notFetched: "\(subject) \(are) not downloaded to this device."
    case .unreadable(let reason): "\(subject) cannot be read: \(reason)."
    }
  }

  /// The numbers in words: the first three runs, and "more" if there are others.
  private static func words(_ numbers: [ClosedRange<UInt64>]) -> String {
    let shown = numbers.prefix(3).map { run in
      run.count == 1 ? "\(run.lowerBound)" : "\(run.lowerBound) to \(run.upperBound)"
    }
    let parts = numbers.count > 3 ? shown + ["more"] : shown
    guard parts.count > 1, let last = parts.last else { return parts.first ?? "" }
    return parts.dropLast().joined(separator: ", ") + " and " + last
  }
}

extension StreamObstacle.Kind {
  /// Whether what is missing may still arrive by itself.
  var isIncomplete: Bool {
    switch self {
    case .missing, .notFetched, .unreadable, .unverified: true
    case .needsUpgrade, .needsInvitation, .revoked, .refused: false
    }
  }

  /// Whether a person must act first, so that trying again changes nothing.
  var needsAPerson: Bool { self == .revoked || self == .needsInvitation }

  /// What to do, as a sentence for people; `nil` for nothing.
  var remedy: String? {
    switch self {
    case .missing, .unverified:
      "Wait until everything is copied to this device. If it is, synchronise that device: it sends again what is lost."
    case .notFetched: "Let the program that copies the folder download its files to this device."
    case .unreadable: "Check the owner, the permissions and the disk of the files."
    case .needsUpgrade: "Install the newest version of Tally on this device."
    case .needsInvitation: nil
    case .revoked: nil
    case .refused: "Synchronise that device. If this stays, let it leave the space and join again."
    }
  }
}

extension StreamProgress {
  /// Why the next segment cannot be merged; `nil` if nothing is in its way, or there is none.
  var obstacle: StreamObstacle? {
    block.map { reason in
      let runs = stride(from: 0, to: (missing?.count ?? 0) - 1, by: 2).compactMap { index in
        missing.flatMap { $0[index] <= $0[index + 1] ? $0[index]...$0[index + 1] : nil }
      }
      // Versions before the kinds stored a sentence only, and a later version may have stored a kind that is unknown here.
      return StreamObstacle(blockKind.flatMap(StreamObstacle.Kind.init) ?? .refused, reason, missing: runs)
    }
  }

  /// Records why the next segment cannot be merged.
  ///
  /// - Parameters:
  ///   - obstacle: The reason; `nil` for none.
  ///   - now: The time now, in microseconds since 1970; it counts as the time of the stop, unless the stream had stopped before.
  mutating func set(_ obstacle: StreamObstacle?, at now: Int64) {
    blockedSince = obstacle == nil ? nil : blockedSince ?? now
    (block, blockKind) = (obstacle?.reason, obstacle?.kind.rawValue)
    missing = obstacle.flatMap { $0.missing.isEmpty ? nil : $0.missing.flatMap { [$0.lowerBound, $0.upperBound] } }
  }
}

// MARK: - Finding what is missing

extension SyncEngine {
  /// Records which changes of others are known to exist but cannot be read, for the report and the status.
  ///
  /// Their existence is known from files behind a gap, from segments of third replicas, and from snapshots. Anybody can write a
  /// name, so what only names of files say counts as long as they are there; what a replica has signed is stored. What a
  /// complete snapshot covers is not missing, because the stream continues behind it.
  ///
  /// - Parameters:
  ///   - look: What the place has.
  ///   - stopped: The replicas whose next segment is there but cannot be merged; they already have an obstacle.
  /// - Throws: `TallyError` with `syncUnreachable`; what the store throws.
  func noteObstacles(after look: Look, besides stopped: Set<ReplicaID>) async throws {
    let (settings, known, revoked) = try store.readSynchronization { transaction in
      (try transaction.requireSyncSettings(), try transaction.streamProgress(), try transaction.revocations())
    }
    let incomplete = try await incompleteSnapshots(besides: settings.replicaID, revoked)
    var changed: [ReplicaID: (obstacle: StreamObstacle?, named: UInt64?)] = [:]
    let replicas = Set(look.heads.keys).union(known.keys).union(incomplete.covered.keys).union(incomplete.unopened)
    for replica in replicas.sorted() where replica != settings.replicaID && !stopped.contains(replica) {
      let progress = known[replica] ?? StreamProgress()
      let (position, end) = (progress.head.number, revoked[replica]?.cutOff.number ?? .max)
      // Nothing that a revoked replica wrote behind the cut-off is missing.
      guard position < end else {
        if progress.obstacle != nil { changed[replica] = (nil, progress.named) }
        continue
      }
      let covered = incomplete.covered[replica] ?? 0
      let last = min(max(look.heads[replica]?.number ?? 0, progress.named ?? 0, covered), end)
      let gaps = try await reach { try await transport.gaps(of: replica, after: position, upTo: last) }
        .filter { ($0.numbers?.lowerBound ?? 0) <= end }
      // A device that has read nothing yet cannot know what is in a snapshot of which it can open no part.
      let isUnopened = settings.lastReceived == nil && position == 0 && incomplete.unopened.contains(replica)
      let obstacle = StreamObstacle(gaps, lacksSnapshot: covered > position || isUnopened)
      let named = max(progress.named ?? 0, covered > position ? covered : 0)
      guard obstacle != progress.obstacle || named > progress.named ?? 0 else { continue }
      changed[replica] = (obstacle, named > 0 ? named : nil)
    }
    guard !changed.isEmpty else { return }
    try await store.write { [changed] transaction in
      let known = try transaction.streamProgress()
      for (replica, (obstacle, named)) in changed {
        var progress = known[replica] ?? StreamProgress()
        progress.set(obstacle, at: transaction.now.microsecondsSince1970)
        progress.named = named
        try transaction.setProgress(progress, of: replica)
      }
    }
  }

  /// The last segments that incomplete snapshots cover, and the authors of snapshots of which no part can be opened.
  private func incompleteSnapshots(
    besides own: ReplicaID, _ revoked: [ReplicaID: EpochRecord.Revocation]
  ) async throws -> (covered: [ReplicaID: UInt64], unopened: Set<ReplicaID>) {
    var (covered, unopened): ([ReplicaID: UInt64], Set<ReplicaID>) = ([:], [])
    for (name, parts) in try await reach({ try await transport.incompleteSnapshots() })
    where name.replica != own && revoked[name.replica] == nil {
      let opener = try store.readSynchronization { try $0.opener(of: name) }
      var summary: SnapshotSummary?
      for number in parts where summary == nil { summary = await opener?.part(number, through: transport)?.summary }
      guard let summary else {
        unopened.insert(name.replica)
        continue
      }
      covered.merge(summary.coverage.mapValues(\.number).filter { $0.key != own }) { max($0, $1) }
    }
    return (covered, unopened)
  }
}

extension Array where Element: Hashable {
  /// The elements without repetitions, in the order of their first occurrences.
  fileprivate var uniqued: [Element] {
    var seen: Set<Element> = []
    return filter { seen.insert($0).inserted }
  }
}
