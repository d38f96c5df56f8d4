/// A place through which the replicas of a space exchange sealed bytes: a folder, a hub, an object store.
///
/// The place stores bytes that it cannot read. What an implementation promises:
///
/// - **Appending is atomic and durable.** When ``append(_:of:)`` answers that a segment is stored, it survives a crash
///   of this machine and of the place, and no other replica ever sees a part of it.
/// - **A stream never changes.** A segment, once there, is returned byte for byte or not; a second one with the same
///   number of the same replica is refused as a fork.
/// - **Nothing has to be complete.** Segments may arrive late, in any order among replicas, or get lost: ``heads()`` and
///   ``segments(of:after:byteCount:)`` leave out those that are not there yet. Of one replica's stream, they return
///   only a run without gaps.
/// - **Any function may fail** with any error. Nothing is lost by it: segments that were not acknowledged are sent again.
///
/// Functions are called by one task at a time, except ``waitForChanges(seconds:)``: others are called while it waits.
public protocol SyncTransport: Sendable {
  /// Creates missing parts of the place before an exchange; does nothing unless implemented.
  ///
  /// - Throws: Any error, if the place cannot be reached.
  func prepare() async throws

  /// The last segment of each replica at the place.
  ///
  /// - Returns: The heads; a replica without segments has none.
  /// - Throws: Any error, if the place cannot be reached.
  func heads() async throws -> [ReplicaID: SegmentHead]

  /// Some of the segments of a replica, in the order of their numbers and without gaps.
  ///
  /// - Parameters:
  ///   - replica: Whose.
  ///   - number: The segments after this one; 0 for all.
  ///   - byteCount: The number of bytes after which reading stops; at least one segment is returned if there is one.
  /// - Returns: Whole segments; empty if the next one is not there, or not yet.
  /// - Throws: Any error, if the place cannot be reached.
  func segments(of replica: ReplicaID, after number: UInt64, byteCount: Int) async throws -> [[UInt8]]

  /// The segments of a replica that the place cannot return, with the reasons as far as it knows them.
  ///
  /// The default implementation reports all segments in question as missing.
  ///
  /// - Parameters:
  ///   - replica: Whose.
  ///   - number: The last segment that was read; 0 for none.
  ///   - last: The last segment that is known to exist. The place may name later ones.
  /// - Returns: The segments that are missing after the last one that was read, ascending; empty if none is.
  /// - Throws: Any error, if the place cannot be reached.
  func gaps(of replica: ReplicaID, after number: UInt64, upTo last: UInt64) async throws -> [PlaceGap]

  /// Appends segments of this replica to its stream, in their order.
  ///
  /// - Parameters:
  ///   - segments: The sealed bytes, whose numbers follow each other; at least one.
  ///   - replica: The replica of the stream.
  /// - Returns: For each segment whether it is stored now, or why not. The first one that is neither stored nor known
  ///   ends the call: those after it are not stored, and have no answer.
  /// - Throws: Any error, if the place cannot be reached; some segments may be stored, but none without those before it.
  func append(_ segments: [[UInt8]], of replica: ReplicaID) async throws -> [AppendAnswer]

  /// The cards of all replicas: small sealed descriptions, each with the key that verifies its segments.
  ///
  /// - Returns: For each replica, its newest card.
  /// - Throws: Any error, if the place cannot be reached.
  func cards() async throws -> [ReplicaID: [UInt8]]

  /// Stores a newer card of this replica.
  ///
  /// - Parameters:
  ///   - card: The sealed bytes.
  ///   - replica: The replica.
  ///   - number: The number of the card; the greatest is the newest.
  /// - Throws: Any error, if the place cannot be reached.
  func putCard(_ card: [UInt8], of replica: ReplicaID, number: UInt64) async throws

  /// The complete snapshots at the place, newest first.
  ///
  /// - Returns: Their names.
  /// - Throws: Any error, if the place cannot be reached.
  func snapshots() async throws -> [SnapshotName]

  /// The snapshots of which the place has some parts and lacks others.
  ///
  /// The default implementation returns none, for places that show only complete snapshots.
  ///
  /// - Returns: Their names, with the numbers of the parts that are there.
  /// - Throws: Any error, if the place cannot be reached.
  func incompleteSnapshots() async throws -> [SnapshotName: [Int]]

  /// One part of a snapshot.
  ///
  /// - Parameters:
  ///   - number: Which, from 0.
  ///   - name: Of the snapshot.
  /// - Returns: The sealed bytes.
  /// - Throws: Any error, if it is not there or the place cannot be reached.
  func part(_ number: Int, of name: SnapshotName) async throws -> [UInt8]

  /// Stores one part of a snapshot; the snapshot is complete when all its parts are there.
  ///
  /// - Parameters:
  ///   - part: The sealed bytes.
  ///   - number: Which, from 0.
  ///   - name: Of the snapshot.
  /// - Throws: Any error, if the place cannot be reached.
  func putPart(_ part: [UInt8], number: Int, of name: SnapshotName) async throws

  /// Deletes segments of this replica up to a number, and snapshots of it, that nobody needs any more.
  ///
  /// - Parameters:
  ///   - replica: Whose.
  ///   - number: The last segment to delete; 0 for none.
  ///   - snapshots: The snapshots to delete.
  /// - Throws: Any error, if the place cannot be reached; some may be deleted.
  func delete(segmentsOf replica: ReplicaID, upTo number: UInt64, snapshots: [SnapshotName]) async throws

  /// The verifiers, as bytes, of the recovery codes by which the place currently restores owners of the space.
  ///
  /// `nil` if the place restores no owners or this replica is not an owner. The last call of ``heads()`` has set it.
  var recoveries: Set<[UInt8]>? { get }

  /// Whether the place says that this replica is an owner; `nil` if it does not say. The last call of ``heads()`` has set it.
  var isOwner: Bool? { get }

  /// Lets the place restore this owner by its recovery code, in place of its earlier one.
  ///
  /// - Parameter verifier: The public part of the code.
  /// - Returns: Whether the place accepts the code; false if the code needs a secret that only its owner has.
  /// - Throws: Any error, if the place cannot be reached.
  func putRecovery(_ verifier: RecoveryVerifier) async throws -> Bool

  /// Joins small objects of this replica into larger ones, if the place is better off with fewer; does nothing unless
  /// implemented.
  ///
  /// - Parameter replica: This replica.
  /// - Throws: Any error, if the place cannot be reached; no segment is lost.
  func pack(_ replica: ReplicaID) async throws

  /// Bytes that change when somebody else changes the files of a replica at the place, such as from the times of those
  /// files; `nil` unless implemented, where that cannot happen or be seen.
  ///
  /// - Parameter replica: This replica.
  /// - Returns: The bytes.
  /// - Throws: Any error, if the place cannot be reached.
  func mark(of replica: ReplicaID) async throws -> [UInt8]?

  /// Returns when something may have changed at the place, or when the time is over.
  ///
  /// - Parameter seconds: How long to wait at most.
  /// - Returns: Whether something may have changed since the last call of ``heads()``, or the last wait that returned true;
  ///   false if the time is over and nothing has changed.
  /// - Throws: `CancellationError` if the task is cancelled; any other error, if the place cannot be reached.
  @discardableResult
  func waitForChanges(seconds: Double) async throws -> Bool
}

extension SyncTransport {
  /// Does nothing.
  public func prepare() async throws {}

  /// Does nothing.
  public func pack(_ replica: ReplicaID) async throws {}

  /// None: the place knows no owners.
  public var recoveries: Set<[UInt8]>? { nil }

  /// `nil`.
  public var isOwner: Bool? { nil }

  /// Does nothing.
  public func putRecovery(_ verifier: RecoveryVerifier) async throws -> Bool { true }

  /// Nothing.
  public func mark(of replica: ReplicaID) async throws -> [UInt8]? { nil }

  /// Reports all segments in question as missing.
  public func gaps(of replica: ReplicaID, after number: UInt64, upTo last: UInt64) async throws -> [PlaceGap] {
    number < last ? [PlaceGap(number + 1...last, .missing)] : []
  }

  /// None.
  public func incompleteSnapshots() async throws -> [SnapshotName: [Int]] { [:] }
}

/// Segments of a replica that a place cannot return.
public struct PlaceGap: Hashable, Sendable {
  /// The reason.
  public enum Cause: Hashable, Sendable {
    /// The segments are absent.
    case missing
    /// The segments are incomplete or damaged.
    case notWhole
    /// Only placeholders are there: the program that copies the place has not fetched the segments.
    case notFetched
    /// The system does not allow reading them, for a reason.
    case unreadable(String)
  }

  /// The first and the last of them; `nil` if the place does not know which.
  public let numbers: ClosedRange<UInt64>?
  /// Why the place cannot return them.
  public let cause: Cause

  /// Creates a gap.
  ///
  /// - Parameters:
  ///   - numbers: The first and the last segment; `nil` if the place does not know which.
  ///   - cause: Why the place cannot return them.
  public init(_ numbers: ClosedRange<UInt64>?, _ cause: Cause) { (self.numbers, self.cause) = (numbers, cause) }
}

/// The result of appending a segment.
public enum AppendAnswer: Hashable, Sendable {
  /// It is stored.
  case stored
  /// The same bytes were stored before.
  case known
  /// Another segment of this replica has its number: somebody else writes as this replica.
  case fork
  /// It is not the next one: the last one there is this.
  case gap(SegmentHead)
  /// The place accepts no more for now; the text says why, for people.
  case refused(String)

  /// Whether the place has the segment.
  public var isThere: Bool { self == .stored || self == .known }
}

/// The name of a snapshot.
public struct SnapshotName: Hashable, Sendable {
  /// The replica that has made it.
  public let replica: ReplicaID
  /// The start of the hash of what it covers, eight bytes.
  public let digest: [UInt8]
  /// Into how many parts it is divided.
  public let partCount: Int
  /// Counts the snapshots of its replica: the greatest is the newest.
  public let number: UInt64

  /// Creates a name.
  ///
  /// - Parameters:
  ///   - replica: The author.
  ///   - number: The number of the snapshot among those of the replica, from 1.
  ///   - digest: Eight bytes of the hash of what it covers.
  ///   - partCount: How many parts it has, from 1.
  public init(replica: ReplicaID, number: UInt64, digest: [UInt8], partCount: Int) {
    (self.replica, self.number, self.digest, self.partCount) = (replica, number, digest, partCount)
  }
}

/// The place of a space.
public struct SyncPlace: Hashable, Sendable {
  /// The path of a folder, or the address of a hub, which begins with `https://` or `http://`.
  public let address: String
  /// The token by which a hub knows this device; `nil` for a folder.
  public let token: String?

  /// Creates a place.
  ///
  /// - Parameters:
  ///   - address: The path of a folder, or the address of a hub.
  ///   - token: The token by which the hub knows this device.
  public init(_ address: String, token: String? = nil) { (self.address, self.token) = (address, token) }

  /// A new token: the hexadecimal digits of 32 random bytes.
  public static func newToken() -> String { HexDigits.text(of: [UInt8].random(count: 32)) }

  /// Whether the address is that of a hub.
  public var isHub: Bool {
    let scheme = address.prefix { $0 != "/" }.lowercased()
    return address.contains("://") && (scheme == "https:" || scheme == "http:")
  }
}

extension SyncPlace: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The address: the token is secret.
  public var description: String { address }

  /// The address.
  public var debugDescription: String { address }

  /// The address alone.
  public var customMirror: Mirror { Mirror(self, children: ["address": address]) }
}

/// Connects stores to places that are not folders.
///
/// `TallySync` itself reaches folders only, so that an application without a hub builds no client for HTTP.
public protocol SyncConnector: Sendable {
  /// Connects to a place, which need not answer yet.
  ///
  /// - Parameters:
  ///   - place: The place, which is not a folder.
  ///   - space: The space there.
  /// - Returns: A transport.
  /// - Throws: Any error, if there is no such place.
  func transport(to place: SyncPlace, space: SpaceID) throws -> any SyncTransport
}

/// The place answers, but refuses a request of this store: nothing is lost, but asking again soon is of no use.
public struct SyncRefusal: Error, Hashable, Sendable {
  /// Why, as a sentence for people.
  public let reason: String
  /// After how many seconds the place wants to be asked again; `nil` if it does not say.
  public let retryInSeconds: Double?
  /// Whether it is because this device was revoked.
  public let isRevocation: Bool
  /// Whether this device lacks the permission, as when another member writes as its replica.
  public let isDenial: Bool

  /// Creates a value of its fields.
  ///
  /// - Parameters:
  ///   - reason: Why, as a sentence for people.
  ///   - retryInSeconds: After how many seconds the place wants to be asked again.
  ///   - isRevocation: Whether it is because this device was revoked.
  ///   - isDenial: Whether this device lacks the permission.
  public init(_ reason: String, retryInSeconds: Double? = nil, isRevocation: Bool = false, isDenial: Bool = false) {
    (self.reason, self.retryInSeconds) = (reason, retryInSeconds)
    (self.isRevocation, self.isDenial) = (isRevocation, isDenial)
  }
}

/// An error of a transport that may be a refusal; all others mean that the place cannot be reached.
public protocol SyncTransportError: Error {
  /// The refusal; `nil` if the place cannot be reached.
  var refusal: SyncRefusal? { get }
}

extension SyncRefusal: SyncTransportError {
  /// Itself.
  public var refusal: SyncRefusal? { self }
}
