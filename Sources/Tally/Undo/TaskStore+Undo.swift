extension TaskStore {
  /// Undoes the last write that has not been undone yet, in a write of its own.
  ///
  /// - Returns: the tasks and lists that have changed.
  /// - Throws: as `undo()` of a write transaction, and as `write`.
  @available(*, noasync, message: "use the asynchronous form")
  @discardableResult
  public func undo() throws -> UndoResult {
    try write { try $0.undo() }
  }

  /// Undoes the last write that has not been undone yet, in a write of its own.
  ///
  /// - Returns: the tasks and lists that have changed.
  /// - Throws: as the synchronous form.
  @discardableResult
  public func undo() async throws -> UndoResult {
    try await write { try $0.undo() }
  }

  /// Redoes the last undo, in a write of its own.
  ///
  /// - Returns: the tasks and lists that have changed.
  /// - Throws: as `redo()` of a write transaction, and as `write`.
  @available(*, noasync, message: "use the asynchronous form")
  @discardableResult
  public func redo() throws -> UndoResult {
    try write { try $0.redo() }
  }

  /// Redoes the last undo, in a write of its own.
  ///
  /// - Returns: the tasks and lists that have changed.
  /// - Throws: as the synchronous form.
  @discardableResult
  public func redo() async throws -> UndoResult {
    try await write { try $0.redo() }
  }
}
