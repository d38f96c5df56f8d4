import TallyEngine

/// The result of a verification.
public struct VerificationReport: Hashable, Sendable {
  /// The faults, at most the first thousand; empty for a sound store.
  public internal(set) var faults: [StoreFault] = []
  /// The number of faults, including those after the first thousand.
  public internal(set) var faultCount = 0
  /// The sequence of the last snapshot that was checked; `nil` if the header cannot be read.
  public internal(set) var sequence: UInt64?
  /// The number of tasks checked.
  public internal(set) var taskCount = 0
  /// The number of lists checked.
  public internal(set) var listCount = 0
  /// The number of completions checked, including those of deleted tasks.
  public internal(set) var completionCount = 0
  /// The number of unreadable records that earlier repairs have set aside; they are kept, and appear in no view.
  public internal(set) var setAsideCount = 0
  /// The number of records of the application's collections that were checked.
  public internal(set) var recordCount = 0
  /// The collections in the store that were not checked, because the store was opened without them.
  public internal(set) var unknownCollections: [String] = []

  /// Whether no faults were found.
  public var isSound: Bool { faultCount == 0 }

  /// The most faults that a report lists.
  static let maximumListedFaults = 1_000

  /// Adds what a check of the application's collections has found; header and history have a check of their own.
  mutating func add(_ collections: StoreReport) {
    (recordCount, unknownCollections) = (collections.recordCount, collections.unknownCollections)
    for fault in collections.faults where fault.kind != .damagedHeader && fault.kind != .unreadableHistory {
      add(StoreFault(kind: .init(description: fault.kind.rawValue), table: fault.place, id: nil))
    }
    faultCount += collections.faultCount - collections.faults.count
  }

  package mutating func add(_ fault: StoreFault) {
    faultCount += 1
    if faults.count < Self.maximumListedFaults { faults.append(fault) }
  }
}

/// The progress of a verification.
public struct VerificationProgress: Hashable, Sendable {
  /// The number of records checked so far.
  public let recordCount: Int
  /// The total number of records, as known at the beginning.
  public let totalRecordCount: Int

  /// A closure that is called from time to time; if it throws, the verification ends.
  public typealias Observer = (VerificationProgress) throws -> Void
}
