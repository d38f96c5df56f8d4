import Foundation
import Tally
import TallyTestSupport

/// The commits of one device, each of which follows from the seed, the device and its number.
///
/// A device changes tasks of its own, so that their fields are known after its n-th commit in whatever order the
/// changes of others arrive; and the title and the tags of tasks that all devices share, which must only be equal
/// everywhere.
struct SyncHistory {
  private struct Item {
    var title: String
    var notes: String?
    var isCompleted = false
    var isDeleted = false
  }

  private enum Change {
    case add(Int), rename(Int), complete(Int), reopen(Int), delete(Int), note(Int)
    case renameShared(Int), tagShared(Int)
  }

  let device: UInt8
  private let seed: UInt64
  /// The number of commits so far.
  private(set) var count = 0
  private var items: [Int: Item] = [:]
  private var sharedTags: [Int: Set<String>] = [:]

  private static let sharedCount = 4
  private static let sharedKind: UInt8 = 0xFF

  init(of device: UInt8, seed: UInt64) {
    (self.device, self.seed) = (device, seed)
  }

  private static func id(_ kind: UInt8, _ number: Int) -> UUID { Rivals.id(kind, number) }

  /// The task whose title is the number of the device's last commit.
  private var marker: UUID { Self.id(device, 0) }

  /// Adds the tasks that all devices share, on the device that creates the space.
  static func addShared(to store: TaskStore) throws {
    try store.writeAndWait { transaction in
      for number in 0..<sharedCount { _ = try transaction.add(TaskDraft(id: id(sharedKind, number), title: "shared")) }
    }
  }

  /// How many commits of the device a store has.
  func count(in store: TaskStore) throws -> Int {
    try store.read { try $0.task(marker) }.flatMap { Int($0.title) } ?? 0
  }

  /// Goes on to a number of commits without a store.
  mutating func advance(to number: Int) {
    while count < number { _ = advance() }
  }

  /// Makes the next commit.
  mutating func commit(to store: TaskStore) throws {
    let (changes, number) = (advance(), count)
    try store.writeAndWait { transaction in
      if number == 1 { _ = try transaction.add(TaskDraft(id: marker, title: "1")) }
      try transaction.update(marker) { $0.title = "\(number)" }
      for change in changes { try apply(change, number, to: &transaction) }
    }
  }

  private mutating func advance() -> [Change] {
    count += 1
    var generator = SeededGenerator(seed: seed &+ UInt64(device) << 32 &+ UInt64(count) &* 0x9E37_79B9_7F4A_7C15)
    var changes: [Change] = []
    for _ in 0..<Int.random(in: 1...3, using: &generator) {
      let change = next(using: &generator)
      note(change)
      changes.append(change)
    }
    return changes
  }

  private func next(using generator: inout SeededGenerator) -> Change {
    let shared = Int.random(in: 0..<Self.sharedCount, using: &generator)
    let kind = Int.random(in: 0..<8, using: &generator)
    let live = items.filter { !$0.value.isDeleted }.keys.sorted()
    guard kind > 1, let number = live.randomElement(using: &generator) else { return .add(items.count + 1) }
    switch kind {
    case 2: return .rename(number)
    case 3: return items[number]?.isCompleted == true ? .reopen(number) : .complete(number)
    case 4: return .complete(number)
    case 5: return generator.oneIn(3) ? .delete(number) : .note(number)
    case 6: return .renameShared(shared)
    default: return .tagShared(shared)
    }
  }

  private mutating func note(_ change: Change) {
    switch change {
    case .add(let number): items[number] = Item(title: "\(count)")
    case .rename(let number): items[number]?.title = "\(count)"
    case .complete(let number): items[number]?.isCompleted = true
    case .reopen(let number): items[number]?.isCompleted = false
    case .delete(let number): items[number]?.isDeleted = true
    case .note(let number): items[number]?.notes = "note \(count)"
    case .renameShared: break
    case .tagShared(let number): sharedTags[number, default: []].insert("device\(device)-\(count % 3)")
    }
  }

  private func apply(_ change: Change, _ count: Int, to transaction: inout StoreWriteTransaction) throws {
    switch change {
    case .add(let number): _ = try transaction.add(TaskDraft(id: Self.id(device, number), title: "\(count)"))
    case .rename(let number): try transaction.update(Self.id(device, number)) { $0.title = "\(count)" }
    case .complete(let number): _ = try transaction.complete(Self.id(device, number))
    case .reopen(let number): _ = try transaction.reopen(Self.id(device, number))
    case .delete(let number): try transaction.delete(Self.id(device, number))
    case .note(let number): try transaction.update(Self.id(device, number)) { $0.notes = "note \(count)" }
    case .renameShared(let number):
      try transaction.update(Self.id(Self.sharedKind, number)) { $0.title = "by \(device), \(count)" }
    case .tagShared(let number):
      try transaction.update(Self.id(Self.sharedKind, number)) { $0.tags.insert("device\(device)-\(count % 3)") }
    }
  }

  /// The fault of a store that should have exactly the device's commits so far; `nil` if there is none.
  ///
  /// The shared tasks are another device's: a store may not have them yet.
  func fault(of store: TaskStore, besidesShared: Bool = false) throws -> String? {
    try store.read { transaction in
      let found = try transaction.task(marker).flatMap { Int($0.title) } ?? 0
      guard found == count else { return "\(found) commits of device \(device), not \(count)" }
      for (number, item) in items {
        let task = try transaction.task(Self.id(device, number))
        guard let task else {
          if item.isDeleted { continue }
          return "task \(number) of device \(device) is missing"
        }
        if item.isDeleted { return "task \(number) of device \(device) is not deleted" }
        guard task.title == item.title, task.notes == item.notes, task.isCompleted == item.isCompleted else {
          return "task \(number) of device \(device) is \(task), not \(item)"
        }
      }
      for (number, tags) in sharedTags where !besidesShared {
        let found = try transaction.task(Self.id(Self.sharedKind, number))?.tags ?? TagSet()
        guard tags.allSatisfy({ found.contains($0) }) else { return "shared task \(number) has \(found), not \(tags)" }
      }
      return nil
    }
  }
}
