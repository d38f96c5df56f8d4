import Dispatch
public import SystemPackage
import TallySystem

/// A folder that some other program copies between devices, as the place of a space.
///
/// Each replica writes into directories of its own, and a file never changes once it has its name, so programs that copy
/// folders find no conflicts. Names that are not exactly ours are ignored: conflict copies, unfinished copies, placeholders.
///
/// The files are looked at from a queue and from a thread of its own, never from one of Swift's: a folder may be on a disk
/// that does not answer.
public final class FolderTransport: SyncTransport {
  // Constants.
  let listing: FolderListing
  let disk: FolderDisk
  private let queue = DispatchQueue(label: "tally.folder")
  /// What the caller knows of; `nil` before the first look.
  let seen = Monitor<FolderScan?>(nil)

  /// Opens the folder of a space that exists.
  ///
  /// - Parameters:
  ///   - folder: The folder that the user has chosen; that of the space is in it.
  ///   - space: The sixteen bytes of the space's id.
  /// - Throws: `FolderFault` if the folder cannot be reached.
  public convenience init(at folder: FilePath, space: [UInt8]) throws {
    self.init(at: folder, space: space, disk: FolderDisk())
    try listing.requireReachable()
  }

  init(at folder: FilePath, space: [UInt8], disk: FolderDisk) {
    listing = FolderListing(of: folder.appending("tally-" + HexDigits.text(of: space)))
    self.disk = disk
  }

  /// Creates the folder of a space, or the missing parts of it.
  ///
  /// The folder in which it is must exist: it is not created where a disk is not mounted.
  ///
  /// - Parameters:
  ///   - folder: A folder that exists.
  ///   - space: The sixteen bytes of the space's id.
  /// - Returns: A transport for it.
  /// - Throws: `FolderFault` if the folder cannot be reached or written.
  public static func create(at folder: FilePath, space: [UInt8]) throws -> FolderTransport {
    let transport = FolderTransport(at: folder, space: space, disk: FolderDisk())
    try transport.createMissing()
    return transport
  }

  /// Creates the folder of the space, or the missing parts of it, in a folder that exists.
  ///
  /// - Throws: `FolderFault` if that folder cannot be reached or written.
  public func prepare() async throws {
    // Not on the queue, which requires the folder of the space.
    try createMissing()
  }

  /// Tries to write in the folder of the space.
  ///
  /// - Throws: `FolderFault` if this user cannot.
  func checkWritable() async throws {
    try await onQueue { transport in
      for part in FolderListing.Part.allCases {
        let directory = transport.listing.space.appending(part.rawValue)
        try FolderFault.at(directory) { try transport.disk.checkWritable(directory) }
      }
    }
  }

  private func createMissing() throws(FolderFault) {
    let space = listing.space
    let folder = space.parentOrCurrent
    let type = try? folder.stat().type
    guard type == .directory else {
      let reason = type == nil ? Errno.noSuchFileOrDirectory : .notDirectory
      throw FolderFault(kind: .unreachable, path: folder, reason: "\(reason)")
    }
    try FolderFault.at(space) {
      for path in [space] + FolderListing.Part.allCases.map({ space.appending($0.rawValue) }) {
        try disk.createDirectory(path)
      }
    }
  }

  /// The last segment of each replica, from the names of the files alone.
  ///
  /// - Returns: The heads.
  /// - Throws: `FolderFault` if the folder cannot be reached or read.
  public func heads() async throws -> [ReplicaID: SegmentHead] {
    try await onQueue { transport in
      let scan = try FolderScan(transport.listing)
      transport.seen.withLock { $0 = scan }
      return scan.replicas.compactMapValues { SegmentFiles($0).head }
    }
  }

  /// Reads some of the segments of a replica, and checks that they are whole.
  ///
  /// - Parameters:
  ///   - replica: Whose.
  ///   - number: The segments after this one; 0 for all.
  ///   - byteCount: Stop when this many bytes have been read; at least one segment is given if there is one.
  /// - Returns: Whole segments; empty if the next one is not there, or only a part of it.
  /// - Throws: `FolderFault` if the folder cannot be reached or read.
  public func segments(of replica: ReplicaID, after number: UInt64, byteCount: Int) async throws -> [[UInt8]] {
    try await onQueue { try $0.readSegments(of: replica, after: number, byteCount: byteCount) }
  }

  /// Does work with the files where it may take its time, one after the other.
  func onQueue<R: Sendable>(_ work: @escaping @Sendable (FolderTransport) throws -> R) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { [self] in
        continuation.resume(
          with: Result {
            try listing.requireReachable()
            return try work(self)
          })
      }
    }
  }
}

extension FolderTransport {
  /// The files with segments that a replica has in the folder.
  func segmentFiles(of replica: ReplicaID) throws -> SegmentFiles {
    SegmentFiles(try listing.entries(.replicas, of: replica))
  }

  private func readSegments(of replica: ReplicaID, after number: UInt64, byteCount: Int) throws -> [[UInt8]] {
    var (segments, size, listings) = ([[UInt8]](), 0, 1)
    var files = try segmentFiles(of: replica)
    var last = number
    while segments.isEmpty || size < byteCount, last < FolderName.greatestNumber {
      let found = try read(last + 1, of: replica, in: files)
      if found.segments.isEmpty {
        guard found.hasVanished, listings < FolderListing.mostListings else { break }
        files = try segmentFiles(of: replica)
        listings += 1
      }
      for segment in found.segments where segments.isEmpty || size < byteCount {
        segments.append(segment)
        size += segment.count
        last += 1
      }
    }
    return segments
  }

  /// Reads a segment and those behind it in the same file.
  ///
  /// - Returns: None if no file has it, and whether one was there a moment ago: its segments are in a pack by now.
  private func read(
    _ number: UInt64, of replica: ReplicaID, in files: SegmentFiles
  ) throws -> (segments: ArraySlice<[UInt8]>, hasVanished: Bool) {
    var hasVanished = false
    for file in files.files(with: number) {
      do {
        guard let segments = try disk.segments(of: file, by: replica) else { continue }
        return (segments.dropFirst(Int(number - file.range.first)), false)
      } catch Errno.noSuchFileOrDirectory {
        hasVanished = true
      } catch {
        throw FolderFault(error as? Errno ?? .ioError, at: file.entry.path)
      }
    }
    return ([], hasVanished)
  }
}
