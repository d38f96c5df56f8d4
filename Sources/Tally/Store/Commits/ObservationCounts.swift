import LMDB
import TallySystem

/// The cost of observations so far.
public struct ObservationCounts: Hashable, Sendable {
  /// How often a whole view was read.
  ///
  /// Each observation reads it once at its start, and again only if changes could not be listed one by one.
  public internal(set) var viewReadCount = 0
  /// How many tasks were looked up to follow changes.
  public internal(set) var taskLookupCount = 0
}

extension TaskStore {
  /// The cost of all observations of this store so far.
  public var observationCounts: ObservationCounts { observations.withLock { $0 } }

  /// Adds the cost of one observation since an earlier moment.
  func note(_ counts: ObservationCounts, since before: ObservationCounts) {
    observations.withLock { all in
      all.viewReadCount += counts.viewReadCount - before.viewReadCount
      all.taskLookupCount += counts.taskLookupCount - before.taskLookupCount
    }
  }
}
