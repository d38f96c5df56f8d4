import SystemPackage
import TallySystem

/// One wait for a change in the folder of a space, on a thread of its own.
final class FolderWait: Sendable {
  // Constants.
  private let listing: FolderListing
  private let watch: DirectoryWatch
  private let deadline: ContinuousClock.Instant
  private let seen: Monitor<FolderScan?>
  private let isCancelled = Monitor(false)

  /// How often the folder is looked at although the system reports changes: it may miss some.
  private static let interval = Duration.seconds(30)
  /// How often, where the system does not report changes.
  private static let blindInterval = Duration.seconds(1)
  /// How long to wait after an event, in microseconds: one change is several writes.
  private static let settlingTime: UInt32 = 1_000

  /// Prepares a wait.
  ///
  /// - Parameters:
  ///   - listing: The files.
  ///   - limit: How long to wait at most.
  ///   - seen: What the caller has seen; `nil` for the files that are there when the wait begins. The last look replaces it.
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
    var sees = watchAll()
    // After the watch has begun, so that nothing is missed in between.
    var scan = try FolderScan(listing)
    seen.withLock { $0 = $0 ?? scan }
    while true {
      if isCancelled.withLock(\.self) { throw CancellationError() }
      // The caller may look meanwhile, and writes files of its own.
      let isChanged = seen.withLock { known in
        defer { known = scan }
        return known != scan
      }
      if isChanged || deadline <= .now { return isChanged }
      let nextLook = ContinuousClock.now + (sees ? Self.interval : Self.blindInterval)
      var hasChanged = false
      while !hasChanged, .now < min(nextLook, deadline), !isCancelled.withLock(\.self) {
        hasChanged = watch.wait(atMost: min(nextLook, deadline) - .now)
      }
      if hasChanged { pause(microseconds: Self.settlingTime) }
      sees = watchAll()
      scan = try FolderScan(listing)
    }
  }

  /// Watches every directory of the space, new ones included.
  ///
  /// - Returns: Whether the system reports the changes in all of them.
  private func watchAll() -> Bool {
    var directories = [listing.space]
    for part in FolderListing.Part.allCases {
      directories.append(listing.space.appending(part.rawValue))
      directories += ((try? listing.replicas(part)) ?? []).map { listing.directory(part, of: $0) }
    }
    // One that is not there is created in one that is watched.
    let unwatched = directories.filter { !watch.watchNames(in: $0) }
    return unwatched.allSatisfy { (try? FolderDisk.isDirectory($0)) == false }
  }
}
