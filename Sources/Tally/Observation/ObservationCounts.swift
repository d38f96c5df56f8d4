import LMDB
import TallySystem

/// What observations have cost so far.
public struct ObservationCounts: Hashable, Sendable {
  /// How often a whole view was read: once at the start of an observation, and again only where changes could not be
  /// listed one by one.
  public internal(set) var viewReadCount: Int
  /// How many tasks were looked up to follow changes.
  public internal(set) var taskLookupCount: Int

  static let zero = ObservationCounts(viewReadCount: 0, taskLookupCount: 0)

  static func + (left: ObservationCounts, right: ObservationCounts) -> ObservationCounts {
    ObservationCounts(
      viewReadCount: left.viewReadCount + right.viewReadCount,
      taskLookupCount: left.taskLookupCount + right.taskLookupCount)
  }

  static func - (left: ObservationCounts, right: ObservationCounts) -> ObservationCounts {
    ObservationCounts(
      viewReadCount: left.viewReadCount - right.viewReadCount,
      taskLookupCount: left.taskLookupCount - right.taskLookupCount)
  }
}

extension TaskStore {
  /// What the observations of this store have cost so far.
  public var observationCounts: ObservationCounts { observations.withLock { $0 } }

  func note(_ counts: ObservationCounts) {
    observations.withLock { $0 = $0 + counts }
  }
}
