package import SystemPackage

/// The file of an environment as bytes, looked at before liblmdb is trusted with it.
///
/// liblmdb turns an empty file into an environment, and believes the length that a file claims: reading a page that is
/// cut off kills the process.
package struct DataFile: Sendable {
  /// What a file is by its first bytes.
  package enum Kind: Sendable {
    /// No bytes at all.
    case empty
    /// Something other than an environment.
    case foreign
    /// The beginning of an environment, too short for its first two pages.
    case cutShort
    /// An environment, as far as its first bytes show.
    case environment
  }

  /// The file's path.
  package let path: FilePath

  /// Takes the path of the file itself; nothing is opened.
  package init(_ path: FilePath) {
    self.path = path
  }

  /// Names the file of the environment in a directory; nothing is opened.
  package init(inDirectory directory: FilePath) {
    path = directory.appending(LMDBEnvironment.dataFileName)
  }

  /// What the file is.
  ///
  /// Throws `noSuchFile`, `permissionDenied`, `ioFailure`; `corrupted` if the first page is not that of an environment but
  /// later pages are, or if the first two disagree on the size of a page: liblmdb takes it from the newer one, and would look
  /// for the other beyond the file's end.
  package func kind() throws(LMDBError) -> Kind {
    try reading { reader in
      let sizeInBytes = try reader.sizeInBytes()
      if sizeInBytes == 0 { return .empty }
      let head = try reader.bytes(count: MetaPage.byteCount, at: 0)
      guard head.isPrefixOfMetaPage else {
        if try reader.hasLaterPages() { throw LMDBError.damagedPage(0, "is not the first one that the others need") }
        return .foreign
      }
      guard let meta = MetaPage(head) else { return .cutShort }
      guard sizeInBytes >= 2 * meta.pageSizeInBytes else { return .cutShort }
      let second = MetaPage(try reader.bytes(count: MetaPage.byteCount, at: meta.pageSizeInBytes))
      guard second?.pageSizeInBytes == meta.pageSizeInBytes else {
        throw LMDBError.damagedPage(1, "does not agree with the first one on the size of a page")
      }
      return .environment
    }
  }

  /// Opens the file for the time of a body.
  func reading<R>(_ body: (DataFileReader) throws -> R) throws(LMDBError) -> R {
    try LMDBError.translating("look at the file") {
      let descriptor = try FileDescriptor.open(path, .readOnly, options: [.closeOnExec])
      // Nothing was written, so closing has nothing to report.
      defer { try? descriptor.close() }
      return try body(DataFileReader(descriptor: descriptor))
    }
  }
}

extension DataFileReader {
  /// The possible sizes of a page.
  private static let pageSizes = (9...16).map { 1 << $0 }
  /// How many pages are examined for each of these sizes.
  private static let pageCount = 64

  /// Whether a later page belongs to an environment: each page of one begins with its own number.
  fileprivate func hasLaterPages() throws -> Bool {
    for size in Self.pageSizes {
      if let second = MetaPage(try bytes(count: MetaPage.byteCount, at: size)), second.pageSizeInBytes == size {
        return true
      }
      for number in 2..<Self.pageCount {
        let head = try bytes(count: Page.headByteCount, at: number * size)
        if head.number(at: 0, as: UInt64.self) == UInt64(number), Page.isKnownKind(head) { return true }
      }
    }
    return false
  }
}

/// Reads an open file at any place.
struct DataFileReader {
  let descriptor: FileDescriptor

  func sizeInBytes() throws -> Int {
    Int(try descriptor.stat().size)
  }

  /// The bytes at a place; fewer where the file ends.
  func bytes(count: Int, at offset: Int) throws -> [UInt8] {
    assert(count >= 0 && offset >= 0, "a number of the file was not checked")
    return try unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      while filled < count {
        // Reads into the rest of the array's own memory.
        let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...])
        let readCount = try unsafe descriptor.read(fromAbsoluteOffset: Int64(offset + filled), into: rest)
        if readCount == 0 { return }
        filled += readCount
      }
    }
  }
}

extension [UInt8] {
  /// The number at a place; `nil` where the bytes end before it does.
  func number<Number: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as: Number.Type) -> Number? {
    guard offset >= 0, offset <= count - MemoryLayout<Number>.size else { return nil }
    // In bounds by the line above; every bit pattern is an integer.
    return unsafe withUnsafeBytes { unsafe $0.loadUnaligned(fromByteOffset: offset, as: Number.self) }
  }

  /// Whether the magic number is where it should be, as far as the bytes go.
  var isPrefixOfMetaPage: Bool {
    // The bytes in the order in which this machine stores them.
    let stored = MetaPage.magic.littleEndian
    let magic = (0..<4).map { UInt8(truncatingIfNeeded: stored >> (8 * $0)) }
    return zip(dropFirst(MetaPage.headByteCount), magic).allSatisfy { $0 == $1 }
  }
}
