import SystemPackage

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
  ///   - number: Which, from 0.
  ///   - name: Of the snapshot.
  /// - Returns: The sealed bytes.
  /// - Throws: `FolderFault` if it is not there as a whole, or the folder cannot be reached or read.
  public func part(_ number: Int, of name: SnapshotName) async throws -> [UInt8] {
    try await onQueue { transport in
      let path = try transport.path(of: number, name)
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
  ///   - number: Which, from 0.
  ///   - name: Of the snapshot.
  /// - Throws: `FolderFault` if the folder cannot be reached or written, or the bytes are not a part of a snapshot.
  public func putPart(_ part: [UInt8], number: Int, of name: SnapshotName) async throws {
    try await onQueue { transport in
      let path = try transport.path(of: number, name)
      guard SegmentFrame(part[...])?.isWhole(.snapshotPart, by: name.replica, byteCount: part.count) == true else {
        throw FolderFault(kind: .invalid, path: path, reason: "the bytes are not a part of a snapshot of the replica")
      }
      _ = try transport.ownDirectory(.snapshots, of: name.replica)
      transport.disk.removeLeftOvers(try transport.listing.entries(.snapshots, of: name.replica))
      // A second attempt may have sealed the same part again.
      try FolderFault.at(path) { try transport.disk.publish(part, as: path, isReplacing: true) }
      transport.noteOwnChange(.snapshots, of: name.replica)
    }
  }

  /// Deletes segment files of this replica up to a number, and snapshots of it.
  ///
  /// A file that goes on behind the number stays, and so does the last one: others must see where the stream ends.
  ///
  /// - Parameters:
  ///   - replica: Whose; snapshots of others are left alone.
  ///   - number: The last segment to delete; 0 for none.
  ///   - snapshots: The snapshots to delete.
  /// - Throws: `FolderFault` if the folder cannot be reached or written; some may be deleted.
  public func delete(segmentsOf replica: ReplicaID, upTo number: UInt64, snapshots: [SnapshotName]) async throws {
    try await onQueue { transport in
      let files = try transport.segmentFiles(of: replica)
      let last = files.head?.number ?? 0
      // The last file stays, or nobody would know where the stream goes on.
      for file in files.files where file.range.last <= number && file.range.last < last {
        try FolderFault.at(file.entry.path) { try transport.disk.remove(file.entry.path) }
      }
      transport.noteOwnChange(.replicas, of: replica)
      let stems = Set(snapshots.filter { $0.replica == replica }.compactMap { FolderName.SnapshotStem($0) })
      for entry in try transport.listing.entries(.snapshots, of: replica) {
        guard case .part(_, let stem) = entry.name, stems.contains(stem) else { continue }
        try FolderFault.at(entry.path) { try transport.disk.remove(entry.path) }
      }
      transport.noteOwnChange(.snapshots, of: replica)
    }
  }

  /// Where a part is.
  private func path(of part: Int, _ name: SnapshotName) throws -> FilePath {
    let directory = listing.directory(.snapshots, of: name.replica)
    guard let stem = FolderName.SnapshotStem(name), stem.hasPart(part) else {
      throw FolderFault(kind: .invalid, path: directory, reason: "a snapshot has no such part or name")
    }
    return directory.appending(FolderName.part(part, of: stem).text)
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
}

extension SnapshotName {
  fileprivate init(of replica: ReplicaID, _ stem: FolderName.SnapshotStem) {
    self.init(replica: replica, number: stem.number, digest: stem.digest, partCount: stem.partCount)
  }
}
