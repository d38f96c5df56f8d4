public import Foundation

/// What some commits, one after the other, have changed: identifiers by kind.
///
/// Where several commits touched one task, only what came of it counts: a task that was made and deleted meanwhile is in
/// neither set.
public struct ChangeSet: Hashable, Sendable {
  /// What happened to tasks, or to lists.
  public struct Identifiers: Hashable, Sendable {
    /// Those that are there and were not.
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
  /// The last commit whose changes are in it.
  public let sequence: UInt64
  /// The tasks.
  public internal(set) var tasks = Identifiers()
  /// The lists.
  public internal(set) var lists = Identifiers()
  /// Whether these are all changes; if not, anything may have changed: read anew.
  ///
  /// So it is after a change too large for the history, when more has happened than the history keeps, and when an
  /// older state of the store, or another store, has taken its place while it was suspended.
  public internal(set) var isComplete = true
}
