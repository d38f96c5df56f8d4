import SystemPackage

/// Standard output could not be written, or standard input could not be read.
enum StreamError: Error {
  /// The reader of the output has left, as `head` does; this is not an error.
  case readerLeft
  case notWritten(reason: String)
  case notRead(reason: String)

  init(writing error: any Error) {
    let errno = error as? Errno
    self = errno == .brokenPipe ? .readerLeft : .notWritten(reason: errno?.description ?? "\(error)")
  }

  init(reading error: any Error) {
    self = .notRead(reason: (error as? Errno)?.description ?? "\(error)")
  }

  var failure: CommandFailure {
    switch self {
    case .readerLeft:
      // Never printed: the program ends quietly.
      CommandFailure(.success, code: "readerLeft", "The reader of the output left", remedy: "Nothing needs to be done")
    case .notWritten(let reason):
      CommandFailure(
        .storageFailed,
        code: "outputNotWritten",
        "The output could not be written: \(reason)",
        remedy: "Free space, or send the output elsewhere; what the command changed in the store stays changed"
      )
    case .notRead(let reason):
      CommandFailure(
        .inputUnreadable,
        code: "inputUnreadable",
        "The input could not be read: \(reason)",
        remedy: "Check what is connected to standard input"
      )
    }
  }
}
