package import SystemPackage
package import TallySystem

extension AtomicFile {
  /// Creates the temporary file.
  ///
  /// - Throws: `outputNotCreated` if the path is a directory, a device or a pipe, or its directory does not exist or
  ///   must not be written to; `diskFull`.
  package static func create(replacing target: FilePath) throws -> AtomicFile {
    try TallyError.replacing(TallyError.unwritableOutput) { try AtomicFile(replacing: target) }
  }

  /// Throws `outputNotCreated` for a path that a file must not take the place of.
  static func refuseIrreplaceable(_ target: FilePath) throws {
    try TallyError.replacing(TallyError.unwritableOutput) { try requireReplaceable(target) }
  }

  /// Publishes the file.
  ///
  /// - Throws: `diskFull` or `outputNotCreated`, under the conditions of `publish()`.
  package consuming func commit() throws {
    do {
      try publish()
    } catch {
      throw TallyError.unwritableOutput(error)
    }
  }
}

extension TallyError {
  /// Runs a body, and makes another error of the one that it throws.
  static func replacing<R: ~Copyable>(
    _ replacement: (any Error) -> TallyError, _ body: () throws -> R
  ) throws -> R {
    do {
      return try body()
    } catch {
      throw replacement(error)
    }
  }

  static func outputNotCreated(_ message: String, cause: (any Error)? = nil) -> TallyError {
    TallyError(
      .outputNotCreated,
      message,
      remedy: "Give the path of a file, new or old, in a directory that you may write to",
      cause: cause
    )
  }

  /// An output could not be created, written, flushed or renamed.
  static func unwritableOutput(_ cause: any Error) -> TallyError {
    if cause is AtomicFile.NotAFile { return outputNotCreated("The output path is not the path of a file") }
    return switch cause as? Errno {
    case .noSpace?, .diskQuotaExceeded?:
      TallyError(
        .diskFull,
        "The disk of the output is full",
        remedy: "Free some space, or write to another disk",
        cause: cause
      )
    case let errno?: outputNotCreated("The output cannot be written: \(errno)", cause: cause)
    case nil: outputNotCreated("The output cannot be written", cause: cause)
    }
  }
}
