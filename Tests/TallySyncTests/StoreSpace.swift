import Foundation
import SystemPackage
import Tally
import TallyTestSupport
import TestSupport
import Testing

@testable import TallySync

/// Stores in one directory that exchange changes in an order that a test chooses.
struct StoreSpace {
  let clock = TestClock.noon
  private var replicas: [Replica] = []
  /// The changes of each, and how many of each others have.
  private var logs: [[ObjectChange]]
  private var received: [[Int]]

  var stores: [TaskStore] { replicas.map(\.store) }

  init(_ count: Int, in directory: FilePath) throws {
    logs = Array(repeating: [], count: count)
    received = Array(repeating: Array(repeating: 0, count: count), count: count)
    for number in 0..<count {
      let store = try TaskStore(at: directory.appending("store-\(number)"), configuration: .testing(clock: clock))
      replicas.append(try Replica(of: store, as: ReplicaID(SimulatedSpace.id(number))))
    }
  }

  /// Brings the changes of one to another.
  mutating func deliver(from sender: Int, to receiver: Int) throws {
    logs[sender] += try replicas[sender].takeChanges()
    let new = logs[sender][received[receiver][sender]...]
    logs[receiver] += try replicas[receiver].merge(new.reversed())
    received[receiver][sender] = logs[sender].count
    try checkInvariants(of: stores[receiver])
  }

  mutating func exchangeAll() throws {
    for _ in 0..<2 {
      for sender in replicas.indices {
        for receiver in replicas.indices where receiver != sender { try deliver(from: sender, to: receiver) }
      }
    }
  }

  mutating func exchange(using random: inout SeededGenerator) throws {
    let pair = replicas.indices.shuffled(using: &random).prefix(2)
    try deliver(from: pair[0], to: pair[1])
  }

  /// Compares all tasks, lists and statistics; times of change may differ by what the clocks of others say.
  func expectEqualStores(sourceLocation: SourceLocation = #_sourceLocation) throws {
    try Self.expectEqual(stores, sourceLocation: sourceLocation)
  }

  static func expectEqual(_ stores: [TaskStore], sourceLocation: SourceLocation = #_sourceLocation) throws {
    let contents = try stores.map { store in
      try store.read { transaction in
        let tasks = try transaction.view(.all).tasks.map { task in
          var task = task
          task.updatedAt = .earliest
          return task
        }
        let lists = try transaction.lists().map { "\($0.id) \($0.name) \($0.colorHex) \($0.sortOrder)" }
        return (Set(tasks), Set(lists), try transaction.statistics())
      }
    }
    for other in contents.dropFirst() {
      #expect(Self.differences(contents[0].0, other.0) == [], sourceLocation: sourceLocation)
      #expect(contents[0].1 == other.1, sourceLocation: sourceLocation)
      #expect(contents[0].2 == other.2, sourceLocation: sourceLocation)
    }
  }

  /// What two sets of tasks do not share: the task and the field, or the whole task.
  private static func differences(_ left: Set<TaskItem>, _ right: Set<TaskItem>) -> [String] {
    let others = Dictionary(uniqueKeysWithValues: right.map { ($0.id, $0) })
    let mine = Set(left.map(\.id))
    let differing = left.flatMap { task in
      guard let other = others[task.id] else { return ["\(task) is missing"] }
      if task == other { return [] }
      return ["\(task), not \(other)"]
        + TaskItem.fields.filter { task.value(of: $0) != other.value(of: $0) || task.state != other.state }
        .map { "\(task.id) field \($0.number): \(task.value(of: $0)), not \(other.value(of: $0))" }
        + [
          "\(task.tags) \(other.tags) \(task.attributes) \(other.attributes) \(task.dependsOn) \(other.dependsOn) "
            + "\(task.reminders) \(other.reminders)"
        ]
    }
    return differing + right.filter { !mine.contains($0.id) }.map { "\($0) is one too many" }
  }

  /// A write on one of the stores; one that the store refuses is none.
  mutating func write(using random: inout SeededGenerator) throws {
    try Self.write(to: stores, clock, using: &random)
  }

  static func write(to stores: [TaskStore], _ clock: TestClock, using random: inout SeededGenerator) throws {
    if random.oneIn(3) { clock.now = clock.now.adding(seconds: Int64.random(in: 1...100_000, using: &random)) }
    let store = stores[Int.random(in: stores.indices, using: &random)]
    let (tasks, lists) = try store.read { (try $0.view(.all).tasks, try $0.lists()) }
    let (kind, value) = (Int.random(in: 0..<23, using: &random), Int.random(in: 0..<5, using: &random))
    let (task, other) = (tasks.randomElement(using: &random), tasks.randomElement(using: &random))
    let list = lists.randomElement(using: &random)
    // Few ids: stores create tasks that exist elsewhere or were deleted, as imports do.
    let newID = SimulatedSpace.id(Int.random(in: 100..<160, using: &random))
    do {
      if kind == 16 { return _ = try store.writeAndWait { try $0.undo() } }
      try store.writeAndWait { transaction in
        if kind == 17 {
          if value == 0 { try transaction.purgeCompletions(before: clock.now.adding(seconds: -100_000)) }
          return
        }
        guard kind > 1, let id = task?.id else {
          if value == 0 { return _ = try transaction.addList(name: "list \(newID)") }
          try transaction.add("task \(value)", to: .inbox, id: newID) { $0.listID = list?.id }
          return
        }
        try Self.change(id, kind, value, list: list?.id, other: other?.id, in: &transaction)
      }
    } catch is TallyError {}
  }

  /// Few reminders, of which some are in several of the sets.
  private static func reminders(_ value: Int) throws -> [Reminder] {
    try (0..<value).map { number in
      number.isMultiple(of: 2)
        ? .at(Timestamp(clamping: Int64(value - number) * 1_000_000_000))
        : .before(try RelativeReminder(daysBefore: value))
    }
  }

  private static func change(
    _ id: UUID, _ kind: Int, _ value: Int, list: UUID?, other: UUID?, in transaction: inout StoreWriteTransaction
  ) throws {
    switch kind {
    case 2: _ = try transaction.complete(id)
    case 3: _ = try transaction.reopen(id)
    case 4: if value == 0 { try transaction.delete(id) }
    case 5: if value == 0, let list { try transaction.deleteList(list) }
    case 6: _ = try transaction.update(id) { $0.title = "title \(value)" }
    case 7: _ = try transaction.update(id) { $0.tags = TagSet((0..<value).map { "tag\($0)" }) }
    case 8:
      _ = try transaction.update(id) { $0.dueDay = value == 0 ? nil : CalendarDay(clamping: 20_000 + Int64(value)) }
    case 9: _ = try transaction.update(id) { $0.dueDate = Timestamp(clamping: Int64(value) * 1_000_000_000) }
    case 10:
      _ = try transaction.update(id) { $0.attributes["a\(value % 2)"] = value == 0 ? nil : .integer(Int64(value)) }
    case 11: _ = try transaction.move(id, toList: list)
    case 12: if let other { _ = try transaction.move(id, before: other) }
    case 13, 14: _ = try transaction.update(id) { $0.parentID = value == 0 ? nil : other }
    case 18...20:
      _ = try transaction.update(id) { $0.dependsOn = value == 0 ? [] : TaskIDSet([other].compactMap(\.self)) }
    case 21, 22: _ = try transaction.update(id) { $0.reminders = try reminders(value) }
    default: _ = try transaction.update(id) { $0.priority = Priority(rawValue: UInt8(value % 4)) ?? .none }
    }
  }
}
