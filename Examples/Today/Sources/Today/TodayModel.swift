import Tally

/// The content of the screen: the view of today.
actor TodayModel {
  private let store: TaskStore
  private let screen: Screen
  private var tasks: [TaskItem] = []
  private var changeCount = 0

  init(store: TaskStore, screen: Screen) {
    self.store = store
    self.screen = screen
  }

  /// Shows the view, and every change of it, until the Swift task is cancelled.
  func follow() async throws {
    for try await update in store.observe(.today) {
      switch update {
      case .snapshot(let view):
        tasks = view.tasks
      case .difference(let difference):
        difference.apply(to: &tasks)
        changeCount += 1
      }
      await show("")
    }
  }

  /// Changes the store; the screen changes through `follow()`, as it does for other processes.
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

  /// The cost of following the view.
  var summary: String {
    "Views read: \(store.observationCounts.viewReadCount). Changes that came in: \(changeCount)."
  }

  private func show(_ message: String) async {
    await screen.draw(tasks, message: message)
  }
}
