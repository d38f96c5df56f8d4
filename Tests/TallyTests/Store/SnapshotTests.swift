import Foundation
import SystemPackage
import TallyTestSupport
import Testing

@testable import Tally

/// The reads of one closure are consistent, whatever is written meanwhile.
@Suite struct SnapshotTests {
  @Test func readersSeeWholeTransactionsWhileOthersWrite() async throws {
    try await withStore { store in
      let accounts = try await store.write { transaction in
        try (0..<10).map { try transaction.add("\($0 == 0 ? 1_000 : 0)", to: .today).id }
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for writer in 0..<4 {
          group.addTask {
            for step in 0..<100 {
              try await store.write {
                try Self.transfer(step, from: accounts[writer], to: accounts[step % 10], in: &$0)
              }
            }
          }
        }
        for _ in 0..<4 {
          group.addTask {
            for _ in 0..<300 {
              let sum = try store.read { try Self.sum(in: $0) }
              #expect(sum == 1_000)
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(try store.read { try Self.sum(in: $0) } == 1_000)
    }
  }

  @Test func aSnapshotStaysAsItIsWhileTheStoreGoesOn() async throws {
    try await withStore { store in
      let old = try await store.write { try $0.add("old", to: .inbox) }
      let (hasBegun, mayGoOn) = (Signal(), Signal())
      let reading = startThread {
        try store.read { transaction in
          let sequence = try transaction.sequence
          hasBegun.send()
          mayGoOn.waitOnThread()
          return try transaction.sequence == sequence && transaction.view(.all).tasks == [old]
        }
      }
      await hasBegun.wait()
      try await store.write { transaction in
        try transaction.update(old.id) { $0.title = "new" }
        for number in 0..<200 { _ = try transaction.add("\(number)", to: .inbox) }
      }
      mayGoOn.send()
      #expect(try await reading.value)
    }
  }

  /// One process inserts 100,000 tasks in batches, while this one reads views.
  @Test func anotherProcessesWritesAppearAsWholeTransactions() throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      try withStore(at: path) { store in
        let helper = try HelperProcess("insert", path, 100_000, 1_000)
        let marker = try #require(UUID(uuidString: helper.line()))
        var readCount = 0
        var last = 0
        while last < 100_000 {
          let (announced, counted, first) = try store.read { transaction in
            let announced = try #require(Int(transaction.task(marker)?.title ?? ""))
            let page = try transaction.page(of: .all, limit: 3)
            return (announced, try transaction.taskCount, page.tasks.count)
          }
          #expect(counted == announced + 1, "the marker itself is one more")
          #expect(first == min(3, announced + 1))
          #expect(announced >= last, "time does not go backwards")
          (last, readCount) = (announced, readCount + 1)
        }
        #expect(helper.line() == "done")
        #expect(helper.lines().isEmpty)
        #expect(readCount > 1)
        let days = try store.read { try $0.view(.due(on: $0.today)).tasks.count + $0.view(.all).tasks.count }
        #expect(days == 100_001)
      }
    }
  }

  private static func sum(in transaction: borrowing StoreReadTransaction) throws -> Int {
    try transaction.view(.today).tasks.compactMap { Int($0.title) }.reduce(0, +)
  }

  private static func transfer(
    _ amount: Int,
    from source: UUID,
    to target: UUID,
    in transaction: inout StoreWriteTransaction
  ) throws {
    try transaction.update(source) { $0.title = "\((Int($0.title) ?? 0) - amount)" }
    try transaction.update(target) { $0.title = "\((Int($0.title) ?? 0) + amount)" }
  }
}
