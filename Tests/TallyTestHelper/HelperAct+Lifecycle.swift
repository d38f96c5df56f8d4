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
    }
    say("saw \(last)")
  }
}
