import Crypto
import Dispatch
public import SystemPackage
import TallySystem

/// A folder that some other program copies between devices, as the place of a space.
///
/// Each replica writes into directories of its own, and a file never changes once it has its name, so programs that copy
/// folders find no conflicts. Names that are not exactly ours are ignored: conflict copies, unfinished copies, placeholders.
///
/// The files are read on a queue and on a thread of its own, never on one of Swift's: a folder may be on a disk
/// that does not answer.
public final class FolderTransport: SyncTransport {
  // Constants.
  let listing: FolderListing
  let disk: FolderDisk
  private let queue = DispatchQueue(label: "tally.folder")
  /// The files that the caller knows; `nil` before it reads for the first time.
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
        let directory = transport.listing.directory(part)
        try FolderFault.at(directory) { try transport.disk.checkWritable(directory) }
      }
    }
  }

  private func createMissing() throws(FolderFault) {
    let space = listing.space
    let folder = space.parentOrCurrent
    try FolderListing.requireDirectory(folder, followingLink: true)
    try FolderFault.at(folder) { try disk.createDirectory(space) }
    try FolderFault.at(space) {
      for part in FolderListing.Part.allCases { try disk.createDirectory(listing.directory(part)) }
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
  ///   - replica: The author of the segments.
  ///   - number: The segments after this one; 0 for all.
  ///   - byteCount: The number of bytes after which reading stops; at least one segment is returned if there is one.
  /// - Returns: Whole segments; empty if the next one is absent, not whole or unreadable, which ``gaps(of:after:upTo:)``
  ///   distinguishes.
  /// - Throws: `FolderFault` if the folder cannot be reached.
  public func segments(of replica: ReplicaID, after number: UInt64, byteCount: Int) async throws -> [[UInt8]] {
    try await onQueue { try $0.readSegments(of: replica, after: number, byteCount: byteCount) }
  }

  /// Runs work with the files on a queue where it may block, one after the other.
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
    /// The segment and those after it in the same file; empty if no file has it whole.
    var segments: ArraySlice<[UInt8]> = []
    /// Whether a file vanished in the meantime, because its segments are now in a pack.
    var hasVanished = false
    /// The reason why a file that should have the segment cannot be read.
    var fault: FolderFault?
  }

  /// Reads a segment and those after it in the same file.
  private func read(_ number: UInt64, of replica: ReplicaID, in files: SegmentFiles) -> Found {
    var found = Found()
    for file in files.files(with: number) {
      do {
        guard let segments = try disk.segments(of: file, by: replica) else { continue }
        return Found(segments: segments.dropFirst(Int(number - file.range.first)))
      } catch Errno.noSuchFileOrDirectory {
        found.hasVanished = true
      } catch {
        found.fault = FolderFault(error, at: file.entry.path)
      }
    }
    return found
  }

  /// The segments behind a number that cannot be read, judged by the names of the files.
  ///
  /// Only the next segment is actually read; damage further on is found once everything before it has been merged.
  ///
  /// - Parameters:
  ///   - replica: The author of the segments.
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

  /// How many cards of this replica stay: while a new one is copied to other devices they need the old one.
  private static let storedCardCount = 2

  /// The newest card of each replica that is whole.
  ///
  /// - Returns: The sealed bytes, without the cards of replicas whose files cannot be read.
  /// - Throws: `FolderFault` if the folder cannot be reached.
  public func cards() async throws -> [ReplicaID: [UInt8]] {
    try await onQueue { transport in
      var cards: [ReplicaID: [UInt8]] = [:]
      for replica in try transport.listing.replicas(.replicas) {
        cards[replica] = try? transport.newestCard(of: replica)
      }
      return cards
    }
  }

  /// Stores a newer card of this replica, durably, and removes all but the one before it.
  ///
  /// - Parameters:
  ///   - card: The sealed bytes.
  ///   - replica: The owner of the card.
  ///   - number: Counts the cards of the replica, from 1.
  /// - Throws: `FolderFault` if the folder cannot be reached or written, or the bytes are not a card.
  public func putCard(_ card: [UInt8], of replica: ReplicaID, number: UInt64) async throws {
    try await onQueue { transport in
      let path = transport.listing.path(of: .card(number), .replicas, of: replica)
      guard (1...FolderName.greatestNumber).contains(number),
        SegmentFrame(card[...])?.isWhole(.card, by: replica, byteCount: card.count) == true
      else { throw FolderFault(kind: .invalid, path: path, reason: "the bytes are not a card of the replica") }
      // A second attempt may have sealed the same card again.
      try transport.publish(card, as: .card(number), .replicas, of: replica)
      for old in try transport.cardFiles(of: replica).dropFirst(Self.storedCardCount) {
        // The next time is as good.
        try? transport.disk.remove(old.path)
      }
      transport.recordOwnChange(.replicas, of: replica)
    }
  }

  /// The newest card that is whole.
  private func newestCard(of replica: ReplicaID) throws -> [UInt8]? {
    for file in try cardFiles(of: replica) {
      do {
        if let card = try disk.envelope(.card, at: file.path, by: replica) { return card }
      } catch Errno.noSuchFileOrDirectory {
        // Its replica has removed it meanwhile: there is a newer one, which the next exchange finds.
      } catch {
        throw FolderFault(error, at: file.path)
      }
    }
    return nil
  }

  /// The cards of a replica, newest first.
  private func cardFiles(of replica: ReplicaID) throws -> [FolderEntry] {
    let entries = try listing.entries(.replicas, of: replica)
    let cards = entries.compactMap { entry -> (number: UInt64, entry: FolderEntry)? in
      if case .card(let number) = entry.name { (number, entry) } else { nil }
    }
    return cards.sorted { $0.number > $1.number }.map(\.entry)
  }

  /// A hash of the names, lengths and times of the files of a replica.
  ///
  /// - Parameter replica: This replica.
  /// - Returns: The hash.
  /// - Throws: `FolderFault` if the folder cannot be reached or read.
  public func mark(of replica: ReplicaID) async throws -> [UInt8]? {
    try await onQueue { transport in
      var lines: [String] = []
      for part in FolderListing.Part.allCases {
        for entry in try transport.listing.entries(part, of: replica) {
          lines.append("\(entry.name.text) \(entry.byteCount) \(entry.modified)")
        }
      }
      return Array(SHA256.hash(data: Array(lines.sorted().joined(separator: "\n").utf8)))
    }
  }

  /// From how many segment files on packing is worth it.
  private static let mostFiles = 64
  /// Packing stops at this number of files.
  private static let fewFiles = 32
  /// The lengths of packs: small ones first, so that a large one is not written again for every few small files.
  private static let packSizesInBytes: [Int64] = [1 << 18, 1 << 20, 1 << 22]

  /// Joins small segment files of this replica into larger ones.
  ///
  /// A pack is durable before the files that it replaces are removed; readers meanwhile find either. After a crash, the next
  /// call removes files whose segments are in another one. Costs one listing if there is nothing to do.
  ///
  /// - Parameter replica: This replica: no other one may change its files.
  /// - Throws: `FolderFault` if the folder cannot be reached, read or written; no segment is lost.
  public func pack(_ replica: ReplicaID) async throws {
    try await onQueue { transport in
      var files = try transport.segmentFiles(of: replica)
      let count = files.files.count
      if try transport.removeCovered(files, of: replica) { files = try transport.segmentFiles(of: replica) }
      if files.files.count >= Self.mostFiles {
        for size in Self.packSizesInBytes where files.files.count > Self.fewFiles {
          try transport.join(files, into: size, of: replica)
          files = try transport.segmentFiles(of: replica)
        }
      }
      if files.files.count != count { transport.recordOwnChange(.replicas, of: replica) }
    }
  }

  /// Removes the files whose segments are in another one, which a crash has left.
  private func removeCovered(_ files: SegmentFiles, of replica: ReplicaID) throws -> Bool {
    var hasRemoved = false
    for pack in files.files where pack.range.count > 1 {
      let covered = files.files.filter { pack.range.covers($0.range) }
      guard !covered.isEmpty, let segments = try segments(of: pack, by: replica) else { continue }
      for file in covered {
        // Another stream under the same name is not ours to remove.
        let last = SegmentHead(of: segments[Int(file.range.last - pack.range.first)])
        guard last == file.range.head else { continue }
        try FolderFault.at(file.entry.path) { try disk.remove(file.entry.path) }
        hasRemoved = true
      }
    }
    return hasRemoved
  }

  /// Writes a pack for each group of neighbours that together are not too large.
  private func join(_ files: SegmentFiles, into size: Int64, of replica: ReplicaID) throws {
    var group: [SegmentFiles.File] = []
    for file in files.files {
      let isNext = group.last.map { $0.range.last + 1 == file.range.first } ?? true
      if !isNext || group.reduce(file.entry.byteCount, { $0 + $1.entry.byteCount }) > size {
        try join(group, of: replica)
        group = []
      }
      group.append(file)
    }
    try join(group, of: replica)
  }

  private func join(_ group: [SegmentFiles.File], of replica: ReplicaID) throws {
    guard let first = group.first?.range, let last = group.last?.range, group.count > 1 else { return }
    var bytes: [UInt8] = []
    for file in group {
      guard let segments = try segments(of: file, by: replica) else { return }
      for segment in segments { bytes += segment }
    }
    let range = FolderName.SegmentRange(first: first.first, last: last.last, digest: last.digest)
    // Readers refuse a pack whose segments do not follow each other.
    guard FolderDisk.segments(in: bytes, range: range, of: replica) != nil else { return }
    try publish(bytes, as: .segments(range), .replicas, of: replica)
    for file in group {
      try FolderFault.at(file.entry.path) { try disk.remove(file.entry.path) }
    }
  }

  private func segments(of file: SegmentFiles.File, by replica: ReplicaID) throws -> [[UInt8]]? {
    try FolderFault.at(file.entry.path) { try disk.segments(of: file, by: replica) }
  }

  /// Stores each segment as a file of its own, durably.
  ///
  /// A damaged file of the same segment is replaced.
  ///
  /// - Parameters:
  ///   - segments: The sealed bytes, whose numbers follow each other.
  ///   - replica: Whose stream it is.
  /// - Returns: For each one, up to the first that is not there now, whether it is stored or why not; a full disk refuses.
  /// - Throws: `FolderFault` if the folder cannot be reached or written, or bytes are not a segment of the replica.
  public func append(_ segments: [[UInt8]], of replica: ReplicaID) async throws -> [AppendAnswer] {
    try await onQueue { transport in
      var answers: [AppendAnswer] = []
      for segment in segments {
        do {
          answers.append(try transport.store(segment, of: replica))
        } catch let fault as FolderFault where fault.kind == .full {
          answers.append(.refused(fault.description))
        }
        if answers.last?.isThere != true { break }
      }
      return answers
    }
  }

  /// Stores a segment as the first one of a stream, whatever its number.
  ///
  /// The segments before it are at another place, and a snapshot covers them.
  ///
  /// - Parameters:
  ///   - segment: The sealed bytes.
  ///   - replica: The replica of the stream; nothing happens if the folder has segments of it.
  /// - Throws: `FolderFault` if the folder cannot be reached or written.
  func begin(_ segment: [UInt8], of replica: ReplicaID) async throws {
    try await onQueue { transport in
      guard try transport.segmentFiles(of: replica).files.isEmpty, let head = SegmentHead(of: segment) else { return }
      try transport.publish(segment, as: .segments(FolderName.SegmentRange(head)), .replicas, of: replica)
      transport.recordOwnChange(.replicas, of: replica)
    }
  }

  private func store(_ segment: [UInt8], of replica: ReplicaID) throws -> AppendAnswer {
    // Fails if the folder has disappeared since the call began: a stream without files would count as lost.
    let directory = try ownDirectory(.replicas, of: replica)
    guard SegmentFrame(segment[...])?.replica == replica, let head = SegmentHead(of: segment), head.number > 0 else {
      throw FolderFault(kind: .invalid, path: directory, reason: "the bytes are not one segment of the replica")
    }
    let range = FolderName.SegmentRange(head)
    let path = listing.path(of: .segments(range), .replicas, of: replica)
    let entries = try listing.entries(.replicas, of: replica)
    if let answer = try answer(for: range, of: replica, among: entries) {
      // An attempt that stored it may have failed before its name was safe.
      if answer == .known { try FolderFault.at(directory) { try disk.flushDirectory(directory) } }
      return answer
    }
    disk.removeLeftOvers(entries)
    // An existing file of the name was damaged, or it would be known.
    let isDamaged = entries.contains { $0.fileName == FolderName.segments(range).text }
    try FolderFault.at(path) { try disk.publish(segment, as: path, isReplacing: isDamaged) }
    recordOwnChange(.replicas, of: replica)
    return .stored
  }

  /// How a segment relates to the stored ones; `nil` if it is the next one, or has to be stored again.
  private func answer(
    for range: FolderName.SegmentRange, of replica: ReplicaID, among entries: [FolderEntry]
  ) throws -> AppendAnswer? {
    // Own segments that a program has removed from this device to save room are stored.
    let head = SegmentFiles(entries + entries.compactMap(\.representedFile)).head ?? .none
    if range.last == head.number + 1 { return nil }
    let files = SegmentFiles(entries).files(with: range.last)
    // A file that is too short for its name has to be stored again.
    if files.isEmpty, entries.contains(where: { $0.name == .segments(range) }) { return nil }
    guard range.last <= head.number, !files.isEmpty else {
      return head.number == range.last ? (head.digest == range.digest ? .known : .fork) : .gap(head)
    }
    let same = files.filter { $0.range.last == range.last }
    if same.contains(where: { $0.range.digest != range.digest }) { return .fork }
    for file in files {
      let segments = try FolderFault.at(file.entry.path) { try disk.segments(of: file, by: replica) }
      guard let segments else { continue }
      let stored = SegmentHead(of: segments[Int(range.last - file.range.first)])
      return stored?.digest == range.digest ? .known : .fork
    }
    return nil
  }

  /// The directory of this replica, created if it is missing.
  func ownDirectory(_ part: FolderListing.Part, of replica: ReplicaID) throws(FolderFault) -> FilePath {
    let directory = listing.directory(part, of: replica)
    try FolderFault.at(directory) {
      try disk.createDirectory(listing.directory(part))
      try disk.createDirectory(directory)
    }
    return directory
  }

  /// Publishes a file of a replica, or replaces one; the directory is created if it is missing.
  func publish(
    _ bytes: [UInt8], as name: FolderName, _ part: FolderListing.Part, of replica: ReplicaID
  ) throws(FolderFault) {
    _ = try ownDirectory(part, of: replica)
    let path = listing.path(of: name, part, of: replica)
    try FolderFault.at(path) { try disk.publish(bytes, as: path, isReplacing: true) }
  }

  /// Records the files of this replica as known, so that a wait does not end because of them.
  func recordOwnChange(_ part: FolderListing.Part, of replica: ReplicaID) {
    // If they cannot be listed the wait ends without need.
    guard let entries = try? listing.entries(part, of: replica) else { return }
    seen.withLock { $0?.replace(part, of: replica, with: entries) }
  }
}

extension FolderEntry {
  /// The segments that the file should have, by its name; `nil` for other files.
  fileprivate var range: FolderName.SegmentRange? { if case .segments(let range) = name { range } else { nil } }

  /// The segments of the file for which this is a placeholder; `nil` for others.
  fileprivate var rangeOfPlaceholder: FolderName.SegmentRange? {
    if case .placeholder(.segments(let range)) = name { range } else { nil }
  }

  /// The file for which this is a placeholder, as if it were there; `nil` if this is none.
  fileprivate var representedFile: FolderEntry? {
    guard case .placeholder(let name) = name else { return nil }
    return FolderEntry(name, replacing: self)
  }
}

extension FolderName.SegmentRange {
  fileprivate func overlaps(_ numbers: ClosedRange<UInt64>) -> Bool { numbers.overlaps(first...last) }
}
