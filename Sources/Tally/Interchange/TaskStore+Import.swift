internal import Foundation
public import SystemPackage
internal import TallySystem

extension TaskStore {
  /// Imports a document from a file: by id, it adds new records, changes different ones, and leaves the rest.
  ///
  /// All of it or nothing: one transaction holds the whole import, so that other writers wait for it. Nothing in the
  /// store is deleted. Fields that an object of the document lacks keep their stored values. Blocks until all is done;
  /// run it where waiting is allowed.
  ///
  /// ```swift
  /// let summary = try store.importDocument(from: "export.json", options: ImportOptions(isDryRun: true))
  /// print(summary.tasks.added, summary.tasks.changed, summary.tasks.unchanged)
  /// ```
  ///
  /// - Parameters:
  ///   - file: The path of the document.
  ///   - format: How it is written.
  ///   - options: Whether to write anything, and how strict to be.
  ///   - progress: Called from time to time; may throw to end the import.
  /// - Returns: The changes made, or those that a dry run would make.
  /// - Throws: `inputUnreadable`; for a fault of the document an error with its position: `malformedDocument`,
  ///   `unknownKey`, `duplicateID`, `unknownList`, `newerFormat`, or that of the value or record; `cancelled` if the
  ///   Swift task was cancelled; what `progress` throws, and what `write` throws. The store is then unchanged.
  @discardableResult
  public func importDocument(
    from file: FilePath,
    format: InterchangeFormat = .json,
    options: ImportOptions = ImportOptions(),
    progress: InterchangeProgress.Observer? = nil
  ) throws -> ImportSummary {
    let descriptor = try TallyError.replacing(TallyError.unreadableInput) {
      try FileDescriptor.open(file, .readOnly, options: .closeOnExec)
    }
    return try descriptor.closeAfter {
      try importDocument(from: descriptor, format: format, options: options, progress: progress)
    }
  }

  /// Imports a document from an open file, from its current position, or from a pipe; it stays open.
  ///
  /// As ``importDocument(from:format:options:progress:)-(FilePath,_,_,_)``. Input from a pipe is first copied to a file
  /// without a name, in the store's directory or, for a dry run, the system's temporary one, so that no other writer
  /// waits for the pipe's.
  @discardableResult
  public func importDocument(
    from descriptor: FileDescriptor,
    format: InterchangeFormat = .json,
    options: ImportOptions = ImportOptions(),
    progress: InterchangeProgress.Observer? = nil
  ) throws -> ImportSummary {
    let session = ImportSession(
      input: try ReplayableInput(descriptor, copyingPipesTo: options.isDryRun ? Self.temporaryDirectory : directory),
      format: format,
      options: options,
      observer: progress
    )
    guard !options.isDryRun else { return try read { try session.rehearse(in: $0) } }
    return try writeAndWait { try session.run(in: &$0) }
  }

  /// The directory for a pipe's contents in a dry run, which leaves the store's directory alone.
  private static var temporaryDirectory: FilePath { FilePath(FileManager.default.temporaryDirectory.path) }
}
