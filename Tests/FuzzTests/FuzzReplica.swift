import Foundation
import SystemPackage
import TallyTestSupport

@testable import Tally
@testable import TallySync

/// A store that synchronises, into which changes of another replica are merged and rolled back.
final class FuzzReplica: Sendable {
  /// The store's replica, the author of the changes, and their space.
  static let (own, author) = (ReplicaID(id(0xA0)), ReplicaID(id(0xA1)))
  private let keys = ReplicaKeys()
  private let space = SpaceKeys(space: SpaceID(), epoch: 1, keys: [1: SpaceKey()])
  private let store: TaskStore

  private struct RolledBack: Error {}

  /// One per process, since each merge leaves it unchanged.
  static var shared: FuzzReplica { get throws { try made.get() } }

  private static let made = Result { try FuzzReplica() }

  private init() throws {
    let directory = FilePath(FileManager.default.temporaryDirectory.path).appending("tally-fuzz-\(UUID().uuidString)")
    store = try TaskStore(at: directory, configuration: .testing())
    try store.writeAndWait { transaction in
      let list = try transaction.addList(name: "list", id: Self.id(1))
      for number in 2..<8 as Range<UInt8> {
        var draft = TaskDraft(id: Self.id(number), title: "task \(number)")
        if number > 4 { draft.listID = list.id }
        _ = try transaction.add(draft)
      }
      _ = try transaction.update(Self.id(4)) { $0.parentID = Self.id(3) }
      _ = try transaction.complete(Self.id(6))
    }
    try store.writeAndWait { transaction in
      try transaction.beginSynchronizing()
      try transaction.noteEverything()
      _ = try join([], in: &transaction)
      try transaction.delete(Self.id(7))
    }
    // Only the open files are needed from now on, and no files are left behind.
    try FileManager.default.removeItem(atPath: directory.string)
  }

  static func id(_ number: UInt8) -> UUID {
    UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, number))
  }

  /// Seals a body as a segment, and opens and merges it.
  func receiveSegment(_ bytes: [UInt8]) throws {
    let content = try opened(bytes, as: .segment)
    try merge(try SegmentBody(decoding: content, by: Self.author).changes)
  }

  /// Seals a part of a snapshot, and opens, prepares and merges it.
  func receivePart(_ bytes: [UInt8]) throws {
    let content = try opened(bytes, as: .snapshotPart)
    let part = try SnapshotPart(decoding: content, by: Self.author)
    try merge(part.states.map { ObjectChange(object: $0, state: $1) }, of: part)
  }

  private func opened(_ bytes: [UInt8], as kind: EnvelopeHeader.Kind) throws -> [UInt8] {
    let label = EnvelopeHeader.Label(kind: kind, replica: Self.author, number: 1)
    let sealed = try Envelope(sealing: bytes, as: label, with: keys, in: space)
    let content = try Envelope(parsing: sealed.bytes)
      .open(as: kind, of: Self.author, verifying: keys.verifyingKey, in: space)
    guard content == bytes else { throw FuzzTarget.Finding(description: "a body is sealed as another one") }
    return content
  }

  /// Merges; accepted changes must leave a sound store, and merging them again must change nothing.
  ///
  /// The states of a part are prepared the first time, as another thread does.
  private func merge(_ changes: [ObjectChange], of part: SnapshotPart? = nil) throws {
    do {
      try store.writeAndWait { transaction in
        let opened = try part.map { OpenedPart($0, try transaction.number(replicasOf: $0)) }
        let hash = try join(changes, opened?.prepared ?? [], in: &transaction)
        // The entry of this write in the history has a number that the header gets with the commit.
        let faults = try transaction.inconsistencies().filter { $0.table != "history" }
        if let found = faults.first { throw FuzzTarget.Finding(description: "\(found)") }
        guard try join(changes, in: &transaction) == hash else {
          throw FuzzTarget.Finding(description: "merging the same again changes a state")
        }
        throw RolledBack()
      }
    } catch is RolledBack, is CodingFault {
      // The second is a value that no task has: the stream stops there.
    }
  }

  /// Joins changes as the engine does, and returns the hash of all states.
  private func join(
    _ changes: [ObjectChange], _ prepared: [PreparedState] = [], in transaction: inout StoreWriteTransaction
  ) throws -> StateHash {
    var (merge, conflicts) = (try StateMerge(in: transaction), [(StoredConflict, Stamp?)]())
    _ = try merge.applyPending(limit: .max, as: Self.own, in: &transaction)
    let detector = ConflictDetector(own: Self.own, time: 0)
    for (index, change) in changes.enumerated() {
      let ready = index < prepared.count ? prepared[index] : nil
      let known = try merge.join(change.state, to: change.object, prepared: ready, in: transaction)
      conflicts += detector.conflicts(of: change, with: known).map { ($0, change.replaced[$0.stateField]) }
    }
    try merge.finish(in: &transaction)
    try transaction.insertConflicts(conflicts)
    return try StateTable.hash(in: transaction)
  }
}
