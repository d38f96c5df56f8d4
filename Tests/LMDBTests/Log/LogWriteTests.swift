import TestSupport
import Testing

@testable import LMDB

/// Changes that a write gathers in the tail, nested ones among them, compared with dictionaries.
@Suite struct LogWriteTests {
  private typealias Contents = [UInt8: [UInt8]]

  /// A tail over a tree, and what the write before its commit must show.
  private struct Scene {
    let tail = LogTail(from: 0, TableNumbers())
    let table: LogTable
    let tree = Set<UInt8>((0..<20).filter { $0.isMultiple(of: 3) })
    /// What each commit has left.
    var states: [Contents]
    var random: SeededGenerator

    init(_ seed: UInt64) {
      random = SeededGenerator(seed: seed)
      table = tail.table(named: "numbers")
      states = [Dictionary(uniqueKeysWithValues: tree.map { ($0, []) })]
    }

    private static let depth = 3

    /// Gathers changes, and nested ones that are kept or taken back.
    mutating func gather(_ write: LogWrite, into state: inout Contents, depth: Int) throws {
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        if depth > 0, random.oneIn(4) {
          let mark = write.count
          var nested = state
          try gather(write, into: &nested, depth: depth - 1)
          if random.oneIn(2) {
            state = nested
          } else {
            let taken = write.takeBack(from: mark)
            try compare(taken, between: state, and: nested)
          }
        } else {
          change(write, &state, isNested: depth < Self.depth)
        }
        try compare(state, at: write.commit)
      }
    }

    private mutating func change(_ write: LogWrite, _ state: inout Contents, isNested: Bool) {
      let key = [UInt8.random(in: 0..<20, using: &random)]
      // Each key is read within the call only, and the room is written before anything else happens.
      unsafe key.withUnsafeBytes { bytes in
        if state[key[0]] != nil, random.oneIn(2) {
          unsafe write.remove(bytes, in: table)
          state[key[0]] = nil
        } else {
          let value = (0..<Int.random(in: 0...3, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
          let version = unsafe write.reserve(value.count, for: bytes, in: table, isNested: isNested)
          unsafe UnsafeMutableRawBufferPointer(mutating: version.value).copyBytes(from: value)
          state[key[0]] = value
        }
      }
    }

    /// Each key that differs was among the versions that were taken back, with its newest value.
    private func compare(_ taken: [LogWrite.Version], between old: Contents, and new: Contents) throws {
      // The tail keeps the versions.
      let values = taken.map { unsafe ($0.node.key[0], $0.node.isRemoval ? nil : Array($0.node.value)) }
      #expect(Set(values.map(\.0)).count == values.count)
      for (key, value) in values { #expect(new[key] == value) }
      for key in 0..<UInt8(20) where old[key] != new[key] { #expect(values.contains { $0.0 == key }) }
    }

    /// What a snapshot of a commit, or the write, sees and counts.
    private mutating func compare(_ state: Contents, at commit: UInt64) throws {
      for key in 0..<UInt8(20) {
        let found = unsafe [key].withUnsafeBytes { unsafe table.version(of: KeyWithHash($0), at: commit) }
        // The tail keeps the version.
        let value = found.map { unsafe $0.isRemoval ? nil : Array($0.value) } ?? states[0][key]
        #expect(value == state[key], "key \(key) at \(commit)")
      }
      guard random.oneIn(3) else { return }
      let change = try table.countChange(after: 0, upTo: commit) { unsafe tree.contains($0.key[0]) }
      #expect(change == state.count - tree.count, "at \(commit)")
    }

    mutating func commit() throws {
      let number = UInt64(states.count)
      for attempt in 0..<3 {
        let write = LogWrite(in: tail, as: number)
        var state = states[states.count - 1]
        try gather(write, into: &state, depth: Self.depth)
        try compare(states[states.count - 1], at: number - 1)
        guard attempt == 2 || random.oneIn(2) else {
          write.takeBack()
          try compare(states[states.count - 1], at: number)
          continue
        }
        try compareRecord(of: write, state)
        tail.end = number
        states.append(state)
        return
      }
    }

    /// The record has the newest version of each key that changed, and nothing else.
    private func compareRecord(of write: LogWrite, _ state: Contents) throws {
      let changes = try write.changes()
      var keys = Set<UInt8>()
      try changes.forEach { (change) throws(LMDBError) in
        let key = changes.bytes[change.key.lowerBound]
        #expect(keys.insert(key).inserted)
        #expect(change.value.map { Array(changes.bytes[$0]) } == state[key])
      }
      let old = states[states.count - 1]
      for key in 0..<UInt8(20) where old[key] != state[key] { #expect(keys.contains(key)) }
    }
  }

  @Test func aWriteShowsWhatItHasGatheredAndNobodyElseDoes() throws {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "LogWriteTests"))
    for _ in 0..<TestSize.of("TALLY_LOG_WRITES", quick: 20, long: 400) {
      var scene = Scene(random.next())
      for _ in 0..<25 { try scene.commit() }
    }
  }
}
