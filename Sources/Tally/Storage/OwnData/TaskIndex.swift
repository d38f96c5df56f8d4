public import LMDB

/// An index of tasks that an application defines: which keys a task has in it, and so its order.
///
/// ```swift
/// let byWord = TaskIndex("byWord") { task in task.title.split(separator: " ").map(String.init) }
/// var configuration = TaskStore.Configuration()
/// configuration.indexes = [byWord]
/// let store = try TaskStore(at: folder, configuration: configuration)
/// let found = try store.read { try $0.tasks(in: byWord, .key("paint")) }
/// ```
///
/// A store that is opened with it builds it, and keeps it in the same transaction as the tasks. A program that opens the
/// store without it costs nothing but the looks at the tasks that it has changed, at the next opening with it.
public struct TaskIndex: Sendable {
  /// The longest name, in bytes of UTF-8.
  public static let maximumNameByteCount = 64
  /// The longest key, in bytes; zero bytes of a text or of bytes count twice, and their end takes two.
  public static let maximumKeyByteCount = 480

  /// The application's name for the index.
  public let name: String
  /// The version of the function: another one builds the index again.
  public let version: UInt32
  /// Whether all keys have the same length, and need no mark at their end.
  let hasFixedWidth: Bool
  /// The keys of a task, encoded.
  let keys: @Sendable (TaskItem) -> [[UInt8]]

  /// Defines an index.
  ///
  /// - Parameters:
  ///   - name: the application's name for it; 1 to 64 bytes.
  ///   - version: to be raised whenever the function gives other keys than before.
  ///   - keys: the keys of a task, none, one or several: numbers, texts, bytes, or a `Pair` of them. It must be pure, so
  ///     that it gives the same keys for the same task each time, whatever the time, the place or the process.
  public init<Key: KeyCodable>(
    _ name: String, version: UInt32 = 1, keys: @escaping @Sendable (TaskItem) -> [Key]
  ) {
    (self.name, self.version) = (name, version)
    hasFixedWidth = Key.fixedByteCount != nil
    self.keys = { keys($0).map(\.encodedBytes) }
  }

  /// Ensures that indexes can be registered together.
  static func check(_ indexes: [TaskIndex]) throws(TallyError) {
    for index in indexes where !(1...maximumNameByteCount).contains(index.name.utf8.count) {
      throw TallyError(
        .invalidIndex, "The name of an application's index is empty or has more than \(maximumNameByteCount) bytes",
        remedy: "Give a short name")
    }
    guard Set(indexes.map(\.name)).count == indexes.count else {
      throw TallyError(
        .invalidIndex, "Two of an application's indexes have the same name", remedy: "Give each a name of its own")
    }
  }
}

/// The part of an index to walk.
public struct TaskIndexRange: Sendable {
  enum Kind: Sendable {
    case all
    case key(any KeyCodable)
    case prefix(any KeyCodable)
    case bounds(from: (any KeyCodable)?, upTo: (any KeyCodable)?)
  }

  let kind: Kind

  /// All keys.
  public static let all = TaskIndexRange(kind: .all)

  /// One key.
  public static func key(_ key: some KeyCodable) -> TaskIndexRange { TaskIndexRange(kind: .key(key)) }

  /// The keys that begin with the bytes of another one: of texts, those that begin with a text; of pairs, with `Leading`,
  /// those with that first part.
  public static func prefix(_ prefix: some KeyCodable) -> TaskIndexRange { TaskIndexRange(kind: .prefix(prefix)) }

  /// The keys from one on, up to but not including another one; `nil` for no bound.
  public static func from(_ lower: (any KeyCodable)?, upTo upper: (any KeyCodable)? = nil) -> TaskIndexRange {
    TaskIndexRange(kind: .bounds(from: lower, upTo: upper))
  }
}

/// A place in an index: after the last task of a page.
///
/// It stays valid when tasks come and go: it names a place in the order, not a number of rows.
public struct TaskIndexPosition: Hashable, Codable, Sendable {
  /// The key of the entry, and the task's id.
  let bytes: [UInt8]
}

/// A part of an index, and where the next part begins.
public struct TaskIndexPage: Sendable {
  /// A task at one of its keys.
  public struct Entry: Hashable, Sendable {
    /// The bytes of the key.
    public let key: [UInt8]
    /// The task.
    public let task: TaskItem
  }

  /// The tasks with their keys; a task with several keys may be there several times.
  public let entries: [Entry]
  /// Where the next page begins; `nil` on the last one.
  public let next: TaskIndexPosition?

  /// The tasks, in the order of the keys.
  public var tasks: [TaskItem] { entries.map(\.task) }
}

/// An application's index, as the store has it.
public struct TaskIndexInformation: Hashable, Sendable {
  /// Its name.
  public let name: String
  /// The version of its function.
  public let version: UInt32
  /// How many commits it is behind: the next opening or write with it looks at the tasks changed since, as reads do.
  public let lagInCommits: Int
}
