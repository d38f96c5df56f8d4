import Tally

/// Everyday calls on stores of different sizes: what they cost must not follow the size.
struct GrowthBenchmark {
  static let pageSize = 50
  let repetitionCount: Int

  /// Each call's name and its times, in a fixed order.
  func run(on fixture: BenchmarkStore) throws -> [(name: String, samples: Samples)] {
    let opening = try Samples(count: repetitionCount) {
      let store = try fixture.open()
      try expectToday(store)
      try store.close()
    }
    let store = try fixture.open()
    let list = fixture.lists[0]
    let today = try Samples(count: repetitionCount) { try expectToday(store) }
    let inbox = try Samples(count: repetitionCount) {
      try expect(try store.read { try $0.view(.inbox).tasks.count }, TaskGenerator.inboxCount)
    }
    let page = try Samples(count: repetitionCount) {
      try expect(try store.read { try $0.page(of: .list(list), limit: Self.pageSize).tasks.count }, Self.pageSize)
    }
    let count = try Samples(count: repetitionCount) {
      try expect(try store.read { try $0.taskCount }, fixture.taskCount)
    }
    // Last, since it changes the store.
    let add = try Samples(count: repetitionCount) {
      _ = try store.write { try $0.add("Water the plants", to: .list(list)) }
    }
    try store.close()
    return [
      ("open, read Today (\(TaskGenerator.todayCount) tasks), close", opening),
      ("today (\(TaskGenerator.todayCount) tasks)", today), ("inbox (\(TaskGenerator.inboxCount) tasks)", inbox),
      ("a list's first page (\(Self.pageSize) tasks)", page), ("number of tasks", count), ("add, durable", add),
    ]
  }

  private func expectToday(_ store: TaskStore) throws {
    try expect(try store.read { try $0.view(.today).tasks.count }, TaskGenerator.todayCount)
  }
}

/// A fast wrong answer must not pass for a good time.
struct WrongAnswer: Error {
  let count: Int
  let expectedCount: Int
}

func expect(_ count: Int, _ expectedCount: Int) throws {
  guard count == expectedCount else { throw WrongAnswer(count: count, expectedCount: expectedCount) }
}
