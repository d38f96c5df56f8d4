package import SystemPackage

/// A file that replaces another one as a whole, or not at all.
///
/// Everything is written to a temporary file in the same directory, which gets the name only by `publish()`; until then
/// the old file does not change. If it is never published the temporary file is removed. The new file can be read and
/// written by its owner only, whatever the permissions of the old one. If the path is a symbolic link to a file, the
/// link is replaced, not the file it leads to: otherwise anyone who may write the link could choose the file that is
/// overwritten.
///
/// Foundation's atomic writing does not suffice: it wants all bytes at once, sets no permissions and does not flush.
package struct AtomicFile: ~Copyable {
  /// The path is not that of a file: it is a directory, a device or a pipe, or has no name.
  package struct NotAFile: Error {}

  /// The file is in its place, but flushing its name failed: after a power cut the old file might be there.
  package struct NotFlushed: Error {
    package let cause: any Error
  }

  /// The descriptor to write to; closed by `publish()` and by the end of the file's life.
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

  /// Throws `NotAFile` for a path that a file must not replace, or an `Errno` if that cannot be determined.
  ///
  /// A file may replace nothing, a file, and a symbolic link to a file or to nothing. Links are followed:
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
    // An error does not matter: the bytes were flushed, or nobody needs them.
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

/// A file or a directory under a temporary name, in which something is made before it is moved into place.
///
/// Its creator holds a lock on it, which ends with the process. So an item without a lock is an orphan that a killed
/// process has left. Making an item in a directory first removes the orphans there.
///
/// Names are of an exact form, and an orphaned directory is removed only if it has nothing but files of a store, or one
/// directory with a store. Items of other users stay. So nothing that belongs to anybody else is removed.
package final class TemporaryItem: Sendable {
  package enum Kind {
    case file, directory
  }

  package let path: FilePath
  private let kind: Kind
  /// Held for as long as this lives.
  private let lock: FileLock

  private static let fileStart = ".tally-export-"
  private static let fileEnd = ".tmp"
  private static let directoryMark = ".new-"
  /// The files that a store has while it is being made.
  private static let storeNames: Set = ["data.mdb", "lock.mdb", "access.lock", "journal", "journal.tmp"]
  /// The name of a store in an item.
  private static let storeName = "store"
  private static let mostAttempts = 100

  /// Makes an item that only its owner may read.
  ///
  /// - Parameters:
  ///   - kind: The kind of item.
  ///   - parent: The directory to make it in, which exists.
  ///   - name: The start of a directory's name.
  /// - Throws: `Errno`.
  package init(_ kind: Kind, in parent: FilePath, for name: String = "") throws {
    Self.sweep(parent)
    for _ in 1...Self.mostAttempts {
      let path = parent.appending(Self.name(kind, for: name))
      guard let lock = try Self.make(path, kind) else { continue }
      (self.path, self.kind, self.lock) = (path, kind, lock)
      return
    }
    throw Errno.resourceTemporarilyUnavailable
  }

  /// The place for a store within an item that is a directory.
  ///
  /// It is a subdirectory, because writers lock a store's directory and this item already holds a lock on its own.
  package var storeDirectory: FilePath { path.appending(Self.storeName) }

  deinit {
    // An item that was moved into place has no temporary name any more.
    Self.remove(path, kind)
  }

  /// Removes the orphans in a directory; a failure to do so does not fail the caller.
  package static func sweep(_ directory: FilePath) {
    for name in (try? SystemCalls.names(in: directory)) ?? [] {
      guard let kind = kind(of: name) else { continue }
      let path = directory.appending(name)
      guard let lock = try? lock(path, kind), lock.isOnFile(at: path) else { continue }
      remove(path, kind)
      lock.release()
    }
  }

  /// The kind of item that has a name; `nil` for the name of anything else.
  package static func kind(of name: String) -> Kind? {
    if name.hasPrefix(fileStart), name.hasSuffix(fileEnd) {
      let middle = name.dropFirst(fileStart.count).dropLast(fileEnd.count)
      return !middle.isEmpty && middle.utf8.allSatisfy(\.isBase36) && UInt64(middle, radix: 36) != nil ? .file : nil
    }
    // Earlier versions kept the input from a pipe under such a name.
    if name.hasPrefix(".import-"), name.hasSuffix(fileEnd) {
      return name.dropFirst(".import-".count).dropLast(fileEnd.count).isUUID ? .file : nil
    }
    let mark = name.utf8.count - uuidByteCount - directoryMark.utf8.count
    guard mark > 0, name.utf8.dropFirst(mark).starts(with: directoryMark.utf8) else { return nil }
    return name.suffix(uuidByteCount).isUUID ? .directory : nil
  }

  fileprivate static let uuidByteCount = 36

  private static func name(_ kind: Kind, for name: String) -> String {
    // The name cannot be guessed, and is not too long for the filesystem, as the target's name with a suffix might be.
    switch kind {
    case .file: fileStart + String(UInt64.random(in: 0...UInt64.max), radix: 36) + fileEnd
    case .directory: name + directoryMark + randomUUID()
    }
  }

  private static func randomUUID() -> String {
    var text = [4, 2, 2, 2, 6].map { count in
      (0..<count).map { _ in
        let byte = UInt8.random(in: 0...UInt8.max)
        return (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }.joined()
    }
    // Version 4.
    text[2] = "4" + text[2].dropFirst()
    text[3] = "8" + text[3].dropFirst()
    return text.joined(separator: "-")
  }

  /// Makes an item and locks it; `nil` if a sweep removed it as an orphan before it was locked.
  private static func make(_ path: FilePath, _ kind: Kind) throws -> FileLock? {
    switch kind {
    case .file: try SystemCalls.createFile(path, permissions: .ownerReadWrite)
    case .directory: try SystemCalls.makeDirectory(path, permissions: .ownerReadWriteExecute)
    }
    do {
      // The process's mask may have removed permissions.
      if kind == .directory { try SystemCalls.changePermissions(path, to: .ownerReadWriteExecute) }
      guard let lock = try lock(path, kind), lock.isOnFile(at: path) else { return nil }
      return lock
    } catch Errno.noSuchFileOrDirectory {
      return nil
    } catch {
      remove(path, kind)
      throw error
    }
  }

  /// Locks an item; `nil` if another process holds the lock, or if there is no such item.
  private static func lock(_ path: FilePath, _ kind: Kind) throws -> FileLock? {
    do {
      let lock = try FileLock(openingExisting: path)
      let status = try lock.descriptor.stat()
      let isOfKind = status.type == (kind == .file ? .regular : .directory)
      // Another user could replace an item of their own by a link before it is removed.
      return try isOfKind && status.userID.rawValue == SystemCalls.userID && lock.tryAcquire(.exclusive) ? lock : nil
    } catch Errno.noSuchFileOrDirectory {
      return nil
    }
  }

  private static func remove(_ path: FilePath, _ kind: Kind) {
    switch kind {
    case .file: try? SystemCalls.removeFile(path)
    case .directory: removeDirectory(path)
    }
  }

  private static func removeDirectory(_ path: FilePath) {
    // A process may have been killed while it created a store inside.
    sweep(path)
    guard let names = try? SystemCalls.names(in: path) else { return }
    let store = path.appending(storeName)
    if names == [storeName] {
      // A link might lead to anyone's store.
      if (try? store.stat(followTargetSymlink: false))?.type == .directory { removeDirectory(store) }
    } else {
      guard storeNames.isSuperset(of: names) else { return }
      for name in names { try? SystemCalls.removeFile(path.appending(name)) }
    }
    try? SystemCalls.removeDirectory(path)
  }
}

extension StringProtocol {
  /// Whether the text is a UUID, in either case.
  fileprivate var isUUID: Bool {
    let bytes = Array(utf8)
    return bytes.count == TemporaryItem.uuidByteCount
      && bytes.indices.allSatisfy { index in
        [8, 13, 18, 23].contains(index) ? bytes[index] == UInt8(ascii: "-") : bytes[index].isHexadecimal
      }
  }
}

extension UInt8 {
  fileprivate var isBase36: Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self)
  }

  fileprivate var isHexadecimal: Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
      || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self | 0x20)
  }
}

extension Error {
  /// Runs a body, and converts the error that it throws to this type.
  package static func replacing<R: ~Copyable>(
    _ replacement: (any Error) -> Self, _ body: () throws -> R
  ) throws(Self) -> R {
    do {
      return try body()
    } catch {
      throw replacement(error)
    }
  }
}
