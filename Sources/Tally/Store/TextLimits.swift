import LMDB
import TallyEngine

/// The limit for texts in a store that synchronises.
package enum SyncLimit {
  /// The longest text, in bytes of UTF-8: a text must fit into one segment, which has at most 8 MiB.
  package static let maximumTextByteCount = 7 << 20
}

extension StoreTransaction where Base == WriteTransaction {
  /// Checks that other replicas can receive the texts that a write of this store changes.
  ///
  /// - Throws: `valueOutOfRange` if a text is too long.
  func checkSendable(_ task: TaskItem?, replacing old: TaskItem?) throws {
    guard let task, syncTables != nil, state.origin == .local else { return }
    try checkSendable(task.title, replacing: old?.title, "title", of: task.title)
    try checkSendable(task.notes ?? "", replacing: old?.notes, "notes", of: task.title)
  }

  /// Checks the texts of a list in the same way.
  func checkSendable(_ list: TaskList?, replacing old: TaskList?) throws {
    guard let list, syncTables != nil, state.origin == .local else { return }
    try checkSendable(list.name, replacing: old?.name, "name", of: list.name)
  }

  private func checkSendable(
    _ text: String, replacing old: String?, _ field: String, of name: String
  ) throws {
    guard text.utf8.count > SyncLimit.maximumTextByteCount, text != old else { return }
    throw TallyError.tooLargeToSend(field, of: name, byteCount: text.utf8.count)
  }
}

extension TallyError {
  /// The error for a text that other devices could not receive.
  static func tooLargeToSend(_ field: String, of name: String, byteCount: Int) -> TallyError {
    TallyError(
      .valueOutOfRange,
      "The \(field) of \u{201C}\(name.prefix(60))\u{201D} \(field == "notes" ? "have" : "has") \(byteCount) bytes; a store that synchronises takes at most \(SyncLimit.maximumTextByteCount)",
      remedy: "Shorten the text, or keep it in a file and write the file's name here")
  }
}
