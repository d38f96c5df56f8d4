package import SystemPackage

/// A file that takes the place of another one as a whole, or not at all.
///
/// Everything is written to a temporary file in the same directory, which gets the name only by `publish()`; until then
/// the old file does not change. If it is never published the temporary file is removed. The new file can be read and
/// written by its owner only, whatever the permissions of the old one. Where the path is a symbolic link to a file the
/// link is replaced, not the file it leads to: otherwise everybody who may write the link could choose what is
/// overwritten.
///
/// Foundation's atomic writing was not taken: it wants all bytes at once, sets no permissions and does not flush.
package struct AtomicFile: ~Copyable {
  /// The path is not that of a file: it is a directory, a device or a pipe, or has no name.
  package struct NotAFile: Error {}

  /// The file is in its place, but flushing its name failed: after a power cut the old file might be there.
  package struct NotFlushed: Error {
    package let cause: any Error
  }

  /// Where to write; closed by `publish()` and by the end of the file's life.
  package let descriptor: FileDescriptor

  private let target: FilePath
  /// The file under its temporary name; it is removed with this unless it was published.
  private let temporary: TemporaryItem

  /// Creates the temporary file, and removes those that killed processes have left in the directory.
  ///
  /// Throws `NotAFile`, or an `Errno`.
  package init(replacing target: FilePath) throws {
    try Self.requireReplaceable(target)
    let temporary = try TemporaryItem(.file, in: target.parentOrCurrent)
    let descriptor = try FileDescriptor.open(temporary.path, .writeOnly, options: [.closeOnExec, .noFollow])
    self.init(descriptor: descriptor, target: target, temporary: temporary)
  }

  private init(descriptor: FileDescriptor, target: FilePath, temporary: TemporaryItem) {
    self.descriptor = descriptor
    self.target = target
    self.temporary = temporary
  }

  /// Throws `NotAFile` for a path that a file must not take the place of, or an `Errno` if that cannot be learned.
  ///
  /// A file may take the place of nothing, of a file, and of a symbolic link to a file or to nothing. Links are followed:
  /// renaming over `/dev/stdout` would succeed and replace the link.
  package static func requireReplaceable(_ target: FilePath) throws {
    guard target.lastComponent?.kind == .regular else { throw NotAFile() }
    do {
      guard try target.stat().type == .regular else { throw NotAFile() }
    } catch Errno.noSuchFileOrDirectory {
      // There is nothing to replace.
    }
  }

  deinit {
    // Its bytes were flushed, or are not wanted.
    try? descriptor.close()
  }

  /// Flushes the file to the disk and gives it its name.
  ///
  /// Throws an `Errno`; the old file is unchanged then. `NotFlushed` if the new file is there.
  package consuming func publish() throws {
    try SystemCalls.flush(descriptor)
    try SystemCalls.rename(temporary.path, to: target)
    try NotFlushed.replacing(NotFlushed.init(cause:)) { try SystemCalls.flushDirectory(target.parentOrCurrent) }
  }
}
