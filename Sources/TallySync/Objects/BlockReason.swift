import Foundation
import Tally

/// The reason why a segment does not continue a stream.
enum StreamFault: Error {
  case otherNumber
  case unknownReplica
  case brokenChain
  case revoked
  case lacksNewKey
  /// The value of a field that possibly only a newer version can read.
  case unreadableValue(of: String)

  /// The reason why the stream stops at the segment.
  var blockReason: BlockReason {
    let (kind, reason): (BlockReason.Kind, String) =
      switch self {
      case .otherNumber: (.refused, "The number of a segment does not match its place in the stream.")
      case .unknownReplica: (.unverified, "The card of the device has not arrived, so its changes cannot be verified.")
      case .brokenChain: (.refused, "A segment does not follow the one before it: the stream was changed.")
      case .revoked: (.revoked, "The device was revoked: what it wrote afterwards is ignored.")
      case .lacksNewKey: (.needsInvitation, "The device has joined with an old key: invite it again.")
      case .unreadableValue(let field):
        (.needsUpgrade, "It has written a value of '\(field)' that this version of Tally cannot read.")
      }
    return BlockReason(kind, reason)
  }
}

extension EnvelopeFault {
  /// The reason why a stream stops at a segment that cannot be opened.
  var blockReason: BlockReason {
    switch self {
    case .needsNewerVersion: BlockReason(.needsUpgrade, description)
    case .unknownEpoch: BlockReason(.unverified, description)
    default: BlockReason(.refused, description)
    }
  }
}

/// The reason why reading the stream of a replica has stopped.
struct BlockReason: Hashable, Sendable {
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
    /// The segments are not valid segments of the replica.
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

  /// How many runs of missing segments are stored and reported: the names of the files at a place may name any number
  /// of them.
  static let mostRuns = 100

  /// Describes the missing parts; `nil` if it lacks nothing.
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

extension BlockReason.Kind {
  /// Whether the missing parts may still arrive by themselves.
  var isIncomplete: Bool { [.missing, .notFetched, .unreadable, .unverified].contains(self) }

  /// Whether a person must act first, so that trying again changes nothing.
  var needsAPerson: Bool { self == .revoked || self == .needsInvitation }

  /// The remedy, as a sentence for people; `nil` for none.
  var remedy: String? {
    switch self {
    case .missing, .unverified:
      "Wait until everything is copied to this device. If it is, synchronise that device: it sends again what is lost."
    case .notFetched: "Let the program that copies the folder download its files to this device."
    case .unreadable: "Check the owner, the permissions and the disk of the files."
    case .needsUpgrade: "Install the newest version of Tally on this device."
    case .needsInvitation, .revoked: nil
    case .refused: "Synchronise that device. If this stays, let it leave the space and join again."
    }
  }
}

extension Array where Element: Hashable {
  /// The elements without repetitions, in the order of their first occurrences.
  var uniqued: [Element] {
    var seen: Set<Element> = []
    return filter { seen.insert($0).inserted }
  }
}
