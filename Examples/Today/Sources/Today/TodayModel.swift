import Tally

/// What the screen shows: the view of today.
actor TodayModel {
  private let store: TaskStore
  private let screen: Screen
  private var tasks: [TaskItem] = []
  private var viewReadCount = 0
  private var changeCount = 0

  init(store: TaskStore, screen: Screen) {
    self.store = store
    self.screen = screen
  }

  /// Shows the view, and every change of it, until the Swift task is cancelled.
  func follow() async throws {
    var sequence: UInt64?
    while !Task.isCancelled {
      let current = try store.read { try $0.sequence }
      if sequence != current {
        sequence = current
        tasks = try store.read { try $0.view(.today).tasks }
        viewReadCount += 1
        await show("")
      }
      try await Task.sleep(for: .milliseconds(50))
    }
  }

  /// Changes the store; what changes on the screen comes by `follow()`, as do changes of other processes.
  func perform(_ command: Command) async throws {
    switch command {
    case .add(let title):
      try await store.write { try $0.add(title, to: .today) }
    case .advance(let position):
      guard tasks.indices.contains(position - 1) else { return await show("There is no task \(position).") }
      let id = tasks[position - 1].id
      try await store.write { try $0.advanceState(of: id) }
    }
  }

  func report(_ error: TallyError) async {
    await show("\(error)")
  }

  /// What following the view has cost.
  var summary: String { "The view was read \(viewReadCount) times; \(changeCount) changes came in." }

  private func show(_ message: String) async {
    await screen.draw(tasks, message: message)
  }
}
