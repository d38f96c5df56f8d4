package import SystemPackage
package import TallySystem

extension AtomicFile {
  /// Creates the temporary file.
  ///
  /// - Throws: `outputNotCreated` if the path is a directory, a device, a pipe or a file of a store, or if its
  ///   directory does not exist or is not writable; `diskFull`.
  package static func create(replacing target: FilePath) throws -> AtomicFile {
    try StoreFiles.refuseAsOutput(target)
    return try TallyError.replacing(TallyError.unwritableOutput) { try AtomicFile(replacing: target) }
  }

  /// Publishes the file.
  ///
  /// - Throws: `diskFull` or `outputNotCreated`; `storageFailed` if the file is in place but its name was not flushed.
  package consuming func commit() throws {
    do {
      try publish()
    } catch {
      throw TallyError.unwritableOutput(error)
    }
  }
}

extension TallyError {
  package static func outputNotCreated(_ message: String, cause: (any Error)? = nil) -> TallyError {
    TallyError(
      .outputNotCreated, message, remedy: "Give the path of a file, new or old, in a directory that you may write to",
      cause: cause)
  }

  /// Flushes a directory as the last step of an operation.
  ///
  /// - Throws: `storageFailed`; its message names the operation that was finished.
  package static func flush(_ directory: FilePath, after done: String) throws {
    try replacing({ notFlushed(done, $0) }) { try SystemCalls.flushDirectory(directory) }
  }

  private static func notFlushed(_ done: String, _ cause: any Error) -> TallyError {
    TallyError(
      .storageFailed, "\(done), but the disk did not confirm it: after a power cut it may be undone",
      remedy: "Check the disk, then do it again", cause: cause)
  }

  /// The error for an output that could not be created, written, flushed or renamed.
  package static func unwritableOutput(_ cause: any Error) -> TallyError {
    if cause is AtomicFile.NotAFile { return outputNotCreated("The output path is not the path of a file") }
    if let cause = cause as? AtomicFile.NotFlushed {
      return notFlushed("The file is complete and in its place", cause.cause)
    }
    return switch cause as? Errno {
    case .noSpace?, .diskQuotaExceeded?:
      TallyError(
        .diskFull, "The disk of the output is full", remedy: "Free some space, or write to another disk", cause: cause)
    case let errno?: outputNotCreated("The output cannot be written: \(errno)", cause: cause)
    case nil: outputNotCreated("The output cannot be written", cause: cause)
    }
  }
}
