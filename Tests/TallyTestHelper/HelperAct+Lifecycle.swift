import Foundation
import SystemPackage
import Tally
import TestSupport

extension HelperAct {
  /// Adds this number of tasks, each in a commit of its own, titled with their numbers.
  func add() throws {
    let store = try TaskStore(at: directory)
    for number in 0..<numbers[0] { try store.writeAndWait { _ = try $0.add("\(number)", to: .inbox) } }
    try store.close()
    say("done")
  }

  /// Keeps the store open, and the slot of a reader, until a line arrives.
  func hold() throws {
    let store = try TaskStore(at: directory)
    _ = try store.read { try $0.taskCount }
    say("ready")
    _ = readLine()
    try store.close()
  }

  /// Compacts, waiting at most the given time for processes that have the store open.
  func compact() {
    say(outcome { _ = try TaskStore.compact(at: directory, configuration: impatient) })
  }

  /// Restores the backup beside the store.
  func restore() {
    let file = directory.removingLastComponent().appending("backup")
    say(outcome { _ = try TaskStore.restore(from: file, to: directory, configuration: impatient) })
  }

  /// Adds as many tasks as the first number says, then brings the search index up to date, as often as the second says.
  func indexSearch() throws {
    let store = try TaskStore(at: directory)
    for _ in 0..<numbers[1] {
      try store.writeAndWait { transaction in
        let now = transaction.now
        let tasks = (0..<numbers[0]).map { TaskItem(title: "tax form \($0) 牛乳を買う", createdAt: now) }
        try transaction.insert(contentsOf: tasks)
      }
      say("written")
      _ = readLine()
      try store.updateSearchIndex()
      say("indexed")
    }
    _ = readLine()
  }

  private var impatient: TaskStore.Configuration {
    var configuration = TaskStore.Configuration()
    configuration.waitLimitInSeconds = Double(numbers[0]) / 1_000
    return configuration
  }

  /// Reads a snapshot, without privileges if asked to, before and after a signal.
  func readSnapshot() throws {
    if numbers.first == 1 { dropPrivileges() }
    let store = try TaskStore(snapshotAt: directory)
    say("\(try store.read { try $0.taskCount })")
    _ = readLine()
    let isSound = try store.verify().isSound
    say("\(try store.read { try $0.taskCount }) \(isSound)")
    try store.close()
  }

  /// Opens the newest snapshot repeatedly, until its store has this number of tasks; reports any fault.
  func openSnapshots() throws {
    var last = 0
    while last < numbers[0] {
      let store = try TaskStore(snapshotAt: directory)
      let (count, sequence) = try store.read { (try $0.taskCount, try $0.sequence) }
      let isSound = try store.verify().isSound
      if !isSound || count < last || count != Int(sequence) { say("wrong") }
      last = count
      try store.close()
      // Without a pause two of these leave nothing of two processors to the publisher.
      usleep(2_000)
    }
    say("saw \(last)")
  }
}
