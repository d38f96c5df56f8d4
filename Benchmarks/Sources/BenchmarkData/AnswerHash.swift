import Foundation
package import Tally

/// A number that two answers share when they are the same, field by field: 64-bit FNV-1a, since Swift's own hashes
/// differ from run to run.
package struct AnswerHash: Equatable, CustomStringConvertible {
  private var value: UInt64 = 0xCBF2_9CE4_8422_2325

  package init() {}

  package init(_ tasks: some Sequence<TaskItem>) {
    for task in tasks { combine(task) }
  }

  package init(_ counts: some Sequence<Int>) {
    for count in counts { combine(count) }
  }

  package mutating func combine(_ task: TaskItem) {
    combine(task.id.uuidString)
    combine(task.title)
    combine(task.notes ?? "")
    combine(task.state.rawValue)
    combine(task.scheduledDate?.iso8601 ?? "")
    for instant in [task.dueDate, task.reminderDate, task.createdAt, task.updatedAt, task.completedAt?.instant] {
      combine(Int(instant?.microsecondsSince1970 ?? -1))
    }
    combine(task.completedAt?.utcOffsetInMinutes ?? -1)
    combine(task.listID?.uuidString ?? "")
    combine(Int(task.sortOrder))
  }

  package mutating func combine(_ number: Int) {
    for shift in stride(from: 0, to: 64, by: 8) { combine(UInt8(truncatingIfNeeded: number >> shift)) }
  }

  package mutating func combine(_ text: String) {
    for byte in text.utf8 { combine(byte) }
    combine(0xFF as UInt8)
  }

  private mutating func combine(_ byte: UInt8) {
    value = (value ^ UInt64(byte)) &* 0x100_0000_01B3
  }

  package var description: String { String(value, radix: 16) }
}

/// A fast wrong answer must not count as a good time.
package struct WrongAnswer: Error, CustomStringConvertible {
  package let description: String

  package init(description: String) {
    self.description = description
  }
}

package func expectEqual<T: Equatable>(_ answer: T, _ expected: T, _ question: String) throws {
  guard answer == expected else { throw WrongAnswer(description: "\(question): \(answer), not \(expected)") }
}

/// Compares two answers and prints both.
package func expectSameAnswer(_ tally: AnswerHash, _ peer: AnswerHash, _ question: String) throws {
  try expectEqual(tally, peer, question)
  print("answer-hash \(tally)")
}
