package import SystemPackage
internal import TallySystem

/// The bytes of an import, which can be read again from their beginning.
///
/// A write transaction runs again when the store's map had to grow, and holds up every other writer while it runs. So a
/// pipe, which cannot be read twice and whose writer may be slow, is first copied to a file without a name.
package final class ReplayableInput {
  package let descriptor: FileDescriptor
  /// Where the file stood at first.
  private let startOffset: Int64
  /// Whether the file is our own copy, without a name, which is deleted when it is closed.
  private let isCopy: Bool

  /// How many bytes there are, where that can be known.
  let byteCount: Int64?

  /// Reads from an open file, from where it stands; the caller closes it.
  ///
  /// - Parameters:
  ///   - descriptor: a file, or a pipe, which is read to its end at once.
  ///   - directory: where to keep what a pipe delivers.
  /// - Throws: `inputUnreadable`, or `diskFull` or `outputNotCreated` if a copy cannot be made.
  package init(_ descriptor: FileDescriptor, copyingPipesTo directory: FilePath) throws {
    try Self.refuseEndless(descriptor)
    let startOffset = try? descriptor.seek(offset: 0, from: .current)
    isCopy = startOffset == nil
    self.startOffset = startOffset ?? 0
    let descriptor = try isCopy ? Self.copy(descriptor, to: directory) : descriptor
    if isCopy { try descriptor.seek(offset: 0, from: .start) }
    self.descriptor = descriptor
    let status = try? descriptor.stat()
    byteCount = status?.type == .regular ? status.map { $0.size - (startOffset ?? 0) } : nil
  }

  /// Refuses a device, which may never end, unless it is a terminal or, like `/dev/null`, empty.
  private static func refuseEndless(_ descriptor: FileDescriptor) throws {
    guard let type = try? descriptor.stat().type, type == .characterSpecial || type == .blockSpecial,
      !SystemCalls.isTerminal(descriptor)
    else { return }
    var byte: [UInt8] = [0]
    guard try read(descriptor, into: &byte) > 0 else { return }
    throw TallyError(
      .inputUnreadable, "The input is a device", remedy: "Give a file, or a pipe from the program that reads the device"
    )
  }

  deinit {
    if isCopy { try? descriptor.close() }
  }

  /// Returns to the beginning.
  func rewind() throws {
    _ = try TallyError.replacing(TallyError.unreadableInput) { try descriptor.seek(offset: startOffset, from: .start) }
  }

  /// The first bytes; the next read begins with them.
  package func head(ofAtMost count: Int) throws -> [UInt8] {
    try rewind()
    var head: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: count)
    while head.count < count, case let count = try read(into: &buffer), count > 0 { head += buffer.prefix(count) }
    try rewind()
    return head
  }

  /// Puts the next bytes at the beginning of a buffer and returns how many; 0 at the end.
  func read(into buffer: inout [UInt8]) throws -> Int { try Self.read(descriptor, into: &buffer) }

  private static func read(_ descriptor: FileDescriptor, into buffer: inout [UInt8]) throws -> Int {
    try TallyError.replacing(TallyError.unreadableInput) {
      // The pointer is used within the call only.
      unsafe try buffer.withUnsafeMutableBytes { try unsafe descriptor.read(into: $0) }
    }
  }

  private static func copy(_ pipe: FileDescriptor, to directory: FilePath) throws -> FileDescriptor {
    let copy = try writing { try makeFile(in: directory) }
    do {
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      while case let count = try read(pipe, into: &buffer), count > 0 {
        try TallyError.checkCancellation()
        _ = try writing { try copy.writeAll(buffer.prefix(count)) }
      }
      return copy
    } catch {
      try? copy.close()
      throw error
    }
  }

  /// Creates the file beside the store's, where there must be room for the tasks anyway and nobody else may read.
  private static func makeFile(in directory: FilePath) throws -> FileDescriptor {
    let item = try TemporaryItem(.file, in: directory)
    let file = try FileDescriptor.open(item.path, .readWrite, options: [.closeOnExec, .noFollow])
    do {
      // The descriptor is enough; without a name, nothing is left behind if the program ends.
      try SystemCalls.removeFile(item.path)
    } catch {
      try? file.close()
      throw error
    }
    return file
  }

  private static func writing<R>(_ body: () throws -> R) throws -> R {
    let replacement = { (error: any Error) in
      let errno = error as? Errno
      return TallyError(
        [.noSpace, .diskQuotaExceeded].contains(errno) ? .diskFull : .outputNotCreated,
        "What the pipe delivers cannot be kept until it is imported\(errno.map { ": \($0)" } ?? "")",
        remedy: "Import from a file, or make room in the store's directory, or in TMPDIR for a dry run or a new store",
        cause: error)
    }
    return try TallyError.replacing(replacement, body)
  }
}
