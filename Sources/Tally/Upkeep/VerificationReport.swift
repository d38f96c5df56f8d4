/// The result of a verification.
public struct VerificationReport: Hashable, Sendable {
  /// The disagreements, the first thousand of them; none in a sound store.
  public internal(set) var faults: [StoreFault] = []
  /// How many disagreements there are, those beyond the first thousand included.
  public internal(set) var faultCount = 0
  /// The commit sequence of the last snapshot that was checked; `nil` if the header cannot be read.
  public internal(set) var sequence: UInt64?
  /// The tasks that were checked.
  public internal(set) var taskCount = 0
  /// The lists that were checked.
  public internal(set) var listCount = 0
  /// The completions that were checked, those of deleted tasks included.
  public internal(set) var completionCount = 0
  /// The unreadable records that earlier repairs have set aside; they are kept, and appear in no view.
  public internal(set) var setAsideCount = 0

  /// Whether no two tables disagree.
  public var isSound: Bool { faultCount == 0 }

  /// The most faults that a report lists.
  static let maximumListedFaults = 1_000

  package mutating func add(_ fault: StoreFault) {
    faultCount += 1
    if faults.count < Self.maximumListedFaults { faults.append(fault) }
  }
}

/// The progress of a verification.
public struct VerificationProgress: Hashable, Sendable {
  /// The records checked so far.
  public let recordCount: Int
  /// All records, as far as known at the beginning.
  public let totalRecordCount: Int

  /// Called from time to time; throwing from it ends the verification.
  public typealias Observer = (VerificationProgress) throws -> Void
}
