import TallySystem

// What a write transaction notes of its changes, where there is a journal.

extension TransactionCore {
  /// Begins to note changes.
  func record(in write: JournalWrite) {
    journalWrite = write
    if !write.isDirect { redo = write.redo }
  }

  /// Notes a value that has been stored.
  @usableFromInline
  func noteStored(_ value: UnsafeRawBufferPointer, forKey key: UnsafeRawBufferPointer, in database: DatabaseHandle) {
    unsafe note(.put, database, key: key, value: value)
  }

  /// Notes a change that has succeeded.
  func note(
    _ kind: RedoLog.Kind, _ database: DatabaseHandle, key: UnsafeRawBufferPointer? = nil,
    value: UnsafeRawBufferPointer? = nil
  ) {
    guard let redo else { return }
    unsafe redo.add(kind, database.index, key: key, value: value) {
      // The owner keeps the environment alive.
      unsafe environment.journal?.names.withLock { $0[database.index] }
    }
  }

  /// Forgets the changes of a nested transaction, which has failed or is aborted.
  func undoNestedRedo() {
    if parent != nil, let mark = redoMark { redo?.undo(to: mark) }
  }
}
