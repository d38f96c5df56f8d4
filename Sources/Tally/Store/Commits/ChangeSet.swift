public import Foundation

/// What some commits, one after the other, have changed: identifiers by kind.
///
/// Where several commits touched one task, only the result counts: a task that was created and deleted meanwhile is in no
/// set, and one that was deleted and came back by undo counts as inserted.
public struct ChangeSet: Hashable, Codable, Sendable {
  /// What happened to tasks, or to lists.
  public struct Identifiers: Hashable, Sendable {
    /// Those that have been created, or have come back.
    public internal(set) var inserted: Set<UUID> = []
    /// Those that were there and still are.
    public internal(set) var updated: Set<UUID> = []
    /// Those that were there and are gone.
    public internal(set) var deleted: Set<UUID> = []

    /// Whether nothing happened.
    public var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

    /// All of them.
    public var all: Set<UUID> { inserted.union(updated).union(deleted) }
  }

  /// The commit behind which the changes begin.
  public let previousSequence: UInt64
  /// Where to go on: the last commit whose changes are in it.
  public let position: StorePosition
  /// The tasks.
  public internal(set) var tasks = Identifiers()
  /// The lists.
  public internal(set) var lists = Identifiers()
  /// Whether these are all changes; if not, anything may have changed: read again.
  ///
  /// False only when an older state of the store, or another store, has replaced it since the earlier commit.
  public internal(set) var isComplete = true

  /// The last commit whose changes are in it.
  public var sequence: UInt64 { position.sequence }
}

extension ChangeSet.Identifiers: Codable {
  private enum Key: String, CodingKey {
    case inserted, updated, deleted
  }

  /// Reads the identifiers by what happened to them.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    func ids(_ key: Key) throws -> Set<UUID> { Set(try container.decode([IDText].self, forKey: key).map(\.id)) }
    self.init(inserted: try ids(.inserted), updated: try ids(.updated), deleted: try ids(.deleted))
  }

  /// Writes the identifiers by what happened to them, each group in ascending order.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    func texts(_ ids: Set<UUID>) -> [String] { ids.map { IDText($0).text }.sorted() }
    try container.encode(texts(inserted), forKey: .inserted)
    try container.encode(texts(updated), forKey: .updated)
    try container.encode(texts(deleted), forKey: .deleted)
  }
}
