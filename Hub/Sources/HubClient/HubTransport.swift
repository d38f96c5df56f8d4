import AsyncHTTPClient
import Foundation
import HubWire
import NIOCore
import NIOHTTP1
import Synchronization
public import TallySync

/// A hub as the place of a space.
///
/// An error loses nothing and doubles nothing: changes that the hub has not acknowledged wait in the store.
public final class HubTransport: SyncTransport {
  private let client: HubConnection
  private let space: SpaceID
  /// The change of the space that the caller knows of; `nil` before the first look.
  private let seen = Mutex<UInt64?>(nil)
  private let known = Mutex<(isOwner: Bool?, recoveries: Set<[UInt8]>?)>((nil, nil))

  /// Creates a transport for a member.
  ///
  /// - Parameters:
  ///   - url: The address of the hub, such as `https://hub.example`.
  ///   - space: The space.
  ///   - token: The token of a member of the space.
  public init(at url: String, space: SpaceID, token: String) {
    self.space = space
    client = HubConnection(at: url, token: token)
  }

  /// Short enough that a connection whose other end is gone is noticed within a minute.
  private static let longestWaitInSeconds = 25.0

  private var path: String { "v1/spaces/\(space)" }

  private func path(_ replica: ReplicaID) -> String { "\(path)/replicas/\(replica)" }

  private func path(_ number: Int, of name: SnapshotName) -> String {
    let digest = Hexadecimal.text(of: name.digest)
    return "\(path(name.replica))/snapshots/\(name.number)/\(digest)/\(name.partCount)/\(number)"
  }

  /// The last segment of each replica.
  ///
  /// - Returns: The heads.
  /// - Throws: ``HubFault``.
  public func heads() async throws -> [ReplicaID: SegmentHead] {
    let message = try await client.get("\(path)/heads").message(HubMessage.Heads.self)
    seen.withLock { $0 = message.change }
    // An older hub names no role.
    let isOwner = message.role.map { $0 == HubMemberRole.owner.rawValue }
    let recoveries =
      isOwner == true ? message.recoveries.map { Set($0.compactMap { Hexadecimal.bytes(of: $0) }) } : nil
    known.withLock { $0 = (isOwner, recoveries) }
    var heads: [ReplicaID: SegmentHead] = [:]
    for head in message.heads {
      guard let replica = ReplicaID(head.replica), let known = head.head else { throw HubFault.unexpected }
      heads[replica] = known
    }
    return heads
  }

  /// Some of the segments of a replica.
  ///
  /// - Parameters:
  ///   - replica: The replica.
  ///   - number: The number after which to begin.
  ///   - byteCount: Stop when this many bytes have been read.
  /// - Returns: Whole segments; empty if the next one is not there.
  /// - Throws: ``HubFault``.
  public func segments(of replica: ReplicaID, after number: UInt64, byteCount: Int) async throws -> [[UInt8]] {
    let answer = try await client.get("\(path(replica))/segments?after=\(number)&bytes=\(byteCount)")
    guard let segments = SegmentFrame.split(answer.bytes) else { throw HubFault.unexpected }
    return segments.map(\.bytes)
  }

  /// Appends segments by one request.
  ///
  /// - Parameters:
  ///   - segments: The sealed bytes, whose numbers follow each other.
  ///   - replica: The replica of the stream.
  /// - Returns: An answer for each segment, up to the first one that the hub does not have now.
  /// - Throws: ``HubFault``; some segments may be stored, but none without those before it.
  public func append(_ segments: [[UInt8]], of replica: ReplicaID) async throws -> [AppendAnswer] {
    let body = Array(segments.joined())
    let answer = try await client.send(.POST, "\(path(replica))/segments", body, allowing: [403, 409, 507])
    return try answer.message(HubMessage.AppendAnswers.self).answers.map { try Self.answer($0) }
  }

  private static func answer(_ message: HubMessage.AppendAnswer) throws -> AppendAnswer {
    switch message.answer {
    case "stored": return .stored
    case "known": return .known
    case "fork": return .fork
    case "gap":
      guard let head = message.head?.head else { throw HubFault.unexpected }
      return .gap(head)
    case "quota": return .refused("The space has no room at the hub.")
    case "denied": return .refused("The hub takes no changes of this device: it may only read, or was revoked.")
    default: throw HubFault.unexpected
    }
  }

  /// The newest card of each replica.
  ///
  /// - Returns: The cards.
  /// - Throws: ``HubFault``.
  public func cards() async throws -> [ReplicaID: [UInt8]] {
    guard let cards = SegmentFrame.split(try await client.get("\(path)/cards").bytes) else { throw HubFault.unexpected }
    return Dictionary(cards.map { ($0.frame.replica, $0.bytes) }) { first, _ in first }
  }

  /// Stores a newer card of this replica.
  ///
  /// - Parameters:
  ///   - card: The sealed bytes.
  ///   - replica: The replica.
  ///   - number: The number of the card.
  /// - Throws: ``HubFault``.
  public func putCard(_ card: [UInt8], of replica: ReplicaID, number: UInt64) async throws {
    try await client.send(.PUT, "\(path(replica))/cards/\(number)", card).requireDone()
  }

  /// The complete snapshots, newest first.
  ///
  /// - Returns: Their names.
  /// - Throws: ``HubFault``.
  public func snapshots() async throws -> [SnapshotName] {
    try await client.get("\(path)/snapshots").message(HubMessage.Snapshots.self).snapshots.map { snapshot in
      guard let name = snapshot.name else { throw HubFault.unexpected }
      return name
    }
  }

  /// One part of a snapshot.
  ///
  /// - Parameters:
  ///   - number: Which, from 0.
  ///   - name: Of the snapshot.
  /// - Returns: The sealed bytes.
  /// - Throws: ``HubFault``.
  public func part(_ number: Int, of name: SnapshotName) async throws -> [UInt8] {
    do {
      return try await client.get(path(number, of: name)).bytes
    } catch HubFault.status(404, let reason) {
      // Its author has deleted it meanwhile: no refusal.
      throw HubFault.unreachable(reason)
    }
  }

  /// Stores one part of a snapshot.
  ///
  /// - Parameters:
  ///   - part: The sealed bytes.
  ///   - number: Which, from 0.
  ///   - name: Of the snapshot.
  /// - Throws: ``HubFault``.
  public func putPart(_ part: [UInt8], number: Int, of name: SnapshotName) async throws {
    try await client.send(.PUT, path(number, of: name), part).requireDone()
  }

  /// Deletes segments and snapshots that nobody needs any more.
  ///
  /// - Parameters:
  ///   - replica: The replica.
  ///   - number: The last segment to delete; 0 for none.
  ///   - snapshots: The snapshots to delete.
  /// - Throws: ``HubFault``.
  public func delete(segmentsOf replica: ReplicaID, upTo number: UInt64, snapshots: [SnapshotName]) async throws {
    let message = HubMessage.Deletion(upTo: number, snapshots: snapshots.map { HubMessage.Snapshot($0) })
    let body = Array(try JSONEncoder().encode(message))
    try await client.send(.POST, "\(path(replica))/deletion", body).requireDone()
  }

  /// The verifiers of the current recovery codes; `nil` if this member is not an owner, or the hub is an older one.
  public var recoveries: Set<[UInt8]>? { known.withLock { $0.recoveries } }

  /// Whether the hub says that this device is an owner of the space.
  public var isOwner: Bool? { known.withLock { $0.isOwner } }

  /// Lets the hub restore this owner by its recovery code.
  ///
  /// - Parameter verifier: The public part of the code.
  /// - Returns: Whether the hub accepts the code; false if the code needs a secret that only its owner has.
  /// - Throws: ``HubFault``.
  public func putRecovery(_ verifier: RecoveryVerifier) async throws -> Bool {
    let message = HubMessage.Recovery(verifier: Hexadecimal.text(of: verifier.bytes), isShared: verifier.isShared)
    let answer = try await client.send(
      .PUT, "\(path)/recovery", Array(try JSONEncoder().encode(message)), allowing: [409])
    return answer.status == 204
  }

  /// Returns when the space has changed at the hub, or when the time is over.
  ///
  /// - Parameter seconds: How long to wait at most.
  /// - Returns: Whether it has changed since the last look.
  /// - Throws: ``HubFault``; `CancellationError`.
  public func waitForChanges(seconds: Double) async throws -> Bool {
    guard let known = seen.withLock({ $0 }) else {
      _ = try await heads()
      return true
    }
    let deadline = ContinuousClock.now + .seconds(seconds)
    repeat {
      let rest = min(max((deadline - .now) / .seconds(1), 0), Self.longestWaitInSeconds)
      if let change = try await client.change(of: "\(space)", after: known, seconds: rest) {
        seen.withLock { $0 = change }
        return true
      }
      try Task.checkCancellation()
    } while ContinuousClock.now < deadline
    return false
  }
}
