import SystemPackage

extension FolderTransport {
  /// From how many segment files on packing is worth it.
  private static let mostFiles = 64
  /// With so few, packing stops.
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
      if files.files.count != count { transport.noteOwnChange(.replicas, of: replica) }
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
    let path = listing.directory(.replicas, of: replica).appending(FolderName.segments(range).text)
    try FolderFault.at(path) { try disk.publish(bytes, as: path, isReplacing: true) }
    for file in group {
      try FolderFault.at(file.entry.path) { try disk.remove(file.entry.path) }
    }
  }

  private func segments(of file: SegmentFiles.File, by replica: ReplicaID) throws -> [[UInt8]]? {
    try FolderFault.at(file.entry.path) { try disk.segments(of: file, by: replica) }
  }
}
