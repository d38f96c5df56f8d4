import SystemPackage

extension CommandFailure {
  /// The failure to write standard output.
  ///
  /// That the reader of the output has left, as `head` does, is not an error: the program ends quietly.
  init(writing error: any Error) {
    if error as? Errno == .brokenPipe {
      self.init(.success, code: "readerLeft", "The reader of the output left", remedy: "Nothing needs to be done")
    } else {
      self.init(
        .storageFailed, code: "outputNotWritten", "The output could not be written: \(error)",
        remedy: "Free space, or send the output elsewhere; what the command changed in the store stays changed")
    }
  }

  /// The failure to read standard input.
  init(reading error: any Error) {
    self.init(
      .inputUnreadable, code: "inputUnreadable", "The input could not be read: \(error)",
      remedy: "Check what is connected to standard input")
  }
}
