internal import LMDB
package import SystemPackage

/// A file that takes the place of another one as a whole, or not at all.
///
/// Everything is written to a temporary file in the same directory, which only ``commit()`` gives its name; until then
/// the old file is as it was. Without a commit the temporary file is removed. The new file can be read and written by
/// its owner only, whatever the permissions of the old one. Where the path is a symbolic link to a file the link is
/// replaced, not the file it leads to: following it would let whoever may write the link choose what is overwritten.
///
/// Foundation's atomic writing was not taken: it wants all bytes at once, gives no permissions and does not flush.
package struct AtomicFile: ~Copyable {
  /// Where to write; closed by `commit()` and by the end of the file's life.
  package let descriptor: FileDescriptor

  private let target: FilePath
  private let temporary: FilePath
  private var isOpen = true
  private var isRenamed = false

  private init(descriptor: FileDescriptor, target: FilePath, temporary: FilePath) {
    self.descriptor = descriptor
    self.target = target
    self.temporary = temporary
  }

  /// Creates the temporary file.
  ///
  /// - Throws: `outputNotCreated` if the path is a directory, a device or a pipe, or its directory does not exist or
  ///   must not be written to; `diskFull`.
  package static func create(replacing target: FilePath) throws -> AtomicFile {
    try refuseIrreplaceable(target)
    // The name must neither be guessed nor grow beyond what the filesystem takes, as the target's with a suffix might.
    let random = UInt64.random(in: 0...UInt64.max)
    let temporary = target.parentOrCurrent.appending(".tally-export-\(String(random, radix: 36)).tmp")
    do {
      let descriptor = try FileDescriptor.open(
        temporary,
        .writeOnly,
        options: [.create, .exclusiveCreate, .closeOnExec],
        permissions: .ownerReadWrite
      )
      return AtomicFile(descriptor: descriptor, target: target, temporary: temporary)
    } catch {
      throw TallyError.unwritableOutput(error)
    }
  }

  /// Throws `outputNotCreated` for a path that a file must not take the place of.
  static func refuseIrreplaceable(_ target: FilePath) throws {
    guard let name = target.lastComponent, name.kind == .regular, try mayBeReplaced(target) else {
      throw TallyError.outputNotCreated("The path of the output is not that of a file")
    }
  }

  deinit {
    // Nothing that fails here could still be mended: the file is a left-over that nobody asked for.
    if isOpen { try? descriptor.close() }
    if !isRenamed { try? SystemCalls.removeFile(temporary) }
  }

  /// Flushes the file to the disk and gives it its name.
  ///
  /// - Throws: `diskFull` or `outputNotCreated`; the old file is as it was then, except where the directory could not
  ///   be flushed after the renaming: the new file is there, but a power cut might bring the old one back.
  package consuming func commit() throws {
    do {
      try SystemCalls.flush(descriptor)
      isOpen = false
      try descriptor.close()
      try SystemCalls.rename(temporary, to: target)
      isRenamed = true
      try SystemCalls.flushDirectory(target.parentOrCurrent)
    } catch {
      throw TallyError.unwritableOutput(error)
    }
  }

  /// Whether nothing is there, or a file, or a symbolic link to a file or to nothing.
  ///
  /// A link is looked through: renaming over `/dev/stdout` would succeed and replace the link.
  private static func mayBeReplaced(_ target: FilePath) throws -> Bool {
    do {
      return try target.stat().type == .regular
    } catch Errno.noSuchFileOrDirectory {
      return true
    } catch {
      throw TallyError.unwritableOutput(error)
    }
  }
}

extension TallyError {
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
    switch cause as? Errno {
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
