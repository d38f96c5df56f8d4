import Foundation
import LMDB
import TallyEngine

/// The stored form of reminders: nine bytes for each, ascending; see ``Reminder/Code``.
extension ReminderSet {
  @_lifetime(output: copy output)
  func store(into output: inout OutputRawSpan) {
    for reminder in self {
      output.append(reminder.code.kind)
      output.append(bigEndian: reminder.code.number)
    }
  }

  init(stored bytes: RawSpan) throws(LMDBError) {
    guard bytes.byteCount % Reminder.Code.byteCount == 0, bytes.byteCount > 0 else {
      throw .undecodable("the reminders of a task record have \(bytes.byteCount) bytes")
    }
    var (reminders, last): ([Reminder], Reminder.Code?) = ([], nil)
    for offset in stride(from: 0, to: bytes.byteCount, by: Reminder.Code.byteCount) {
      let code = Reminder.Code(kind: bytes.load(bigEndianAt: offset), number: bytes.load(bigEndianAt: offset + 1))
      guard let reminder = Reminder(code) else { throw .undecodable("a task record has an impossible reminder") }
      guard last.map({ $0 < code }) ?? true else {
        throw .undecodable("the reminders of a task record do not ascend")
      }
      reminders.append(reminder)
      last = code
    }
    self.init(reminders)
  }
}

extension Reminder {
  /// The stored form of one reminder.
  package var storedBytes: [UInt8] { FieldValue.reminders([self]).storedBytes }

  /// Creates a reminder from its stored form; `nil` for other bytes.
  package init?(storedBytes bytes: [UInt8]) {
    guard let reminders = try? FieldValue(.reminders, storedBytes: bytes).reminders, reminders.count == 1 else {
      return nil
    }
    self = reminders[0]
  }
}
