package import LMDB
package import SystemPackage
import TallySystem

/// The steps that turn a backup into a store.
///
/// | step | after a crash there is |
/// | --- | --- |
/// | copy and verify in a staging directory | the old store; the next opening removes the staging directory |
/// | lock the store exclusively | the old store |
/// | give the old file a second name | the old store, with a second name for its file |
/// | rename the new file over the old one | the new store |
package struct Restoration<Report> {
  /// The result of restoring a store.
  package struct Result {
    /// The header of the new store.
    package let header: StoreHeader
    /// The report of the check of the backup.
    package let report: Report
    /// The size of the new file, in bytes.
    package let sizeInBytes: Int64
    /// The path of the old file; `nil` if there was none.
    package let safetyCopy: FilePath?
  }

  private let file: FilePath
  private let opening: StoreOpening
  private let check: (LMDBEnvironment) throws -> Report

  /// - Parameters:
  ///   - file: the backup.
  ///   - opening: how the store is opened.
  ///   - check: as for an ``UnpublishedStore``.
  package init(
    file: FilePath, opening: StoreOpening, check: @escaping (LMDBEnvironment) throws -> Report
  ) {
    (self.file, self.opening, self.check) = (file, opening, check)
  }

  /// Runs the steps.
  ///
  /// - Throws: `inputUnreadable`, `damagedStore`, `newerFormat`, `alreadyOpen`, `storeBusy`, `diskFull`; what the check
  ///   throws; as opening a store.
  package func run() throws -> Result {
    try TallyError.translating { try TallyError.translatingErrno { try restore() } }
  }

  private func restore() throws -> Result {
    let source = try openSource()
    defer { try? source.close() }
    try opening.prepareDirectory()
    let staging = try TemporaryItem(.directory, in: opening.directory, for: "restore")
    try copy(source, to: staging.dataFile)
    let copy = UnpublishedStore(at: staging.path, like: opening, check: check)
    var (header, report) = try copy.verify()
    let access = try StoreAccess(.exclusive, to: opening.directory, configuration: opening.configuration)
    defer { access.end() }
    if let last = try lastSequence(replacedBy: header) { header = try copy.advanceSequence(beyond: last) }
    try opening.settleJournal()
    try opening.settleLog(because: .restore)
    let size = try staging.dataFile.stat().size
    let kept = try copyOldFile()
    // The old file's second name must be on disk before its first name is replaced, or a power cut may lose both.
    if kept != nil { try SystemCalls.flushDirectory(opening.directory) }
    for name in opening.layout.namesOfOneStoreOnly {
      try? SystemCalls.removeFile(opening.directory.appending(name))
    }
    try opening.detachLockFile()
    try SystemCalls.rename(staging.dataFile, to: opening.dataFile)
    try TallyError.flush(opening.directory, after: "The backup has been restored")
    return Result(header: header, report: report, sizeInBytes: size, safetyCopy: kept)
  }

  /// A sequence that the replaced store has not exceeded; `nil` if it cannot be the same store.
  ///
  /// A client that was suspended during the restoration asks for the changes since the last commit it saw. If another
  /// commit had the same sequence, the client would miss a part of the changes.
  private func lastSequence(replacedBy header: StoreHeader) throws -> UInt64? {
    if let replaced = try opening.headerOfClosedStore() {
      return replaced.storeID == header.storeID ? replaced.sequence : nil
    }
    // The file is unreadable: assume more commits than any store makes after a backup.
    return try opening.typeOfFile(at: opening.dataFile) == nil ? nil : header.sequence + Self.sequencesOfUnreadable
  }

  /// The number of commits assumed for an unreadable store: a thousand per second for fifty days.
  private static var sequencesOfUnreadable: UInt64 { 1 << 32 }

  private func openSource() throws -> FileDescriptor {
    do {
      // Without this flag, opening a pipe would wait for a writer and ignore signals; reads of a file are not affected.
      let source = try FileDescriptor.open(file, .readOnly, options: [.closeOnExec, .nonBlocking])
      let isFile = try source.stat().type == .regular
      guard isFile, try FileIdentity(of: source) != (try? FileIdentity(of: opening.dataFile)) else {
        try source.close()
        throw isFile ? TallyError.ownFile : TallyError.noFile
      }
      return source
    } catch let error as Errno {
      throw TallyError.unreadableInput(error)
    }
  }

  /// Copies the bytes and flushes them.
  private func copy(_ source: FileDescriptor, to path: FilePath) throws {
    let target = try FileDescriptor.open(
      path, .writeOnly, options: [.create, .exclusiveCreate, .closeOnExec], permissions: .ownerReadWrite)
    try target.closeAfter {
      var buffer = [UInt8](repeating: 0, count: 1 << 20)
      while true {
        try TallyError.checkCancellation()
        // The pointer is used only during the call.
        let count = try unsafe buffer.withUnsafeMutableBytes { try unsafe source.read(into: $0) }
        if count == 0 { break }
        _ = try target.writeAll(buffer.prefix(count))
      }
      try SystemCalls.flush(target)
    }
    try SystemCalls.flushDirectory(path.removingLastComponent())
  }

  private func copyOldFile() throws -> FilePath? {
    do {
      return try SafetyCopy.create(
        opening.dataFile, because: .restore, in: opening.directory, at: opening.configuration.now())
    } catch Errno.noSuchFileOrDirectory {
      return nil
    }
  }
}

extension TallyError {
  fileprivate static let noFile = TallyError(
    .inputUnreadable, "The backup is a directory, a pipe or a device, not a file",
    remedy: "Give a file that a backup has written")

  fileprivate static let ownFile = TallyError(
    .inputUnreadable, "The backup is the file of the store itself", remedy: "Give a file that a backup has written")

  /// The error for a source of bytes that failed.
  package static func unreadableInput(_ cause: any Error) -> TallyError {
    let reason = (cause as? Errno).map { ": \($0)" } ?? ""
    return TallyError(
      .inputUnreadable, "The input cannot be read\(reason)",
      remedy: "Check that it is a file or pipe that you may read", cause: cause)
  }
}
