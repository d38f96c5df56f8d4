import SystemPackage

/// All files of a space that count, at one moment: two scans differ if something has changed.
struct FolderScan: Hashable, Sendable {
  /// The cards and segments of each replica.
  private(set) var replicas: [ReplicaID: [FolderEntry]]
  /// The parts of snapshots.
  private(set) var snapshots: [ReplicaID: [FolderEntry]]
  /// Why the cards and segments of some replicas cannot be listed; those of all others can.
  private(set) var unreadable: [ReplicaID: FolderFault] = [:]

  /// Looks at the files.
  init(_ listing: FolderListing) throws(FolderFault) {
    try listing.requireReachable()
    (replicas, unreadable) = try Self.entries(.replicas, in: listing)
    (snapshots, _) = try Self.entries(.snapshots, in: listing)
  }

  /// Takes a change of this replica as known, so that nobody is woken for it.
  mutating func replace(_ part: FolderListing.Part, of replica: ReplicaID, with entries: [FolderEntry]) {
    let entries = Self.counting(entries)
    switch part {
    case .replicas: replicas[replica] = entries
    case .snapshots: snapshots[replica] = entries
    }
  }

  private static func entries(
    _ part: FolderListing.Part, in listing: FolderListing
  ) throws(FolderFault) -> ([ReplicaID: [FolderEntry]], [ReplicaID: FolderFault]) {
    var (all, faults): ([ReplicaID: [FolderEntry]], [ReplicaID: FolderFault]) = ([:], [:])
    for replica in try listing.replicas(part) {
      do throws(FolderFault) {
        all[replica] = counting(try listing.entries(part, of: replica))
      } catch {
        faults[replica] = error
      }
    }
    return (all, faults)
  }

  /// The files that say something to others, in an order that does not depend on the directory's.
  private static func counting(_ entries: [FolderEntry]) -> [FolderEntry] {
    entries.filter { entry in
      if case .temporary = entry.name { false } else { true }
    }.sorted { $0.path.string < $1.path.string }
  }
}
