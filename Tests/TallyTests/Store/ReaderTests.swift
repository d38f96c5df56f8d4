import LMDB
import Logging
import Synchronization
import TallyTestSupport
import Testing

@testable import Tally

/// Long reads, and readers without a free slot.
@Suite struct ReaderTests {
  @Test func theWriterWarnsOfALongReaderWithoutAWordOfTheUser() throws {
    let log = Shared<[String]>([])
    var configuration = TaskStore.Configuration.testing()
    // Flushed once, at the end: this test is about the readers.
    configuration.durability = .relaxed
    configuration.flushIntervalInSeconds = .infinity
    // With a log the writer looks at each merge: `StoreLogTests`.
    configuration.makesLog = false
    configuration.logger = .ofTest { line in log.withLock { $0.append(line) } }
    try withStore(configuration) { (store) throws in
      try commitUntilTheWriterLooks(at: store)
      #expect(log.withLock { $0 } == [])
      try store.read { _ in
        try commitUntilTheWriterLooks(at: store)
        try commitUntilTheWriterLooks(at: store)
        // It does not look after each commit.
        try store.writeAndWait { _ = try $0.add("another", to: .inbox) }
      }
      let lines = log.withLock { $0 }
      #expect(lines.count == 1, "\(lines)")
      #expect(lines.allSatisfy { $0.contains("warning") && $0.contains("processID") && !$0.contains("secret") })
    }
  }

  @Test func aReadThatFindsNoSlotIsTriedAgainAndThenRefused() throws {
    let held = Held()
    var configuration = TaskStore.Configuration.testing()
    configuration.pause = { _ in held.waitCount.withLock { $0 += 1 } }
    try withStore(configuration) { (store) throws in
      let slotCount = try store.information().maximumReaderCount
      try holding(slotCount, readersOf: store) {
        let error = #expect(throws: TallyError.self) { try store.read { try $0.taskCount } }
        #expect(error?.code == .readersFull)
      }
      #expect(held.waitCount.withLock { $0 } == 2)
      #expect(try store.read { try $0.taskCount } == 0)
    }
  }

  /// Commits cheaply up to and including the commit after which the writer checks the readers.
  private func commitUntilTheWriterLooks(at store: TaskStore) throws {
    let commitsBetweenLooks = 1_024
    repeat {
      try store.environment.write { transaction in
        guard let header = try store.tables.meta.value(forKey: .header, in: transaction) else { return }
        try store.tables.meta.put(header, forKey: .header, in: &transaction)
      }
    } while try store.environment.information().lastTransactionID % commitsBetweenLooks != commitsBetweenLooks - 1
    try store.writeAndWait { _ = try $0.add("secret", to: .inbox) }
    #expect(try store.environment.information().lastTransactionID % commitsBetweenLooks == 0)
  }

  private func holding(_ count: Int, readersOf store: TaskStore, _ body: () throws -> Void) throws {
    guard count > 0 else { return try body() }
    try store.read { _ in try holding(count - 1, readersOf: store, body) }
  }
}

private final class Held: Sendable {
  let waitCount = Mutex(0)
}
