import LMDB
import TallySystem

/// What observations have cost so far.
public struct ObservationCounts: Hashable, Sendable {
  /// How often a whole view was read: once at the start of an observation, and again only where changes could not be
  /// listed one by one.
  public internal(set) var viewReadCount = 0
  /// How many tasks were looked up to follow changes.
  public internal(set) var taskLookupCount = 0
}

extension TaskStore {
  /// What the observations of this store have cost so far.
  public var observationCounts: ObservationCounts { observations.withLock { $0 } }

  /// Adds what one observation has cost since a moment.
  func note(_ counts: ObservationCounts, since before: ObservationCounts) {
    observations.withLock { all in
      all.viewReadCount += counts.viewReadCount - before.viewReadCount
      all.taskLookupCount += counts.taskLookupCount - before.taskLookupCount
    }
  }
}
