import Foundation
import SystemPackage
import TallyEngine
import TallyTestSupport
import Testing

@testable import Tally

/// Undo of what an application keeps.
@Suite struct ValueUndoTests {
  @Test func undoAndRedoTakeValuesBackTogetherWithTasks() throws {
    try withStore { store in
      try store.writeAndWait { transaction in
        try transaction.setBytes([1], forKey: "changed", in: "n")
        try transaction.setBytes([], forKey: "removed", in: "n")
      }
      let before = try allValues(of: store)
      let task = try store.writeAndWait { transaction in
        try transaction.setBytes([2], forKey: "changed", in: "n")
        try transaction.setBytes([3], forKey: "changed", in: "n")
        try transaction.removeValue(forKey: "removed", in: "n")
        try transaction.setBytes([4], forKey: "new", in: "other")
        return try transaction.add("task")
      }
      let after = try allValues(of: store)
      let result = try store.writeAndWait { try $0.undo() }
      #expect(try allValues(of: store) == before)
      #expect(try store.read { try $0.task(task.id) } == nil)
      #expect(Set(result.values.map(\.namespace)) == ["n", "other"])
      #expect(result.values.count == 3)
      try store.writeAndWait { try $0.redo() }
      #expect(try allValues(of: store) == after)
      #expect(try store.read { try $0.task(task.id) } != nil)
    }
  }

  @Test func anUndoThatChangesOnlyValuesIsNoUndoOfNothing() throws {
    try withStore { store in
      try store.writeAndWait { _ = try $0.add("task") }
      try store.writeAndWait { try $0.setBytes([1], forKey: "k", in: "n") }
      let result = try store.writeAndWait { try $0.undo() }
      #expect(result.tasks.isEmpty && result.deletedTasks.isEmpty && result.values.count == 1)
      #expect(try store.read { try $0.taskCount } == 1)
    }
  }

  @Test func aWriteWhoseValuesCancelOutIsSkipped() throws {
    try withStore { store in
      let task = try store.writeAndWait { try $0.add("task") }
      let change = try store.writeAndWait { transaction in
        try transaction.setBytes([1], forKey: "k", in: "n")
        try transaction.removeValue(forKey: "k", in: "n")
        return try transaction.changeID
      }
      expect(.nothingToUndo) { try store.writeAndWait { _ = try $0.undo(change) } }
      let result = try store.writeAndWait { try $0.undo() }
      #expect(result.deletedTasks.map(\.id) == [task.id] && result.values.isEmpty)
    }
  }

  @Test func aLaterWriteOfTheSameKeyIsAConflictAndOneOfAnotherKeyIsNot() throws {
    try withStore { store in
      let change = try store.writeAndWait { transaction in
        try transaction.setBytes([1], forKey: "k", in: "n")
        return try transaction.changeID
      }
      try store.writeAndWait { transaction in
        try transaction.setBytes([1], forKey: "k2", in: "n")
        try transaction.setBytes([1], forKey: "k", in: "m")
      }
      let later = try store.writeAndWait { transaction in
        try transaction.setBytes([2], forKey: "k", in: "n")
        return try transaction.changeID
      }
      let error = #expect(throws: TallyError.self) { try store.writeAndWait { try $0.undo(change) } }
      #expect(error?.code == .undoConflict)
      #expect(error?.message.contains("the same value") == true)
      try store.writeAndWait { try $0.undo(later) }
      try store.writeAndWait { try $0.undo(change) }
      #expect(try allValues(of: store).map(\.key.namespace) == ["m", "n"])
    }
  }

  @Test func aValueLargerThanTheHistoryCutsIt() throws {
    try withStore { store in
      let large = [UInt8](repeating: 7, count: BeforeImages.maximumSizeInBytes)
      try store.writeAndWait { try $0.setBytes(large, forKey: "k", in: "n") }
      try store.writeAndWait { transaction in
        try transaction.removeValue(forKey: "k", in: "n")
        let isUndoable = transaction.isUndoable
        #expect(!isUndoable)
      }
      #expect(throws: TallyError.self) { try store.writeAndWait { try $0.undo() } }
    }
  }

  @Test func imagesOfValuesFillSeveralParts() throws {
    try withStore { store in
      try store.writeAndWait { transaction in
        for number in 0..<300 { try transaction.setBytes([UInt8](repeating: 1, count: 1_000), forKey: number, in: "n") }
      }
      let before = try allValues(of: store)
      try store.writeAndWait { try $0.removeAllValues(in: "n") }
      try store.writeAndWait { try $0.undo() }
      #expect(try allValues(of: store) == before)
    }
  }

  /// Random writes, undos, redos and aborted writes, compared with a dictionary after each.
  @Test func randomWritesAndUndosEqualADictionary() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "values and undo"))
    try withStore { (store) throws in
      // The states before each write, and those that a redo would bring back.
      var (state, undone, redone) = ([String: [UInt8]](), [[String: [UInt8]]](), [[String: [UInt8]]]())
      for _ in 0..<600 {
        switch Int.random(in: 0..<10, using: &generator) {
        case 0..<3 where !undone.isEmpty:
          try store.writeAndWait { try $0.undo() }
          redone.append(state)
          state = undone.removeLast()
        case 3 where !redone.isEmpty:
          try store.writeAndWait { try $0.redo() }
          undone.append(state)
          state = redone.removeLast()
        default:
          let next = try writeAtRandom(to: store, from: state, using: &generator)
          if next == state { continue }
          undone.append(state)
          (state, redone) = (next, [])
        }
        #expect(try dictionary(of: store) == state)
      }
    }
  }

  private func writeAtRandom(
    to store: TaskStore, from state: [String: [UInt8]], using generator: inout SeededGenerator
  ) throws -> [String: [UInt8]] {
    struct Stop: Error {}
    var next = state
    let isAborted = generator.oneIn(8)
    do {
      var copy = generator
      next = try store.writeAndWait { (transaction) throws in
        // The closure may run again.
        copy = generator
        var next = state
        for _ in 0..<Int.random(in: 1...4, using: &copy) {
          let namespace = ["a", "a!", "b"].randomElement(using: &copy) ?? "a"
          let key = "k\(Int.random(in: 0..<6, using: &copy))"
          let value = (0..<Int.random(in: 0...3, using: &copy)).map { _ in UInt8.random(in: 0...1, using: &copy) }
          switch Int.random(in: 0..<6, using: &copy) {
          case 0:
            try transaction.removeAllValues(in: namespace, from: "k2", upTo: "k4")
            for key in ["k2", "k3"] { next["\(namespace)/\(key)"] = nil }
          case 1, 2:
            #expect(
              try transaction.removeValue(forKey: key, in: namespace) == (next["\(namespace)/\(key)"] != nil))
            next["\(namespace)/\(key)"] = nil
          default:
            try transaction.setBytes(value, forKey: key, in: namespace)
            next["\(namespace)/\(key)"] = value
          }
        }
        // Changes that cancel out would be a conflict for the undo of the write before.
        if isAborted || next == state { throw Stop() }
        return next
      }
      generator = copy
      return next
    } catch is Stop {
      _ = generator.next()
      return state
    }
  }

  private func dictionary(of store: TaskStore) throws -> [String: [UInt8]] {
    let values = try allValues(of: store)
    return Dictionary(
      uniqueKeysWithValues: try values.map { ("\($0.key.namespace)/\(try $0.key.decoded(as: String.self))", $0.bytes) })
  }

  private func allValues(of store: TaskStore) throws -> [StoredValue] {
    try store.read { snapshot in
      var values: [StoredValue] = []
      for namespace in try snapshot.valueNamespaces() { values += try snapshot.values(in: namespace.name) }
      return values
    }
  }
}
