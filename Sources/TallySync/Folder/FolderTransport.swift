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

  /// Checks that this user can write to the folder of the space.
  ///
  /// - Throws: `FolderFault` if not.
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
    let reason: Errno?
    do throws(Errno) {
      reason = try folder.stat().type == .directory ? nil : .notDirectory
    } catch {
      reason = error
    }
    if let reason { throw FolderFault(kind: .unreachable, path: folder, reason: "\(reason)") }
    try FolderFault.at(folder) { try disk.createDirectory(space) }
    try FolderFault.at(space) {
      for path in FolderListing.Part.allCases.map({ space.appending($0.rawValue) }) {
        try disk.createDirectory(path)
      }
    }
  }

  /// The last segment of each replica, from the names of the files alone.
  ///
  /// - Returns: The heads, without replicas whose files cannot be listed.
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
  /// - Returns: Whole segments; empty if the next one is absent, not whole or unreadable, which ``gaps(of:after:upTo:)``
  ///   distinguishes.
  /// - Throws: `FolderFault` if the folder cannot be reached.
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
    // If the files cannot be listed, `gaps` says why.
    guard var files = try? segmentFiles(of: replica) else { return [] }
    var last = number
    while segments.isEmpty || size < byteCount, last < FolderName.greatestNumber {
      let found = read(last + 1, of: replica, in: files)
      if found.segments.isEmpty {
        guard found.hasVanished, listings < FolderListing.mostListings, let now = try? segmentFiles(of: replica) else {
          break
        }
        files = now
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

  /// The result of reading a segment.
  private struct Found {
    /// The segment and those behind it in the same file; empty if no file has it whole.
    var segments: ArraySlice<[UInt8]> = []
    /// Whether a file vanished in the meantime, because its segments are now in a pack.
    var hasVanished = false
    /// Why a file that should have the segment cannot be read.
    var fault: FolderFault?
  }

  /// Reads a segment and those behind it in the same file.
  private func read(_ number: UInt64, of replica: ReplicaID, in files: SegmentFiles) -> Found {
    var found = Found()
    for file in files.files(with: number) {
      do {
        guard let segments = try disk.segments(of: file, by: replica) else { continue }
        return Found(segments: segments.dropFirst(Int(number - file.range.first)))
      } catch Errno.noSuchFileOrDirectory {
        found.hasVanished = true
      } catch {
        found.fault = FolderFault(error as? Errno ?? .ioError, at: file.entry.path)
      }
    }
    return found
  }
}

// MARK: - What is missing

extension FolderTransport {
  /// The segments behind a number that cannot be read, judged by the names of the files.
  ///
  /// Only the next segment is actually read; damage further on is found once everything before it has been merged.
  ///
  /// - Parameters:
  ///   - replica: Whose.
  ///   - number: The last segment that was read; 0 for none.
  ///   - last: The last segment that is known to exist; there may be files with later ones.
  /// - Returns: The gaps, ascending; empty if nothing is missing.
  /// - Throws: `FolderFault` if the folder cannot be reached.
  public func gaps(of replica: ReplicaID, after number: UInt64, upTo last: UInt64) async throws -> [PlaceGap] {
    try await onQueue { transport in
      let entries: [FolderEntry]
      do throws(FolderFault) {
        entries = try transport.listing.entries(.replicas, of: replica)
      } catch {
        return [PlaceGap(number < last ? number + 1...last : nil, .unreadable("\(error)"))]
      }
      return transport.gaps(of: replica, after: number, upTo: last, among: entries)
    }
  }

  private func gaps(
    of replica: ReplicaID, after number: UInt64, upTo last: UInt64, among entries: [FolderEntry]
  ) -> [PlaceGap] {
    guard number < FolderName.greatestNumber else { return [] }
    let files = SegmentFiles(entries)
    let (placeholders, parts) = (entries.compactMap(\.rangeOfPlaceholder), entries.compactMap(\.range))
    var gaps: [PlaceGap] = []
    let next = read(number + 1, of: replica, in: files)
    if next.segments.isEmpty, !files.files(with: number + 1).isEmpty, !next.hasVanished {
      gaps.append(PlaceGap(number + 1...number + 1, next.fault.map { .unreadable("\($0)") } ?? .notWhole))
    }
    let named = (placeholders + parts).map(\.last).max() ?? 0
    for missing in files.missing(after: number, upTo: min(max(named, last), FolderName.greatestNumber - 1)) {
      let cause: PlaceGap.Cause =
        placeholders.contains { $0.overlaps(missing) }
        ? .notFetched : parts.contains { $0.overlaps(missing) } ? .notWhole : .missing
      gaps.append(PlaceGap(missing, cause))
    }
    return gaps
  }
}

extension FolderEntry {
  /// The segments that the file should have, by its name; `nil` for other files.
  fileprivate var range: FolderName.SegmentRange? { if case .segments(let range) = name { range } else { nil } }

  /// The segments of the file for which this is a placeholder; `nil` for others.
  fileprivate var rangeOfPlaceholder: FolderName.SegmentRange? {
    if case .placeholder(.segments(let range)) = name { range } else { nil }
  }
}

extension FolderName.SegmentRange {
  fileprivate func overlaps(_ numbers: ClosedRange<UInt64>) -> Bool { numbers.overlaps(first...last) }
}
