import Foundation
import SystemPackage
import TallyTestSupport
import Testing

@testable import Tally

/// A store whose map starts far too small grows under every kind of write.
@Suite struct MapGrowthTests {
  private static let smallMapSizeInBytes = 192 * 1_024

  private static var configuration: TaskStore.Configuration {
    var configuration = TaskStore.Configuration.testing()
    configuration.mapSizeInBytes = smallMapSizeInBytes
    return configuration
  }

  @Test func synchronousWritesRunAgainUntilTheyFit() throws {
    try withStore(Self.configuration) { store in
      var runCount = 0
      let ids = try store.writeAndWait { transaction in
        runCount += 1
        return try (0..<3_000).map { try transaction.add("task \($0)", to: .today).id }
      }
      #expect(runCount > 1)
      #expect(try store.read { try $0.view(.today).tasks.map(\.id) } == ids)
      try expectGrowth(of: store)
    }
  }

  @Test func asynchronousBatchesRunAgainAsAWhole() async throws {
    try await withStore(Self.configuration) { store in
      let runCount = Shared(0)
      let gate = await QueueGate(store)
      let writes = (0..<100).map { number in
        Task {
          try await store.write { transaction in
            runCount.withLock { $0 += 1 }
            for part in 0..<30 { _ = try transaction.add("\(number).\(part)", to: .inbox) }
            if number == 7 { throw CancellationError() }
            return number
          }
        }
      }
      await gate.open(whenWaiting: writes.count)
      for (number, write) in writes.enumerated() where number != 7 { #expect(try await write.value == number) }
      await #expect(throws: CancellationError.self) { try await writes[7].value }
      #expect(runCount.withLock { $0 } > writes.count)
      let titles = Set(try store.read { try $0.view(.inbox).tasks.map(\.title) })
      #expect(titles.count == 99 * 30)
      #expect(titles.allSatisfy { !$0.hasPrefix("7.") })
      try expectGrowth(of: store)
    }
  }

  @Test func bulkInsertionGrowsTheMap() throws {
    try withStore(Self.configuration) { store in
      let tasks = (0..<5_000).map { TaskItem(title: "task \($0)", sortOrder: Int64($0), createdAt: .earliest) }
      try store.writeAndWait { try $0.insert(contentsOf: tasks) }
      #expect(try store.read { try $0.view(.inbox).tasks } == tasks)
      try expectGrowth(of: store)
    }
  }

  @Test func anotherStoreOnTheSameFileAdoptsTheGrowth() throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      let store = try TaskStore(at: path, configuration: Self.configuration)
      let helper = try HelperProcess("insert", path, 10_000, 2_500)
      _ = helper.line()
      #expect(helper.line() == "done")
      #expect(helper.lines().isEmpty)
      #expect(try store.read { try $0.taskCount } == 10_001)
      try store.writeAndWait { _ = try $0.add("one more", to: .inbox) }
      try checkInvariants(of: store)
      try store.close()
    }
  }

  private func expectGrowth(of store: TaskStore) throws {
    #expect(try store.information().mapSizeInBytes > Self.smallMapSizeInBytes)
  }
}
