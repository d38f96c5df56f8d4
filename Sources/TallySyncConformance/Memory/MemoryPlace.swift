import TallySync

/// A place in memory, with switches for tests of what else a place may do.
public actor MemoryPlace {
  /// Everything that the place holds.
  public struct Contents: Sendable {
    struct Replica: Sendable {
      /// The segments that are not deleted.
      var segments: [(number: UInt64, bytes: [UInt8])] = []
      var head = SegmentHead.none
      var card: (number: UInt64, bytes: [UInt8])?
    }

    var replicas: [ReplicaID: Replica] = [:]
    var parts: [SnapshotName: [Int: [UInt8]]] = [:]
  }

  /// The place does not answer.
  public struct Unreachable: Error, Hashable {}

  /// The bytes are not a segment.
  public struct NoSegment: Error, Hashable {}

  /// The part of a snapshot is not there.
  public struct Missing: Error, Hashable {}

  private var contents = Contents()
  private var isReachable = true
  private var refusal: String?
  /// Rises with each change.
  private var changeCount: UInt64 = 0

  /// Creates an empty place.
  public init() {}

  /// Switches the place off or on; while it is off, every call fails with ``Unreachable``.
  ///
  /// - Parameter isReachable: Whether it answers.
  public func setReachable(_ isReachable: Bool) { self.isReachable = isReachable }

  /// Refuses segments, or stops to refuse them.
  ///
  /// - Parameter reason: The text of the answer; `nil` to store them.
  public func refuseSegments(_ reason: String?) { refusal = reason }

  /// Forgets everything.
  public func loseEverything() { restore(Contents()) }

  /// Everything that the place holds now.
  ///
  /// - Returns: A copy, for ``restore(_:)``.
  public func save() -> Contents { contents }

  /// Goes back to what the place has held before, as one does that was restored from a backup.
  ///
  /// - Parameter contents: What it holds from now on.
  public func restore(_ contents: Contents) {
    self.contents = contents
    changeCount += 1
  }

  /// Looks at the contents.
  func read<R: Sendable>(_ body: @Sendable (Contents) throws -> R) throws -> (result: R, changeCount: UInt64) {
    guard isReachable else { throw Unreachable() }
    return (try body(contents), changeCount)
  }

  /// Changes the contents.
  ///
  /// - Returns: What the body returns, and the number of the change.
  func write<R: Sendable>(_ body: @Sendable (inout Contents) throws -> R) throws -> (result: R, changeCount: UInt64) {
    guard isReachable else { throw Unreachable() }
    let result = try body(&contents)
    changeCount += 1
    return (result, changeCount)
  }

  /// Why the place takes no segments.
  func refusedReason() -> String? { refusal }
}
