public import Foundation

/// The number of tasks completed in a list.
public struct ListCount: Hashable, Sendable {
  /// The list they were completed in; `nil` for none.
  public let listID: UUID?
  /// Its name, the last one if it has been deleted; `nil` for none, and for a list that was deleted before names were kept.
  public let name: String?
  /// Whether the list has been deleted.
  public let isDeleted: Bool
  /// The number of completions.
  public let completed: Int
}

/// The number of tasks completed with a tag; a task with two tags counts for both.
public struct TagCount: Hashable, Codable, Sendable {
  /// The tag, in its first spelling.
  public let tag: String
  /// The number of completions.
  public let completed: Int
}

/// The number of tasks completed with a priority.
public struct PriorityCount: Hashable, Codable, Sendable {
  /// The priority, which may be `none`.
  public let priority: Priority
  /// The number of completions.
  public let completed: Int
}

/// Completions by their list, their tags and their priority at the time.
struct GroupCounts {
  private(set) var lists: [UUID?: Int] = [:]
  private(set) var priorities: [Priority: Int] = [:]
  /// By the tag's hash; those of `spellings` come in addition.
  private var tagCounts: [UUID: Int] = [:]
  /// By the tag as it is spelled: to hash every tag of every completion would take longer than all else.
  private var spellings: [String: Int] = [:]

  /// Counts one completion.
  mutating func add(_ classification: Classification) {
    lists[classification.listID, default: 0] += 1
    priorities[classification.priority, default: 0] += 1
    for tag in classification.tags { spellings[tag, default: 0] += 1 }
  }

  /// Counts all completions of a scope, as its counter has them; those without a priority are the rest of `all`.
  mutating func add(_ count: Int, of scope: CounterScope) {
    switch scope {
    case .all: priorities[.none, default: 0] += count
    case .noList: lists[UUID?.none, default: 0] += count
    case .list(let id): lists[id, default: 0] += count
    case .tag(let id): tagCounts[id, default: 0] += count
    case .priority(let priority):
      priorities[priority, default: 0] += count
      priorities[.none, default: 0] -= count
    }
  }

  /// The counts of the tags, by their hashes.
  var tags: [UUID: Int] {
    spellings.reduce(into: tagCounts) { $0[TagID.of($1.key), default: 0] += $1.value }
  }
}

extension ListCount: Codable {
  private enum Key: String, CodingKey {
    case listID, name, isDeleted, completed
  }

  /// Reads the count of a list, or that of tasks without a list if the id is missing.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    self.init(
      listID: try container.decodeIfPresent(IDText.self, forKey: .listID)?.id,
      name: try container.decodeIfPresent(String.self, forKey: .name),
      isDeleted: try container.decode(Bool.self, forKey: .isDeleted),
      completed: try container.decode(Int.self, forKey: .completed))
  }

  /// Writes the count; ids are in lower case.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encodeIfPresent(listID.map(IDText.init), forKey: .listID)
    try container.encodeIfPresent(name, forKey: .name)
    try container.encode(isDeleted, forKey: .isDeleted)
    try container.encode(completed, forKey: .completed)
  }
}
