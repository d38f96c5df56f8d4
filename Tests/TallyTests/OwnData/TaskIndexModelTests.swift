import Foundation
import LMDB
import SystemPackage
import TallyTestSupport
import Testing

@testable import Tally

/// Random transactions in programs with and without an index, and of several versions; the index equals brute force after
/// each of them.
@Suite struct TaskIndexModelTests {
  /// How a program opens the store.
  private enum Opening: CaseIterable {
    case unregistered, first, second, both

    var indexes: [TaskIndex] {
      switch self {
      case .unregistered: []
      case .first: [.byWord]
      case .second: [TaskIndexModelTests.secondVersion]
      case .both: [.byWord, .byLength, .byCreation]
      }
    }
  }

  static let secondVersion = TaskIndex("byWord", version: 2) { [String($0.title.reversed())] }

  @Test func anIndexEqualsBruteForceAfterEachTransactionOfAnyProgram() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "own indexes"))
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      for round in 0..<40 {
        let opening = Opening.allCases.randomElement(using: &generator) ?? .first
        var configuration = TaskStore.Configuration.testing()
        configuration.indexes = opening.indexes
        let store = try TaskStore(at: path, configuration: configuration)
        try compare(store, opening.indexes, "opening \(round)")
        for step in 0..<Int.random(in: 0...12, using: &generator) {
          try change(store, using: &generator)
          try compare(store, opening.indexes, "transaction \(step) of opening \(round)")
        }
        try checkInvariants(of: store)
        try readOnly(Opening.both.indexes, path, store)
        if generator.oneIn(6) {
          try damage(path)
          #expect(try TaskStore.repair(at: path, configuration: configuration).after.isSound)
        }
      }
    }
  }

  /// Closes the store, and compares what a reader with other indexes sees.
  private func readOnly(_ indexes: [TaskIndex], _ path: FilePath, _ store: TaskStore) throws {
    try store.close()
    var configuration = TaskStore.Configuration.testing()
    (configuration.indexes, configuration.isReadOnly) = (indexes, true)
    let reader = try TaskStore(at: path, configuration: configuration)
    try compare(reader, indexes, "reader")
    try reader.close()
  }

  private func damage(_ path: FilePath) throws {
    guard let key = try firstKey(of: "byCreated", at: path) else { return }
    try DamagedStore(directory: path).change("byCreated") { table, transaction in
      _ = try table.remove(forKey: key, in: &transaction)
    }
  }

  private func compare(_ store: TaskStore, _ indexes: [TaskIndex], _ place: String) throws {
    try store.read { snapshot in
      let tasks = try snapshot.view(.all).tasks
      for index in indexes {
        let expected = tasks.flatMap { task in
          Set(index.keys(task)).map { (index.hasFixedWidth ? $0 : Leading($0).encodedBytes, task) }
        }.sorted { left, right in
          (left.0 + left.1.id.encodedBytes).lexicographicallyPrecedes(right.0 + right.1.id.encodedBytes)
        }.map(\.1)
        #expect(try snapshot.tasks(in: index) == expected, "\(index.name) \(index.version) after \(place)")
        #expect(try snapshot.tasks(in: index, reversed: true) == expected.reversed())
      }
    }
  }

  private func change(_ store: TaskStore, using generator: inout SeededGenerator) throws {
    struct Stop: Error {}
    let ids = try store.read { try $0.view(.all).tasks.map(\.id) }
    let lists = try store.read { try $0.lists().map(\.id) }
    let (kind, isAborted) = (Int.random(in: 0..<14, using: &generator), generator.oneIn(10))
    let chosen = (0..<3).compactMap { _ in ids.randomElement(using: &generator) }
    let list = lists.randomElement(using: &generator)
    let titles = (0..<3).map { _ in
      (0..<Int.random(in: 1...3, using: &generator)).map { _ in "abc\0x".randomElement(using: &generator) ?? "a" }
        .map { String($0) }.joined(separator: generator.oneIn(2) ? " " : "")
    }
    let fresh = generator.uuid()
    do {
      try store.writeAndWait { transaction in
        try Self.run(kind, chosen, titles, list, fresh, in: &transaction)
        if isAborted { throw Stop() }
      }
    } catch is Stop {
    } catch let error as TallyError {
      // An undo that finds nothing, or a conflict; the same task deleted twice.
      #expect([.nothingToUndo, .nothingToRedo, .undoConflict, .taskNotFound].contains(error.code), "\(error)")
    }
  }

  private static func run(
    _ kind: Int, _ chosen: [UUID], _ titles: [String], _ list: UUID?, _ fresh: UUID,
    in transaction: inout StoreWriteTransaction
  ) throws {
    switch kind {
    case 0, 1: for title in titles { try transaction.add(title, to: list.map { .list($0) } ?? .inbox) }
    case 2, 3: for (id, title) in zip(chosen, titles) { try transaction.update(id) { $0.title = title } }
    case 4: for id in chosen { try transaction.advanceState(of: id) }
    case 5: for id in Set(chosen) { try transaction.delete(id) }
    case 6: try transaction.addList(name: "list")
    case 7: if let list { try transaction.deleteList(list) }
    case 8, 9: try transaction.undo()
    case 10: try transaction.redo()
    case 11:
      try transaction.insert(
        contentsOf: titles.map { TaskItem(id: UUIDv7.next(), title: $0, createdAt: transaction.now) })
    case 12:
      if let id = chosen.first, var task = try transaction.task(id) {
        task.title = titles[0]
        try transaction.put(task)
      }
      try transaction.put(TaskItem(id: fresh, title: titles[1], createdAt: transaction.now))
    default:
      // Values and lists alone leave indexes right, though the sequence rises.
      try transaction.setBytes([1], forKey: titles[0], in: "n")
    }
  }
}
