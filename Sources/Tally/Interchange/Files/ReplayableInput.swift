internal import Foundation
internal import SystemPackage

/// The bytes of an import, which can be read again from their beginning.
///
/// A write transaction runs again when the store's map had to grow. A file is then read again from where it stood; a
/// pipe cannot be, so that what comes from it is kept in a file without a name, which is gone with the process.
final class ReplayableInput {
  private let descriptor: FileDescriptor
  /// Where a file that can seek stood at first.
  private let startOffset: Int64?
  /// Where to keep what a pipe delivers; `nil` if it is read once only.
  private let spoolDirectory: FilePath?
  /// What a pipe has delivered so far.
  private var spool: FileDescriptor?
  private var spooledByteCount: Int64 = 0
  private var readByteCount: Int64 = 0

  /// How many bytes there are, where that can be known.
  let byteCount: Int64?

  /// Reads from an open file, from where it stands; the caller closes it.
  init(_ descriptor: FileDescriptor, spoolDirectory: FilePath?) {
    self.descriptor = descriptor
    self.spoolDirectory = spoolDirectory
    let startOffset = try? descriptor.seek(offset: 0, from: .current)
    self.startOffset = startOffset
    byteCount = startOffset.flatMap { start in
      (try? descriptor.stat()).flatMap { $0.type == .regular ? $0.size - start : nil }
    }
  }

  deinit {
    // The file has no name any more, so closing it removes it.
    try? spool?.close()
  }

  /// Goes back to the beginning.
  func rewind() throws {
    readByteCount = 0
    guard let startOffset else { return }
    do {
      try descriptor.seek(offset: startOffset, from: .start)
    } catch {
      throw TallyError.unreadableInput(error)
    }
  }

  /// Puts the next bytes at the beginning of a buffer and says how many; none at the end.
  func read(into buffer: inout [UInt8]) throws -> Int {
    if let spool, readByteCount < spooledByteCount {
      let offset = readByteCount
      // The pointer is used within the call only.
      let count = try reading {
        unsafe try buffer.withUnsafeMutableBytes { try unsafe spool.read(fromAbsoluteOffset: offset, into: $0) }
      }
      readByteCount += Int64(count)
      return count
    }
    // The pointer is used within the call only.
    let count = try reading { unsafe try buffer.withUnsafeMutableBytes { try unsafe descriptor.read(into: $0) } }
    if startOffset == nil, let spoolDirectory { try keep(buffer.prefix(count), in: spoolDirectory) }
    readByteCount += Int64(count)
    return count
  }

  private func keep(_ bytes: ArraySlice<UInt8>, in directory: FilePath) throws {
    do {
      let spool = try spool ?? makeSpool(in: directory)
      self.spool = spool
      try spool.writeAll(toAbsoluteOffset: spooledByteCount, bytes)
      spooledByteCount += Int64(bytes.count)
    } catch {
      throw TallyError.unwritableOutput(error)
    }
  }

  /// Makes the file beside the store's, where there is room for the tasks anyway and nobody else may read.
  private func makeSpool(in directory: FilePath) throws -> FileDescriptor {
    let path = directory.appending(".import-\(UUID().uuidString.lowercased()).tmp")
    let spool = try FileDescriptor.open(
      path,
      .readWrite,
      options: [.create, .exclusiveCreate, .closeOnExec],
      permissions: .ownerReadWrite
    )
    do {
      try SystemCalls.removeFile(path)
    } catch {
      try? spool.close()
      throw error
    }
    return spool
  }

  private func reading(_ body: () throws -> Int) throws -> Int {
    do {
      return try body()
    } catch {
      throw TallyError.unreadableInput(error)
    }
  }
}
