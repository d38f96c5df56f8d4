import SystemPackage
import TallySystem

extension FolderTransport {
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
  ///   - replica: Whose stream it is; nothing happens if the folder has segments of it.
  /// - Throws: `FolderFault` if the folder cannot be reached or written.
  func begin(_ segment: [UInt8], of replica: ReplicaID) async throws {
    try await onQueue { transport in
      let directory = try transport.ownDirectory(.replicas, of: replica)
      guard try transport.segmentFiles(of: replica).files.isEmpty, let head = SegmentHead(of: segment) else { return }
      let range = FolderName.SegmentRange(first: head.number, last: head.number, digest: head.digest)
      let path = directory.appending(FolderName.segments(range).text)
      try FolderFault.at(path) { try transport.disk.publish(segment, as: path, isReplacing: true) }
      transport.noteOwnChange(.replicas, of: replica)
    }
  }

  private func store(_ segment: [UInt8], of replica: ReplicaID) throws -> AppendAnswer {
    let directory = try ownDirectory(.replicas, of: replica)
    guard SegmentFrame(segment[...])?.replica == replica, let head = SegmentHead(of: segment), head.number > 0 else {
      throw FolderFault(kind: .invalid, path: directory, reason: "the bytes are not one segment of the replica")
    }
    let range = FolderName.SegmentRange(first: head.number, last: head.number, digest: head.digest)
    let path = directory.appending(FolderName.segments(range).text)
    let entries = try listing.entries(.replicas, of: replica)
    if let answer = try answer(for: range, of: replica, among: entries) {
      // An attempt that stored it may have failed before its name was safe.
      if answer == .known { try FolderFault.at(directory) { try disk.flushDirectory(directory) } }
      return answer
    }
    disk.removeLeftOvers(entries)
    // A file of the name that is there was damaged, or it would be known.
    let isDamaged = entries.contains { $0.path == path }
    try FolderFault.at(path) { try disk.publish(segment, as: path, isReplacing: isDamaged) }
    noteOwnChange(.replicas, of: replica)
    return .stored
  }

  /// What a segment is to those that are stored; `nil` if it is the next one, or has to be stored again.
  private func answer(
    for range: FolderName.SegmentRange, of replica: ReplicaID, among entries: [FolderEntry]
  ) throws -> AppendAnswer? {
    // Own segments that a program has removed from this device to save room are stored.
    let head = SegmentFiles(entries + entries.compactMap(\.inPlaceOfPlaceholder)).head ?? .none
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
}

extension FolderTransport {
  /// The directory of this replica, created if it is missing.
  func ownDirectory(_ part: FolderListing.Part, of replica: ReplicaID) throws(FolderFault) -> FilePath {
    let directory = listing.directory(part, of: replica)
    try FolderFault.at(directory) {
      try disk.createDirectory(listing.space.appending(part.rawValue))
      try disk.createDirectory(directory)
    }
    return directory
  }

  /// Takes the files of this replica as known, so that a wait does not end because of them.
  func noteOwnChange(_ part: FolderListing.Part, of replica: ReplicaID) {
    // If they cannot be listed the wait ends without need.
    guard let entries = try? listing.entries(part, of: replica) else { return }
    seen.withLock { $0?.replace(part, of: replica, with: entries) }
  }
}

extension FolderEntry {
  /// The file for which this is a placeholder, as if it were there; `nil` if this is none.
  fileprivate var inPlaceOfPlaceholder: FolderEntry? {
    guard case .placeholder(let name) = name else { return nil }
    return FolderEntry(name, standingAt: self)
  }
}
