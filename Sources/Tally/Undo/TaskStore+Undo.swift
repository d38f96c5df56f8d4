extension TaskStore {
  /// Undoes the last write that has not been undone yet, as a separate write.
  ///
  /// - Returns: the tasks and lists that have changed.
  /// - Throws: as `undo()` of a write transaction, and as `write`.
  @discardableResult
  public func undo() async throws -> UndoResult {
    try await write { try $0.undo() }
  }

  /// Redoes the last undo, as a separate write.
  ///
  /// - Returns: the tasks and lists that have changed.
  /// - Throws: as `redo()` of a write transaction, and as `write`.
  @discardableResult
  public func redo() async throws -> UndoResult {
    try await write { try $0.redo() }
  }
}
