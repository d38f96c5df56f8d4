public import LMDB
import TallyEngine

/// An index of tasks that an application defines by the keys that a task has in it.
///
/// ```swift
/// let byWord = TaskIndex("byWord") { task in task.title.split(separator: " ").map(String.init) }
/// var configuration = TaskStore.Configuration()
/// configuration.indexes = [byWord]
/// let store = try TaskStore(at: folder, configuration: configuration)
/// let found = try store.read { try $0.tasks(in: byWord, .key("paint")) }
/// ```
///
/// A store that is opened with the index builds it, and updates it in the same transaction as the tasks. A program that
/// opens the store without the index pays nothing for it; the next opening with the index catches up by reading the
/// tasks that have changed.
public struct TaskIndex: Sendable {
  /// The longest name, in bytes of UTF-8.
  public static let maximumNameByteCount = 64
  /// The longest key, in bytes of its stored form: there, zero bytes of a text or of bytes count twice, and the end
  /// mark counts two.
  public static let maximumKeyByteCount = 480

  /// The application's name for the index.
  public let name: String
  /// The version of the function: the index is built again if it differs.
  public let version: UInt32
  /// Whether all keys have the same length, so that they need no end mark.
  let hasFixedWidth: Bool
  /// Computes the encoded keys of a task.
  let keys: @Sendable (TaskItem) -> [[UInt8]]

  /// Defines an index.
  ///
  /// - Parameters:
  ///   - name: the application's name for the index; 1 to 64 bytes.
  ///   - version: raise it whenever the function gives different keys than before.
  ///   - keys: the keys of a task, none, one or several: numbers, texts, bytes, or a `Pair` of them. The function must
  ///     be pure: it must give the same keys for the same task whatever the time, time zone or process.
  public init<Key: KeyCodable>(
    _ name: String, version: UInt32 = 1, keys: @escaping @Sendable (TaskItem) -> [Key]
  ) {
    (self.name, self.version) = (name, version)
    hasFixedWidth = Key.fixedByteCount != nil
    self.keys = { keys($0).map(\.encodedBytes) }
  }

  /// Checks that indexes can be registered together.
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

/// The part of an index to read.
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

  /// A single key.
  public static func key(_ key: some KeyCodable) -> TaskIndexRange { TaskIndexRange(kind: .key(key)) }

  /// The keys that begin with the bytes of another key.
  ///
  /// For texts, these are the keys that begin with a text; for pairs, with `Leading`, those with that first part.
  public static func prefix(_ prefix: some KeyCodable) -> TaskIndexRange { TaskIndexRange(kind: .prefix(prefix)) }

  /// The keys from a lower bound up to but not including an upper bound; `nil` for no bound.
  public static func from(_ lower: (any KeyCodable)?, upTo upper: (any KeyCodable)? = nil) -> TaskIndexRange {
    TaskIndexRange(kind: .bounds(from: lower, upTo: upper))
  }
}

/// A position in an index, after the last task of a page.
///
/// It stays valid when tasks are added or deleted, because it holds a key, not a number of rows.
public struct TaskIndexPosition: Hashable, Codable, Sendable {
  /// The key of the entry, then the task's id.
  let bytes: [UInt8]
}

/// A page of tasks from an index, and the position of the next page.
public struct TaskIndexPage: Sendable {
  /// A task at one of its keys.
  public struct Entry: Hashable, Sendable {
    /// The bytes of the key.
    public let key: [UInt8]
    /// The task.
    public let task: TaskItem
  }

  /// The tasks with their keys; a task with several keys may appear several times.
  public let entries: [Entry]
  /// The position of the next page; `nil` on the last one.
  public let next: TaskIndexPosition?

  /// The tasks, in the order of the keys.
  public var tasks: [TaskItem] { entries.map(\.task) }
}

/// The state of an application's index in a store.
public struct TaskIndexInformation: Hashable, Sendable {
  /// Its name.
  public let name: String
  /// The version of its function.
  public let version: UInt32
  /// How many commits the index is behind.
  ///
  /// The next opening or write with the index reads the tasks that have changed since then; so does each read.
  public let lagInCommits: Int
}
