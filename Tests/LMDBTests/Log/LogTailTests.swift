import Dispatch
import TestSupport
import Testing

@testable import LMDB
@testable import TallySystem

/// What a tail over a tree shows, compared with plain dictionaries.
@Suite struct LogTailTests {
  /// Snapshots count in any order, each with the tree that it has.
  @Test func countsOfAnySnapshotsAgreeWithAModel() throws {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "LogTailTests"))
    for _ in 0..<20 { try compareCounts(using: &random) }
  }

  private func compareCounts(using random: inout SeededGenerator) throws {
    let tail = LogTail(from: 0, TableNumbers())
    let table = tail.table(named: "numbers")
    var states = [Set((0..<20).filter { $0.isMultiple(of: 3) })]
    for commit in 1...60 {
      var (state, changes) = (states[commit - 1], LogChanges())
      for key in Set((0..<Int.random(in: 1...6, using: &random)).map { _ in Int.random(in: 0..<20, using: &random) }) {
        let isRemoved = state.contains(key) && random.oneIn(2)
        try changes.set(isRemoved ? nil : [1], forKey: [UInt8(key)], in: "numbers")
        if isRemoved { state.remove(key) } else { state.insert(key) }
      }
      try tail.add(changes, of: UInt64(commit))
      tail.end = UInt64(commit)
      states.append(state)
      for _ in 0..<Int.random(in: 0...3, using: &random) {
        let last = Int.random(in: 0...commit, using: &random)
        let row = Int.random(in: 0...last, using: &random)
        let change = try table.countChange(after: UInt64(row), upTo: UInt64(last)) { node in
          unsafe states[row].contains(Int(node.key[0]))
        }
        #expect(change == states[last].count - states[row].count, "after \(row), up to \(last) of \(commit)")
      }
    }
  }

  private typealias Contents = [[UInt8]: [UInt8]]

  /// A tree, parts of a tail over it, and what each commit must show.
  private struct History {
    let sample: Sample
    let numbers = TableNumbers()
    var parts: [LogTail] = []
    var states: [Contents] = []
    var random: SeededGenerator

    init(_ seed: UInt64) throws {
      random = SeededGenerator(seed: seed)
      sample = try Sample()
      var tree: Contents = [:]
      for _ in 0..<60 { tree[key()] = value() }
      try sample.environment.write { transaction in
        for (key, value) in tree { try sample.bytes.put(value, forKey: key, in: &transaction) }
      }
      states = [tree]
    }

    mutating func key() -> [UInt8] {
      // Few keys, some of which begin others.
      (0..<Int.random(in: 1...3, using: &random)).map { _ in UInt8.random(in: 0...4, using: &random) }
    }

    mutating func value() -> [UInt8] {
      (0..<Int.random(in: 0...20, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    mutating func commit() throws {
      let number = UInt64(states.count)
      if parts.isEmpty || random.oneIn(12) { parts.append(LogTail(from: number - 1, numbers)) }
      var (changes, state) = (LogChanges(), states[states.count - 1])
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        let (key, value) = (key(), random.oneIn(3) ? nil : value())
        try changes.set(value, forKey: key, in: "bytes")
        state[key] = value
      }
      try changes.set([1], forKey: [1], in: "another")
      try parts[parts.count - 1].add(changes, of: number)
      parts[parts.count - 1].end = number
      states.append(state)
    }
  }

  private static func copied(_ entry: LogCursor.Entry?) -> [[UInt8]]? {
    // Copied while the snapshot is open.
    unsafe entry.map { unsafe [Array($0.key), Array($0.value)] }
  }

  private static func move(
    _ cursor: inout LogCursor, _ move: CursorMove, _ bound: [UInt8]?
  ) throws -> LogCursor.Entry? {
    // The key is read within the call only.
    try unsafe (bound ?? []).withUnsafeBytes { unsafe try cursor.move(move, key: $0) }
  }

  @Test func cursorsShowEachCommitInBothDirections() throws {
    var history = try History(SeededGenerator.chooseSeed(for: "LogTailTests"))
    for _ in 0..<80 { try history.commit() }
    let bounds = (0..<40).map { _ in history.key() }
    try history.sample.environment.read { transaction in
      for (number, state) in history.states.enumerated() where number % 7 == 0 {
        let tables = history.parts.compactMap { $0.found("bytes") }
        let tree = try CursorHandle(of: history.sample.bytes.handle, in: transaction.core)
        var cursor = LogCursor(over: tree, tables, at: UInt64(number))
        defer { tree.close() }
        let expected = state.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { [$0.key, $0.value] }
        for bound in [nil] + bounds.map(Optional.some) {
          let later = expected.filter { entry in bound.map { !entry[0].lexicographicallyPrecedes($0) } ?? true }
          var found: [[[UInt8]]] = []
          var entry = try unsafe Self.copied(Self.move(&cursor, bound == nil ? .first : .atOrAfter, bound))
          while let current = entry {
            found.append(current)
            entry = try unsafe Self.copied(cursor.next())
          }
          #expect(found == later, "commit \(number) from \(String(describing: bound))")
          let earlier = expected.filter { entry in bound.map { entry[0].lexicographicallyPrecedes($0) } ?? true }
          found = []
          entry = try unsafe Self.copied(Self.move(&cursor, bound == nil ? .last : .lastBefore, bound))
          while let current = entry {
            found.append(current)
            entry = try unsafe Self.copied(cursor.previous())
          }
          #expect(found == earlier.reversed(), "commit \(number) back from \(String(describing: bound))")
        }
      }
    }
  }

  @Test func aCursorMayTurnAtAnyEntry() throws {
    var history = try History(SeededGenerator.chooseSeed(for: "LogTailTests"))
    for _ in 0..<30 { try history.commit() }
    let keys = history.states[30].keys.sorted { $0.lexicographicallyPrecedes($1) }
    try history.sample.environment.read { transaction in
      let tree = try CursorHandle(of: history.sample.bytes.handle, in: transaction.core)
      var cursor = LogCursor(over: tree, history.parts.compactMap { $0.found("bytes") }, at: 30)
      defer { tree.close() }
      var index = 0
      _ = try unsafe cursor.moveToFirst(atOrAfter: nil)
      for _ in 0..<500 {
        let isForward = index == 0 || index < keys.count - 1 && !history.random.oneIn(2)
        index += isForward ? 1 : -1
        let entry = try unsafe Self.copied(isForward ? cursor.next() : cursor.previous())
        #expect(entry?.first == keys[index])
      }
    }
  }

  @Test func aKeyHasTheVersionOfItsSnapshot() throws {
    var history = try History(SeededGenerator.chooseSeed(for: "LogTailTests"))
    let tree = history.states[0]
    for _ in 0..<60 { try history.commit() }
    for (number, state) in history.states.enumerated() {
      for key in Set(history.states.flatMap(\.keys)) {
        let node = history.parts.reversed().lazy.compactMap { part in
          // The key is read within the call only.
          unsafe key.withUnsafeBytes { unsafe part.found("bytes")?.version(of: KeyWithHash($0), at: UInt64(number)) }
        }.first
        // The history keeps the parts, which keep their nodes.
        let value = node.map { unsafe $0.isRemoval ? nil : Array($0.value) } ?? tree[key]
        #expect(value == state[key], "commit \(number), key \(key)")
      }
    }
  }

  /// liblmdb gives the number of a database that a write has not committed to the next one that is opened.
  @Test func aNumberOfAnotherDatabaseIsNotTakenForTheOldOne() throws {
    let numbers = TableNumbers()
    numbers.record("old", of: 7)
    let part = LogTail(from: 0, numbers)
    var changes = LogChanges()
    try changes.set([1], forKey: [1], in: "old")
    try changes.set([2], forKey: [1], in: "new")
    try part.add(changes, of: 1)
    let overlay = LogOverlay([part], after: 0, at: 1, numbers)
    func value() throws -> [UInt8]? {
      let (key, database) = ([UInt8](arrayLiteral: 1), DatabaseHandle(index: 7, stamp: 1))
      let version = try unsafe key.withUnsafeBytes { unsafe try overlay.version(of: $0, in: database) }
      // The part has the version.
      return version.map { unsafe Array($0.value) }
    }
    #expect(try value() == [1])
    numbers.record("new", of: 7)
    #expect(try value() == [2])
  }

  @Test func readersBesideAWriterSeeWholeCommits() throws {
    let tail = LogTail(from: 0, TableNumbers())
    var changes = LogChanges()
    for key in 0..<50 { try changes.set([0], forKey: [UInt8(key)], in: "numbers") }
    try tail.add(changes, of: 1)
    let table = try #require(tail.found("numbers"))
    let published = Monitor<UInt64>(1)
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      if thread == 0 {
        for commit in 2...400 as ClosedRange<UInt64> {
          var changes = LogChanges()
          for key in 0..<50 {
            let value = [UInt8(commit % 251), UInt8(key)]
            // Neither fails: keys and values are short.
            try? changes.set(value, forKey: [UInt8(key)], in: "numbers")
          }
          try? tail.add(changes, of: commit)
          published.withLock { $0 = commit }
        }
        return
      }
      var commit: UInt64 = 1
      while commit < 400 {
        commit = published.withLock { $0 }
        var cursor = LogCursor(over: nil, [table], at: commit)
        var count = 0
        var entry = try? unsafe cursor.moveToFirst(atOrAfter: nil)
        while let current = unsafe entry {
          // The tail outlives the cursor.
          let first = unsafe current.value.first
          #expect(first == (commit == 1 ? 0 : UInt8(commit % 251)))
          count += 1
          unsafe entry = try? unsafe cursor.next()
        }
        #expect(count == 50)
      }
    }
  }
}
