public import Foundation
public import TallyEngine

/// What a number of consecutive commits have changed: identifiers by kind of change.
///
/// If several commits changed one task, only the result counts: a task that was created and deleted meanwhile is in no
/// set, and one that was deleted and restored by undo counts as inserted.
public struct ChangeSet: Hashable, Codable, Sendable {
  /// The identifiers of tasks or lists, by what happened to them.
  public struct Identifiers: Hashable, Sendable {
    /// The ones that were created or restored.
    public internal(set) var inserted: Set<UUID> = []
    /// The ones that existed before and were changed.
    public internal(set) var updated: Set<UUID> = []
    /// The ones that were deleted.
    public internal(set) var deleted: Set<UUID> = []

    /// Whether there are no changes.
    public var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

    /// All identifiers.
    public var all: Set<UUID> { inserted.union(updated).union(deleted) }
  }

  /// The sequence of the commit after which the changes begin.
  public let previousSequence: UInt64
  /// The position to continue from: the last commit whose changes are included.
  public let position: StorePosition
  /// The changes of tasks.
  public internal(set) var tasks = Identifiers()
  /// The changes of lists.
  public internal(set) var lists = Identifiers()
  /// Whether these are all changes; if not, anything may have changed, and everything must be read again.
  ///
  /// It is false only if an older state of the store, or another store, has replaced it since the earlier commit.
  public internal(set) var isComplete = true

  /// The sequence of the last commit whose changes are included.
  public var sequence: UInt64 { position.sequence }
}

extension ChangeSet.Identifiers: Codable {
  private enum Key: String, CodingKey {
    case inserted, updated, deleted
  }

  /// Decodes the identifiers, grouped by what happened to them.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    func ids(_ key: Key) throws -> Set<UUID> { Set(try container.decode([IDText].self, forKey: key).map(\.id)) }
    self.init(inserted: try ids(.inserted), updated: try ids(.updated), deleted: try ids(.deleted))
  }

  /// Encodes the identifiers, grouped by what happened to them and each group in ascending order.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    func texts(_ ids: Set<UUID>) -> [String] { ids.map { IDText($0).text }.sorted() }
    try container.encode(texts(inserted), forKey: .inserted)
    try container.encode(texts(updated), forKey: .updated)
    try container.encode(texts(deleted), forKey: .deleted)
  }
}
