import Foundation
import SystemPackage
import TallySystem

extension FolderTransport {
  /// The snapshots of which every part is whole, newest first.
  ///
  /// - Returns: Their names.
  /// - Throws: `FolderFault` if the folder cannot be reached or read.
  public func snapshots() async throws -> [SnapshotName] {
    try await onQueue { transport in
      var names: [SnapshotName] = []
      for replica in try transport.listing.replicas(.snapshots) {
        names += transport.snapshots(of: replica).filter { $0.value.count == $0.key.partCount }.keys
      }
      return names.sorted { ($0.number, $0.replica) > ($1.number, $1.replica) }
    }
  }

  /// The snapshots that lack a part and are newer than all complete snapshots of their replicas.
  ///
  /// Older ones were left by attempts to publish that did not finish.
  ///
  /// - Returns: Their names, with the numbers of the parts that are whole.
  /// - Throws: `FolderFault` if the folder cannot be reached.
  public func incompleteSnapshots() async throws -> [SnapshotName: [Int]] {
    try await onQueue { transport in
      var incomplete: [SnapshotName: [Int]] = [:]
      for replica in try transport.listing.replicas(.snapshots) {
        let found = transport.snapshots(of: replica)
        let newest = found.filter { $0.value.count == $0.key.partCount }.keys.map(\.number).max() ?? 0
        incomplete.merge(found.filter { $0.key.number > newest }) { first, _ in first }
      }
      return incomplete
    }
  }

  /// Reads one part of a snapshot.
  ///
  /// - Parameters:
  ///   - number: The number of the part, from 0.
  ///   - name: The name of the snapshot.
  /// - Returns: The sealed bytes.
  /// - Throws: `FolderFault` if it is not there as a whole, or the folder cannot be reached or read.
  public func part(_ number: Int, of name: SnapshotName) async throws -> [UInt8] {
    try await onQueue { transport in
      let path = try transport.listing.path(of: transport.fileName(of: number, name), .snapshots, of: name.replica)
      let part = try FolderFault.at(path) {
        try transport.listing.entries(.snapshots, of: name.replica).contains { $0.path == path }
          ? transport.disk.envelope(.snapshotPart, at: path, by: name.replica) : nil
      }
      guard let part else {
        throw FolderFault(kind: .missing, path: path, reason: "the part of the snapshot is not whole")
      }
      return part
    }
  }

  /// Stores one part of a snapshot, durably.
  ///
  /// - Parameters:
  ///   - part: The sealed bytes.
  ///   - number: The number of the part, from 0.
  ///   - name: The name of the snapshot.
  /// - Throws: `FolderFault` if the folder cannot be reached or written, or the bytes are not a part of a snapshot.
  public func putPart(_ part: [UInt8], number: Int, of name: SnapshotName) async throws {
    try await onQueue { transport in
      let file = try transport.fileName(of: number, name)
      guard SegmentFrame(part[...])?.isWhole(.snapshotPart, by: name.replica, byteCount: part.count) == true else {
        let path = transport.listing.path(of: file, .snapshots, of: name.replica)
        throw FolderFault(kind: .invalid, path: path, reason: "the bytes are not a part of a snapshot of the replica")
      }
      transport.disk.removeLeftOvers(try transport.listing.entries(.snapshots, of: name.replica))
      // A second attempt may have sealed the same part again.
      try transport.publish(part, as: file, .snapshots, of: name.replica)
      transport.recordOwnChange(.snapshots, of: name.replica)
    }
  }

  /// Deletes segment files of this replica up to a number, and snapshots of it.
  ///
  /// A file with segments after the number stays, and so does the last file: others must see where the stream ends.
  ///
  /// - Parameters:
  ///   - replica: This replica; snapshots of others are left alone.
  ///   - number: The last segment to delete; 0 for none.
  ///   - snapshots: The snapshots to delete.
  /// - Throws: `FolderFault` if the folder cannot be reached or written; some may be deleted.
  public func delete(segmentsOf replica: ReplicaID, upTo number: UInt64, snapshots: [SnapshotName]) async throws {
    try await onQueue { transport in
      let files = try transport.segmentFiles(of: replica)
      let last = files.head?.number ?? 0
      // The last file stays: it shows where the stream continues.
      for file in files.files where file.range.last <= number && file.range.last < last {
        try FolderFault.at(file.entry.path) { try transport.disk.remove(file.entry.path) }
      }
      transport.recordOwnChange(.replicas, of: replica)
      let stems = Set(snapshots.filter { $0.replica == replica }.compactMap { FolderName.SnapshotStem($0) })
      for entry in try transport.listing.entries(.snapshots, of: replica) {
        guard case .part(_, let stem) = entry.name, stems.contains(stem) else { continue }
        try FolderFault.at(entry.path) { try transport.disk.remove(entry.path) }
      }
      transport.recordOwnChange(.snapshots, of: replica)
    }
  }

  /// The name of the file of a part.
  private func fileName(of part: Int, _ name: SnapshotName) throws -> FolderName {
    guard let stem = FolderName.SnapshotStem(name), stem.hasPart(part) else {
      let directory = listing.directory(.snapshots, of: name.replica)
      throw FolderFault(kind: .invalid, path: directory, reason: "a snapshot has no such part or name")
    }
    return .part(part, of: stem)
  }

  /// The snapshots of a replica, with the numbers of their whole parts; empty if the files cannot be listed.
  private func snapshots(of replica: ReplicaID) -> [SnapshotName: [Int]] {
    var parts: [SnapshotName: [Int]] = [:]
    for entry in (try? listing.entries(.snapshots, of: replica)) ?? [] {
      switch entry.name {
      case .part(let number, let stem):
        parts[SnapshotName(of: replica, stem), default: []] += isWhole(entry, by: replica) ? [number] : []
      case .placeholder(.part(_, let stem)): parts[SnapshotName(of: replica, stem), default: []] += []
      default: break
      }
    }
    return parts
  }

  /// Whether a file is as long as its first bytes say.
  private func isWhole(_ entry: FolderEntry, by replica: ReplicaID) -> Bool {
    guard let (bytes, size) = try? disk.readStart(of: entry.path, byteCount: EnvelopeHeader.byteCount) else {
      return false
    }
    return SegmentFrame(bytes[...])?.isWhole(.snapshotPart, by: replica, byteCount: Int(size)) == true
  }

  private static let longestWaitInSeconds = 1e9

  /// Returns when the files differ from those that `heads()` has seen last, or when the time is over.
  ///
  /// Files that this transport has written count as seen.
  ///
  /// - Parameter seconds: How long to wait at most.
  /// - Returns: Whether the files differ.
  /// - Throws: `CancellationError` if the task is cancelled, or `FolderFault` if the folder cannot be reached.
  @discardableResult
  public func waitForChanges(seconds: Double) async throws -> Bool {
    // A comparison with NaN is false.
    let seconds = seconds > 0 ? min(seconds, Self.longestWaitInSeconds) : 0
    let wait = FolderWait(for: listing, atMost: .seconds(seconds), knowing: seen)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread {
          nameCurrentThread("tally.folder")
          continuation.resume(with: Result { try wait.run() })
        }
      }
    } onCancel: {
      wait.cancel()
    }
  }
}

extension SnapshotName {
  fileprivate init(of replica: ReplicaID, _ stem: FolderName.SnapshotStem) {
    self.init(replica: replica, number: stem.number, digest: stem.digest, partCount: stem.partCount)
  }
}

/// The segment files of one replica, by the numbers that are in their names.
struct SegmentFiles {
  /// A file, and the segments that its name says it has.
  struct File: Hashable {
    let range: FolderName.SegmentRange
    let entry: FolderEntry
  }

  /// In the order of their first segments, larger files first.
  let files: [File]

  /// Selects the files that have segments and are long enough for them.
  init(_ entries: [FolderEntry]) {
    files = entries.compactMap { entry in
      guard case .segments(let range) = entry.name, range.count <= entry.byteCount / Int64(SegmentFrame.leastByteCount)
      else { return nil }
      return File(range: range, entry: entry)
    }.sorted { Self.areInOrder($0.range, $1.range) }
  }

  /// The end of the run without gaps that the first file begins.
  ///
  /// A file after a gap counts when the missing ones have arrived. The first need not be number 1: old ones are deleted.
  var head: SegmentHead? {
    var head: SegmentHead?
    for range in files.map(\.range) {
      guard let end = head?.number else {
        head = range.head
        continue
      }
      guard range.first <= end + 1 else { break }
      if range.last > end { head = range.head }
    }
    return head
  }

  /// The files with a segment of a number.
  func files(with number: UInt64) -> [File] {
    files.prefix { $0.range.first <= number }.filter { $0.range.last >= number }
  }

  /// The runs of missing numbers after a number, up to the last one that a file has or that is known to exist.
  func missing(after number: UInt64, upTo last: UInt64) -> [ClosedRange<UInt64>] {
    var (missing, next): ([ClosedRange<UInt64>], UInt64) = ([], number + 1)
    for range in files.map(\.range) where range.last >= next {
      if range.first > next { missing.append(next...range.first - 1) }
      next = range.last + 1
    }
    if next <= last { missing.append(next...last) }
    return missing
  }

  private static func areInOrder(_ left: FolderName.SegmentRange, _ right: FolderName.SegmentRange) -> Bool {
    if left.first != right.first { return left.first < right.first }
    if left.last != right.last { return left.last > right.last }
    // Two streams under one name: every replica chooses the same one.
    return left.digest.lexicographicallyPrecedes(right.digest)
  }
}

/// One wait for a change in the folder of a space, on a thread of its own.
final class FolderWait: Sendable {
  // Constants.
  private let listing: FolderListing
  private let watch: DirectoryWatch
  private let deadline: ContinuousClock.Instant
  private let seen: Monitor<FolderScan?>
  private let isCancelled = Monitor(false)

  /// The time between two listings where the system reports changes: it may miss some.
  private static let interval = Duration.seconds(30)
  /// The time between two listings where the system does not report changes.
  private static let blindInterval = Duration.seconds(1)
  /// The wait after an event, in microseconds: one change is several writes.
  private static let settlingTime: UInt32 = 1_000

  /// Prepares a wait.
  ///
  /// - Parameters:
  ///   - listing: The files.
  ///   - limit: How long to wait at most.
  ///   - seen: The files that the caller has seen; `nil` for those at the start of the wait. The last listing replaces
  ///     it.
  init(for listing: FolderListing, atMost limit: Duration, knowing seen: Monitor<FolderScan?>) {
    (self.listing, self.seen) = (listing, seen)
    deadline = .after(limit)
    watch = DirectoryWatch(isBlind: RemoteFilesystem.contains(listing.space))
  }

  /// Ends the wait, now or as soon as it begins.
  func cancel() {
    isCancelled.withLock { $0 = true }
    watch.interrupt()
  }

  /// Waits until the files differ, or the time is over.
  ///
  /// - Returns: Whether the files differ.
  /// - Throws: `CancellationError`, or a `FolderFault`.
  func run() throws -> Bool {
    var isWatchingAll = watchAll()
    // After the watch has begun, so that nothing is missed in between.
    var scan = try FolderScan(listing)
    seen.withLock { $0 = $0 ?? scan }
    while true {
      if isCancelled.withLock(\.self) { throw CancellationError() }
      // The caller may list the files meanwhile, and writes files of its own.
      let isChanged = seen.withLock { known in
        defer { known = scan }
        return known != scan
      }
      if isChanged || deadline <= .now { return isChanged }
      let nextListing = ContinuousClock.now + (isWatchingAll ? Self.interval : Self.blindInterval)
      var hasChanged = false
      while !hasChanged, .now < min(nextListing, deadline), !isCancelled.withLock(\.self) {
        hasChanged = watch.wait(atMost: min(nextListing, deadline) - .now)
      }
      if hasChanged { pause(microseconds: Self.settlingTime) }
      isWatchingAll = watchAll()
      scan = try FolderScan(listing)
    }
  }

  /// Watches every directory of the space, new ones included.
  ///
  /// - Returns: Whether the system reports the changes in all of them.
  private func watchAll() -> Bool {
    var directories = [listing.space]
    for part in FolderListing.Part.allCases {
      directories.append(listing.directory(part))
      directories += ((try? listing.replicas(part)) ?? []).map { listing.directory(part, of: $0) }
    }
    // A directory that is missing will be created in one that is watched.
    let unwatched = directories.filter { !watch.watchNames(in: $0) }
    return unwatched.allSatisfy { (try? FolderDisk.isDirectory($0)) == false }
  }
}
