import Crypto
import Foundation
public import SystemPackage
import TallySystem

/// Changes files in a folder, each as a whole or not at all.
struct FolderDisk: Sendable {
  /// A change that the system makes as a whole; between two of them the machine may stop.
  enum Step: Hashable {
    case write, flush, publish, removeTemporary, flushDirectory, remove
  }

  /// Larger files are not ours: a pack has a few MiB at most.
  static let largestFileInBytes: Int64 = 64 << 20

  /// Called before each step; a test fails or stops there.
  let before: @Sendable (Step) throws -> Void

  init(before: @escaping @Sendable (Step) throws -> Void = { _ in }) { self.before = before }

  /// Writes a file that survives a crash as soon as this returns, and of which nobody sees a part.
  ///
  /// - Parameters:
  ///   - bytes: The content of the file.
  ///   - path: The path of the file, in a directory that exists.
  ///   - isReplacing: Whether it replaces a file of that name; if not, such a file is an error.
  /// - Throws: `Errno`; the file may have its name if only the flush of the directory failed.
  func publish(_ bytes: [UInt8], as path: FilePath, isReplacing: Bool) throws {
    let name = FolderName.temporary(.random(in: 0...UInt64.max))
    let directory = path.parentOrCurrent
    let temporary = FilePath("\(directory)/\(name.text)")
    // The lock shows that somebody is writing the file; one that nobody has locked was left by a killed process.
    var lock: FileLock?
    defer { lock?.release() }
    do {
      try write(bytes, to: temporary) {
        lock = try? FileLock(openingExisting: temporary)
        _ = try? lock?.tryAcquire(.exclusive)
      }
      try before(.publish)
      if isReplacing {
        try SystemCalls.rename(temporary, to: path)
      } else {
        try rename(temporary, toFree: path)
      }
    } catch {
      try? remove(temporary)
      throw error
    }
    try flushDirectory(directory)
  }

  /// Removes a file, if it is there.
  func remove(_ path: FilePath) throws {
    try before(.remove)
    do {
      try SystemCalls.removeFile(path)
    } catch .noSuchFileOrDirectory {
      // The program that copies the folder has removed it already.
    }
  }

  /// Removes temporary files of this replica that nobody is still writing.
  func removeLeftOvers(_ entries: [FolderEntry]) {
    for entry in entries {
      guard case .temporary = entry.name, let lock = try? FileLock(openingExisting: entry.path) else { continue }
      guard (try? lock.tryAcquire(.exclusive)) ?? Self.isOld(entry) else { continue }
      // If this fails, the next call tries again.
      try? remove(entry.path)
    }
  }

  private static func isOld(_ entry: FolderEntry) -> Bool {
    let now = Int(Date.now.timeIntervalSince1970)
    return entry.modified.first.map { $0 < now - leftOverAgeInSeconds } ?? false
  }

  /// The age from which a temporary file counts as left over if the filesystem has no locks.
  private static let leftOverAgeInSeconds = 3_600

  /// Makes the names in a directory survive a crash.
  func flushDirectory(_ path: FilePath) throws {
    try before(.flushDirectory)
    do {
      try SystemCalls.flushDirectory(path)
    } catch let error as Errno where error == .invalidArgument || error == .notSupported {
      // Some filesystems that other programs provide cannot flush a directory.
    }
  }

  /// Reads a whole file; never through a link, from a pipe, or one that is too large to be ours.
  func read(_ path: FilePath) throws -> [UInt8] {
    try withRegularFile(path) { file, size in
      guard size <= Self.largestFileInBytes else { throw Errno.noSuchFileOrDirectory }
      return try file.readToEnd()
    }
  }

  /// Reads the start and the length of a file.
  func readStart(of path: FilePath, byteCount: Int) throws -> (bytes: [UInt8], size: Int64) {
    try withRegularFile(path) { file, size in
      // Unsafe as the buffer is raw memory: `read` fills its beginning and says how much.
      let bytes = try unsafe [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
        count = try unsafe file.read(into: UnsafeMutableRawBufferPointer(buffer))
      }
      return (bytes, size)
    }
  }

  /// Opens a file, never through a link or a pipe, and passes it with its size to a closure.
  private func withRegularFile<R>(_ path: FilePath, _ body: (FileDescriptor, Int64) throws -> R) throws -> R {
    let file = try FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .noFollow, .nonBlocking])
    return try file.closeAfter {
      let status = try file.stat()
      guard status.type == .regular else { throw Errno.noSuchFileOrDirectory }
      return try body(file, status.size)
    }
  }

  /// Creates a directory if it is missing; the one above it exists.
  ///
  /// In a folder that users share, it gets the group and the permissions of the directory above it, so that all of them
  /// can write there, whatever their masks. Elsewhere the mask of the user counts.
  func createDirectory(_ path: FilePath) throws {
    guard try !Self.isDirectory(path) else { return }
    do {
      try SystemCalls.makeDirectory(path)
      inheritPermissions(path)
    } catch .fileExists {
      // Another process has created it, or it is no directory, which the next call finds.
    }
    try flushDirectory(path.parentOrCurrent)
  }

  /// Copies the group and the permissions of a shared directory to a new one in it, as far as the system allows.
  private func inheritPermissions(_ path: FilePath) {
    guard let (above, new) = try? (path.parentOrCurrent.stat(), path.stat()), above.permissions.areOfSharedDirectory
    else { return }
    if above.groupID != new.groupID { try? SystemCalls.changeGroup(path, to: above.groupID.rawValue) }
    let wanted = above.permissions.union(.ownerReadWriteExecute).subtracting(.saveText)
    if wanted != new.permissions { try? SystemCalls.changePermissions(path, to: wanted) }
  }

  /// Checks that this user can write to a directory, by writing an empty file there.
  ///
  /// - Throws: `Errno`.
  func checkWritable(_ directory: FilePath) throws {
    let probe = FilePath("\(directory)/\(FolderName.temporary(.random(in: 0...UInt64.max)).text)")
    try write([], to: probe)
    try remove(probe)
  }

  /// Whether a path is that of a directory, and not of a link to one; false if there is nothing.
  ///
  /// - Throws: `Errno` if it cannot be learned, or if it is something else.
  static func isDirectory(_ path: FilePath) throws -> Bool {
    do {
      guard try path.stat(followTargetSymlink: false).type == .directory else { throw Errno.notDirectory }
      return true
    } catch Errno.noSuchFileOrDirectory {
      return false
    }
  }

  private func write(_ bytes: [UInt8], to path: FilePath, whenCreated: () -> Void = {}) throws {
    try before(.write)
    // Open to others as far as the user's mask and the directory allow: the content is sealed, and the program that copies it
    // may run as another user.
    let file = try FileDescriptor.open(
      path, .writeOnly, options: [.create, .exclusiveCreate, .closeOnExec],
      permissions: [.ownerReadWrite, .groupReadWrite, .otherReadWrite])
    whenCreated()
    try file.closeAfter {
      // Whoever may read a shared directory may also read its files, whatever the mask.
      if let (above, new) = try? (path.parentOrCurrent.stat(), file.stat()), above.permissions.areOfSharedDirectory {
        let wanted = new.permissions.union(above.permissions.intersection([.groupRead, .otherRead]))
        if wanted != new.permissions { try? SystemCalls.changePermissions(path, to: wanted) }
      }
      _ = try file.writeAll(bytes)
      try before(.flush)
      try SystemCalls.flush(file)
    }
  }

  /// Renames a file; no other file may have the new name.
  private func rename(_ temporary: FilePath, toFree path: FilePath) throws {
    do {
      // Between a check and a rename another process could create the file; a link never replaces one.
      try SystemCalls.link(temporary, as: path)
    } catch Errno.notPermitted, Errno.notSupported, Errno.noFunction, Errno.permissionDenied {
      // The filesystem has no hard links.
      guard (try? path.stat(followTargetSymlink: false)) == nil else { throw Errno.fileExists }
      return try SystemCalls.rename(temporary, to: path)
    }
    try before(.removeTemporary)
    // The file has its final name. A temporary name that stays is removed later.
    try? SystemCalls.removeFile(temporary)
  }

  /// Reads the segments of a file.
  ///
  /// - Parameters:
  ///   - file: The file.
  ///   - replica: The expected author.
  /// - Returns: `nil` if the file has not, or not yet, exactly the segments that its name says.
  /// - Throws: `Errno` if it cannot be read.
  func segments(of file: SegmentFiles.File, by replica: ReplicaID) throws -> [[UInt8]]? {
    Self.segments(in: try read(file.entry.path), range: file.range, of: replica)
  }

  /// Splits the content of a file, and compares it with the file's name.
  ///
  /// The name has a part of the last segment's hash, and each segment has the hash of the one before it: so no byte can
  /// be wrong.
  static func segments(in bytes: [UInt8], range: FolderName.SegmentRange, of replica: ReplicaID) -> [[UInt8]]? {
    guard let envelopes = SegmentFrame.split(bytes), UInt64(envelopes.count) == range.count else { return nil }
    var expected = range.digest
    for (offset, envelope) in envelopes.enumerated().reversed() {
      let (frame, bytes) = (envelope.frame, envelope.bytes)
      guard frame.kind == .segment, frame.replica == replica, frame.number == range.first + UInt64(offset),
        Array(SHA256.hash(data: bytes)).starts(with: expected)
      else { return nil }
      expected = frame.previous.bytes
    }
    return envelopes.map(\.bytes)
  }

  /// Reads a file of one card or one part of a snapshot; `nil` if it is not whole.
  func envelope(_ kind: EnvelopeHeader.Kind, at path: FilePath, by replica: ReplicaID) throws -> [UInt8]? {
    let bytes = try read(path)
    return SegmentFrame(bytes[...])?.isWhole(kind, by: replica, byteCount: bytes.count) == true ? bytes : nil
  }
}

extension FilePermissions {
  /// Whether a directory with these permissions is meant to be shared by a group of users.
  ///
  /// Its group may write there, or new files get its group. In a directory with the sticky bit, such as one for
  /// temporary files, users do not work on the same files.
  fileprivate var areOfSharedDirectory: Bool { contains(.setGroupID) || contains(.groupWrite) && !contains(.saveText) }
}

extension SegmentFrame {
  /// Whether a file of a length has just this envelope, of a kind and a replica.
  func isWhole(_ kind: EnvelopeHeader.Kind, by replica: ReplicaID, byteCount: Int) -> Bool {
    (self.kind, self.replica, self.byteCount) == (kind, replica, byteCount)
  }
}

/// Why the folder of a space could not be read or written.
public struct FolderFault: Error, Hashable, Sendable {
  /// The kinds of faults that an embedder may want to distinguish.
  public enum Kind: Hashable, Sendable {
    /// The folder of the space is not there: a disk is not mounted, or the folder was moved.
    case unreachable
    /// The disk is full, or the user's share of it.
    case full
    /// The user may not read or write there.
    case notPermitted
    /// Something that was asked for is not in the folder, or only a part of it.
    case missing
    /// A space, a segment or a name cannot be stored.
    case invalid
    /// Anything else that the system reports.
    case failed
  }

  /// The kind of the fault.
  public let kind: Kind
  /// The file or directory.
  public let path: FilePath
  /// The message of the system, or the mistake, as a part of a sentence.
  public let reason: String
}

extension FolderFault: CustomStringConvertible {
  /// A sentence for people.
  public var description: String {
    switch kind {
    case .unreachable: "The folder '\(path)' cannot be reached: \(reason)"
    case .full: "The disk of '\(path)' is full: \(reason)"
    case .notPermitted: "'\(path)' may not be used: \(reason)"
    case .missing: "'\(path)' is not there yet: \(reason)"
    case .invalid: "'\(path)' cannot be stored: \(reason)"
    case .failed: "'\(path)' could not be read or written: \(reason)"
    }
  }

  /// The remedy.
  public var remedy: String {
    switch kind {
    case .unreachable: "Connect the disk or start the program that provides the folder; nothing was lost"
    case .full: "Free space on the disk; the rest is sent again later"
    case .notPermitted:
      "Users who share the folder need a group that may write in it. The owner of the folder runs: "
        + "chgrp -R GROUP \(quoted) && chmod -R g+rwX \(quoted) && find \(quoted) -type d -exec chmod g+s {} +"
    case .missing: "Wait until the folder has been copied to this device"
    case .invalid: "Report this as a fault of the program that stores it"
    case .failed: "Check the disk, then try again; the rest is sent again later"
    }
  }
}

extension FolderFault {
  /// The folder of the space that contains the path, or the path itself, quoted for a shell.
  private var quoted: String {
    var folder = path
    while let name = folder.lastComponent, !name.string.hasPrefix("tally-") { folder.removeLastComponent() }
    let shown = folder.lastComponent == nil ? path : folder
    return "'" + shown.string.replacing("'", with: "'\\''") + "'"
  }

  /// Describes an error about a path; any error but the system's is an error of input or output.
  init(_ error: any Error, at path: FilePath) {
    let error = error as? Errno ?? .ioError
    let kind: Kind =
      switch error {
      case .noSpace, .diskQuotaExceeded: .full
      case .permissionDenied, .notPermitted, .readOnlyFileSystem: .notPermitted
      case .noSuchFileOrDirectory: .missing
      default: .failed
      }
    self.init(kind: kind, path: path, reason: "\(error)")
  }

  /// Runs a body, and converts the system's errors to faults.
  static func at<R>(_ path: FilePath, _ body: () throws -> R) throws(FolderFault) -> R {
    try FolderFault.replacing({ error in (error as? FolderFault) ?? FolderFault(error, at: path) }, body)
  }
}
