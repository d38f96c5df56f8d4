extension TaskStore {
  /// Takes back the last write that has not been taken back yet, in a write of its own.
  ///
  /// - Returns: what has changed.
  /// - Throws: as `undo()` and `redo()` of a write transaction, and as `write`.
  @available(*, noasync, message: "use the asynchronous form")
  @discardableResult
  public func undo() throws -> UndoResult {
    try write { try $0.undo() }
  }

  /// Takes back the last write that has not been taken back yet, in a write of its own.
  ///
  /// - Returns: what has changed.
  /// - Throws: as the synchronous form.
  @discardableResult
  public func undo() async throws -> UndoResult {
    try await write { try $0.undo() }
  }

  /// Does again what the last undo took back, in a write of its own.
  ///
  /// - Returns: what has changed.
  /// - Throws: as `redo()` of a write transaction, and as `write`.
  @available(*, noasync, message: "use the asynchronous form")
  @discardableResult
  public func redo() throws -> UndoResult {
    try write { try $0.redo() }
  }

  /// Does again what the last undo took back, in a write of its own.
  ///
  /// - Returns: what has changed.
  /// - Throws: as the synchronous form.
  @discardableResult
  public func redo() async throws -> UndoResult {
    try await write { try $0.redo() }
  }
}
