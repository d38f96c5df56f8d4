import LMDB
import TestSupport
import Testing

@Suite struct ProcessTests {
  @Test func processesThatWriteAndReadSeeWholeTransactionsOnly() throws {
    let sample = try Sample()
    let counters = try sample.environment.write { (transaction) throws in
      try Database<UInt64, UInt64>(opening: "counters", creating: true, in: &transaction)
    }
    let rounds = 300
    // Several, because a reader that sees too much must be held up at one very place.
    let watchers = try (0..<4).map { _ in try HelperProcess("watch", sample.directory, 3 * rounds) }
    let writers = try (0..<2).map { _ in try HelperProcess("count", sample.directory, rounds) }
    for _ in 0..<rounds {
      try sample.environment.write { (transaction) throws in
        let next = (try counters.value(forKey: 0, in: transaction) ?? 0) + 1
        try counters.put(next, forKey: 0, in: &transaction)
        try counters.put(next, forKey: 1, in: &transaction)
      }
    }
    for writer in writers { #expect(writer.lines() == []) }
    for watcher in watchers { #expect(watcher.lines() == ["whole"]) }
    #expect(try sample.environment.read { try counters.value(forKey: 1, in: $0) } == UInt64(3 * rounds))
  }

  @Test func killedWriterLeavesNeitherItsLockNorItsChanges() throws {
    let sample = try Sample()
    let helper = try HelperProcess("hold-write", sample.directory)
    #expect(helper.line() == "ready")
    helper.kill()
    try sample.put([1], forKey: 1)
    #expect(try sample.value(forKey: 1) == [1])
    #expect(try code { _ = try Sample.Numbers(opening: "counters", in: sample.environment) } == .databaseNotFound)
  }

  @Test func childOfAForkIsRefusedAndItsParentGoesOn() throws {
    let lines = try HelperProcess("fork", TemporaryDirectory()).lines()
    #expect(
      lines == [
        "child: forked forked forked forked forked forked", "child opens: none", "child ended: 0",
        "parent's readers: 1",
        "parent's turn is free: false, its lock: false",
        "parent wrote: 2",
      ]
    )
  }
}
