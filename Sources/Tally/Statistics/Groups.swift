public import Foundation
import LMDB
import TallyEngine

/// The number of tasks completed in a list.
public struct ListCount: Hashable, Codable, Sendable {
  /// The list in which they were completed; `nil` for no list.
  public let listID: UUID?
  /// The list's name, or its last name if it was deleted; `nil` for no list, and for a list deleted before
  /// names were recorded.
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

/// Completions by the list, the tags and the priority at the time of completion.
struct GroupCounts {
  private(set) var lists: [UUID?: Int] = [:]
  private(set) var priorities: [Priority: Int] = [:]
  /// The counts by the tag's hash; those in `spellings` are added to them.
  private var tagCounts: [UUID: Int] = [:]
  /// The counts by the tag as spelled, because hashing every tag of every completion would take longer than all
  /// other work.
  private var spellings: [String: Int] = [:]

  /// Counts a completion.
  mutating func add(_ classification: Classification) {
    lists[classification.listID, default: 0] += 1
    priorities[classification.priority, default: 0] += 1
    for tag in classification.tags { spellings[tag, default: 0] += 1 }
  }

  /// Counts all completions of a scope from its counter; completions without a priority are the rest of `all`.
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

  /// The counts of the tags by hash.
  var tags: [UUID: Int] {
    spellings.reduce(into: tagCounts) { $0[TagID.of($1.key), default: 0] += $1.value }
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// Completions by the list, the tags and the priority at the time of completion.
  ///
  /// In any scope other than `all` they are counted from the ledger, because no counter has combinations of groups.
  func groupCounts(_ context: StatisticsContext) throws -> GroupCounts {
    if let events = context.events { return events.groups }
    var counts = GroupCounts()
    let scopes = try completedScopes()
    if context.scope == .all {
      for scope in scopes { counts.add(try countInNamedDays(context, scope), of: scope) }
    } else if context.scope.isOfLists, scopes.allSatisfy({ $0.isOfLists || $0 == .all }) {
      // No task was ever completed with a tag or a priority.
      let count = try countInNamedDays(context, context.scope)
      for scope in [.all, context.scope] { counts.add(count, of: scope) }
    } else {
      for time in context.namedTimes {
        try forEachCompletion(context.series, context.scope, from: time.lowerBound, to: time.upperBound) {
          _, _, record in
          counts.add(record.classification)
        }
      }
    }
    return counts
  }

  /// The scopes with at least one completion.
  private func completedScopes() throws -> [CounterScope] {
    var scopes: [CounterScope] = []
    try tables.totals.forEach(from: TotalKey(.completed, .all), upTo: TotalKey(.created, .all), in: base) { key, _ in
      scopes.append(try TotalKey(decoding: key).scope)
      return true
    }
    return scopes
  }

  private func countInNamedDays(_ context: StatisticsContext, _ scope: CounterScope) throws -> Int {
    guard context.namedDays != nil else { return try total(.completed, scope) }
    return try context.namedTimes.reduce(0) { sum, time in
      sum + (try count(context.series, scope, from: time.lowerBound, to: time.upperBound))
    }
  }

  /// Completions by list: first those without a list, then the lists in their order, then deleted lists.
  func byList(_ counts: GroupCounts) throws -> [ListCount] {
    let lists = try lists()
    let known = Set(lists.map(\.id))
    let deleted = counts.lists.keys.compactMap { $0 }.filter { !known.contains($0) }.sorted { $0.precedes($1) }
    func count(_ id: UUID?, _ name: String?, isDeleted: Bool = false) -> [ListCount] {
      let completed = counts.lists[id] ?? 0
      return completed > 0 ? [ListCount(listID: id, name: name, isDeleted: isDeleted, completed: completed)] : []
    }
    return try count(nil, nil) + lists.flatMap { count($0.id, $0.name) }
      + deleted.flatMap { count($0, try nameOfDeletedList($0), isDeleted: true) }
  }

  /// Completions by tag, the most frequent first; ties are sorted by folded name.
  func byTag(_ counts: GroupCounts) throws -> [TagCount] {
    var tags: [(folded: String, count: TagCount)] = []
    for (id, count) in counts.tags where count > 0 {
      guard let name = try tables.tagNames.value(forKey: IDKey(id), in: base) else {
        throw TallyError.missingRecord(of: "a counted tag")
      }
      tags.append((TagSet.folded(name), TagCount(tag: name, completed: count)))
    }
    tags.sort { left, right in
      left.count.completed == right.count.completed
        ? left.folded.utf8.lexicographicallyPrecedes(right.folded.utf8) : left.count.completed > right.count.completed
    }
    return tags.map(\.count)
  }
}

extension GroupCounts {
  /// Completions by priority, the highest first.
  var byPriority: [PriorityCount] {
    Priority.allCases.reversed().compactMap { priority in
      priorities[priority].flatMap { $0 > 0 ? PriorityCount(priority: priority, completed: $0) : nil }
    }
  }
}

extension CounterScope {
  /// Whether the scope is that of a list or of no list.
  fileprivate var isOfLists: Bool {
    switch self {
    case .noList, .list: true
    case .all, .tag, .priority: false
    }
  }
}
