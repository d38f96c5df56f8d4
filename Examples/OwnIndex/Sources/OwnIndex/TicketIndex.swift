import Foundation
import Synchronization
import Tally

/// An application's index of its tasks by the ticket that their titles name, as in `OPS-17 Restart the server`.
enum TicketIndex {
  /// Version 1 has the tickets as they are written, version 2 in lower case.
  static func version(_ version: UInt32) -> TaskIndex {
    TaskIndex("byTicket", version: version) { keys(of: $0, version) }
  }

  /// The keys of a task: none, or one.
  static func keys(of task: TaskItem, _ version: UInt32) -> [String] {
    guard let word = task.title.split(separator: " ").first, word.contains("-") else { return [] }
    return [version == 1 ? String(word) : word.lowercased()]
  }

  /// The same index as `version(_:)`, which stops when it has looked at a number of tasks, and waits to be killed.
  static func stopping(_ version: UInt32, after limit: Int) -> TaskIndex {
    let seenCount = Atomic(0)
    return TaskIndex("byTicket", version: version) { task in
      if seenCount.add(1, ordering: .relaxed).newValue == limit {
        FileHandle.standardOutput.write(Data("building\n".utf8))
        while true { sleep(60) }
      }
      return keys(of: task, version)
    }
  }
}
