import Foundation
import Synchronization
import SystemPackage
import Tally
import TestSupport

extension HelperAct {
  /// Runs the act.
  func run() throws {
    switch name {
    case "open-with-mask": openWithMask()
    case "open-relative": try openRelative()
    case "open-many": openMany()
    case "open-unprivileged": openUnprivileged()
    case "create": create()
    case "insert": try insert()
    case "build-index-and-die": try buildIndexAndDie()
    case "keep-own-data": try keepOwnData()
    case "add-and-die": try addAndDie()
    case "hold-write": try holdWrite()
    case "fork": try forkWithStore()
    case "add": try add()
    case "complete": try complete()
    case "hold": try hold()
    case "compact": compact()
    case "restore": restore()
    case "read-snapshot": try readSnapshot()
    case "open-snapshots": try openSnapshots()
    case "recur": try recur()
    case "series": try liveWithSeries()
    case "index-search": try indexSearch()
    default: throw Misuse()
    }
  }

  /// Opens and creates a store under the mask given as a number.
  private func openWithMask() {
    umask(mode_t(numbers[0]))
    say(outcome { try TaskStore(at: directory).close() })
  }

  /// Opens by a relative path, changes the current directory while the store is suspended, and goes on.
  private func openRelative() throws {
    let elsewhere = directory.appending("elsewhere").string
    try FileManager.default.createDirectory(atPath: elsewhere, withIntermediateDirectories: false)
    _ = FileManager.default.changeCurrentDirectoryPath(directory.string)
    let store = try TaskStore(at: "store")
    try store.writeAndWait { _ = try $0.add("before", to: .inbox) }
    try store.suspend()
    _ = FileManager.default.changeCurrentDirectoryPath(elsewhere)
    try store.resume()
    try store.writeAndWait { _ = try $0.add("after", to: .inbox) }
    say(try store.read { try $0.view(.inbox).tasks.map(\.title).joined(separator: " ") })
    say(outcome { try store.close() })
  }

  /// Opens as many stores at once as the number says.
  private func openMany() {
    say(
      outcome {
        let stores = try (0..<numbers[0]).map { try TaskStore(at: directory.appending("\($0)")) }
        for store in stores { try store.close() }
      })
  }

  /// Opens as a user who owns nothing, as the user who runs the tests may own everything.
  private func openUnprivileged() {
    dropPrivileges()
    say(outcome { try TaskStore(at: directory).close() })
  }

  func dropPrivileges() {
    guard getuid() == 0 else { return }
    setgid(65_534)
    setuid(65_534)
  }

  /// Opens at a signal, together with others, and adds a task.
  private func create() {
    say("ready")
    _ = readLine()
    say(
      outcome {
        let store = try TaskStore(at: directory)
        try store.writeAndWait { _ = try $0.add("one of several", to: .inbox) }
        try store.close()
      }
    )
  }

  /// Keeps values and an index, as an application does.
  private func keepOwnData() throws {
    var configuration = TaskStore.Configuration()
    configuration.indexes = [TaskIndex("byLength") { [Int64($0.title.utf8.count)] }]
    let store = try TaskStore(at: directory, configuration: configuration)
    try store.writeAndWait { transaction in
      try transaction.setValue(["theme": "dark"], forKey: "look", in: "app.settings")
      try transaction.setBytes([0, 255], forKey: 1, in: "app.settings")
    }
    try store.close()
  }

  /// Opens with an index of titles, and ends as by a crash when it has looked at this number of tasks.
  private func buildIndexAndDie() throws {
    let limit = numbers[0]
    let count = Mutex(0)
    var configuration = TaskStore.Configuration()
    configuration.indexes = [
      TaskIndex("byWord") { task in
        let number = count.withLock { count in
          count += 1
          return count
        }
        if number == limit { kill(getpid(), SIGKILL) }
        return [task.title]
      }
    ]
    try TaskStore(at: directory, configuration: configuration).close()
    say("has not died")
  }

  /// Completes the tasks whose title is a number of those given.
  private func complete() throws {
    let store = try TaskStore(at: directory)
    try store.writeAndWait { transaction in
      for task in try transaction.view(.all).tasks where Int(task.title).map(numbers.contains) ?? false {
        try transaction.complete(task.id)
      }
    }
    try store.close()
    say("done")
  }

  /// Adds many tasks in batches; each batch also writes their number into the title of a task of its own.
  private func insert() throws {
    let (total, batchCount) = (numbers[0], numbers[1])
    let store = try TaskStore(at: directory)
    let marker = try store.writeAndWait { try $0.add("0", to: .inbox) }
    say("\(marker.id)")
    let start = marker.createdAt
    for first in stride(from: 0, to: total, by: batchCount) {
      try store.writeAndWait { transaction in
        let tasks = (first..<(first + batchCount)).map { number in
          TaskItem(
            title: "task \(number)",
            scheduledDate: transaction.today,
            sortOrder: Int64(number),
            createdAt: start.adding(microseconds: Int64(number))
          )
        }
        try transaction.insert(contentsOf: tasks)
        try transaction.update(marker.id) { $0.title = "\(first + batchCount)" }
      }
    }
    say("done")
    try store.close()
  }

  /// Keeps a write with a change open until a line arrives.
  private func holdWrite() throws {
    let store = try TaskStore(at: directory)
    try store.writeAndWait { transaction in
      _ = try transaction.add("held", to: .inbox)
      say("ready")
      _ = readLine()
    }
    try store.close()
  }

  /// Uses, closes and releases a store in the child of a fork; then in the parent.
  private func forkWithStore() throws {
    var store: TaskStore? = try TaskStore(at: directory)
    if let store { addThroughQueue(to: store) }
    let child = try Self.forkProcess()
    if child == 0 {
      let codes = [
        outcome { _ = try store?.read { try $0.taskCount } },
        outcome { try store?.writeAndWait { _ = try $0.add("child", to: .inbox) } },
        outcome { _ = try store?.information() },
        outcome { try store?.flush() },
        outcome { try store?.close() },
      ]
      store = nil
      say("child: \(codes.joined(separator: " "))")
      say("child opens: \(outcome { try TaskStore(at: directory).close() })")
      _exit(0)
    }
    var status: Int32 = 0
    // The call only writes into the local it is given.
    unsafe waitpid(child, &status, 0)
    say("child ended: \(status)")
    say("ready")
    _ = readLine()
    say("parent wrote: \(outcome { try store?.writeAndWait { _ = try $0.add("after", to: .inbox) } })")
    say("parent closed: \(outcome { try store?.close() })")
  }

  /// Adds a task on the thread of commits, which then waits for more, and which the child of a fork does not have.
  private func addThroughQueue(to store: TaskStore) {
    let done = DispatchSemaphore(value: 0)
    Task {
      _ = try? await store.write { try $0.add("before", to: .inbox) }
      done.signal()
    }
    done.wait()
  }

  /// Commits one write, reports that, and ends without closing in the middle of the next one.
  private func addAndDie() throws {
    let store = try TaskStore(at: directory)
    try store.writeAndWait { _ = try $0.add("acknowledged", to: .inbox) }
    try store.writeAndWait { transaction in
      _ = try transaction.add("lost", to: .inbox)
      say("dying")
      kill(getpid(), SIGKILL)
    }
  }

  /// The code of the error a body throws, or `none`.
  func outcome(_ body: () throws -> Void) -> String {
    do {
      try body()
      return "none"
    } catch let error as TallyError {
      return "\(error.code)"
    } catch {
      return "\(error)"
    }
  }
}
