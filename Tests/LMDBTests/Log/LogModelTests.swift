import TestSupport
import Testing

/// The protocol of the log, in every order in which its steps can happen (`docs/log.md`).
@Suite struct LogModelTests {
  typealias Budget = LogModel.Budget

  static let quickBudgets = [
    Budget(lives: 0, appends: 2, kills: 1, restarts: false, beginsOpen: true),
    Budget(lives: 0, appends: 1, kills: 1, cuts: 1, restarts: false, beginsOpen: true),
    Budget(lives: 0, appends: 1, directCommits: 1, cuts: 1, beginsOpen: true),
    Budget(lives: 0, appends: 2, failures: 1, beginsOpen: true),
    Budget(lives: 1, appends: 2),
    Budget(processes: 1, lives: 2, appends: 2, kills: 1, cuts: 1, failures: 1, restarts: false),
    Budget(processes: 1, lives: 1, appends: 3, cuts: 2, ring: 2, isDurable: false),
    Budget(processes: 3, lives: 0, appends: 1, restarts: false, beginsOpen: true),
    Budget(lives: 1, appends: 1, directCommits: 1, hasThreads: true),
    Budget(lives: 1, appends: 1, kills: 1, restarts: false, readers: 1),
    Budget(lives: 2, appends: 1, kills: 1, restarts: false, hasStranger: true),
    Budget(processes: 1, lives: 2, appends: 2, kills: 1, cuts: 1, failures: 1, fullDisks: 2, restarts: false),
    Budget(processes: 1, lives: 1, appends: 3, cuts: 2, fullDisks: 1, ring: 2, isDurable: false),
  ]

  static let longBudgets = [
    Budget(lives: 1, appends: 2, kills: 1, cuts: 1),
    Budget(lives: 1, appends: 1, directCommits: 1, kills: 1, cuts: 1),
    Budget(lives: 1, appends: 2, kills: 1, cuts: 1, failures: 1),
    Budget(lives: 1, appends: 2, kills: 1, cuts: 1, ring: 2, isDurable: false, isMixed: true),
    Budget(lives: 1, appends: 2, cuts: 1, failures: 1, ring: 2, isDurable: false, isMixed: true),
    Budget(lives: 1, appends: 2, kills: 1, ring: 2, hasGaps: true),
    Budget(lives: 2, appends: 2, cuts: 1, isDurable: false),
    Budget(processes: 3, lives: 1, appends: 1, directCommits: 1),
    Budget(processes: 3, lives: 0, appends: 2, kills: 1, restarts: false, beginsOpen: true),
    Budget(lives: 1, appends: 2, directCommits: 1, kills: 1, cuts: 1, failures: 1, restarts: false, hasThreads: true),
    Budget(lives: 1, appends: 2, directCommits: 1, kills: 1, cuts: 1, readers: 1),
    Budget(processes: 3, lives: 1, appends: 1, kills: 1, readers: 1),
    Budget(lives: 2, appends: 1, directCommits: 1, kills: 1, cuts: 1, hasStranger: true),
    Budget(processes: 3, lives: 1, appends: 1, kills: 1, hasStranger: true),
    Budget(lives: 1, appends: 2, kills: 1, cuts: 1, failures: 1, fullDisks: 2),
    Budget(lives: 2, appends: 2, cuts: 1, fullDisks: 2, isDurable: false),
    Budget(lives: 2, appends: 1, kills: 1, cuts: 1, failures: 1, readers: 1),
    Budget(lives: 2, appends: 2, cuts: 2, ring: 2, isDurable: false, readers: 1),
    Budget(lives: 2, appends: 1, kills: 1, cuts: 1, fullDisks: 1, hasStranger: true),
  ]

  @Test(arguments: TestSize.pick(quick: quickBudgets, long: quickBudgets + longBudgets))
  func noOrderOfStepsBreaksAPromise(budget: Budget) {
    let explorer = LogExplorer(LogModel(budget))
    print("LogModelTests: \(explorer.stateCount) states, \(explorer.stepCount) steps: \(budget)")
    #expect(explorer.violation == nil)
  }

  /// The smallest budget with which the lack of a rule shows.
  static func budget(against omission: LogModel.Omission) -> Budget {
    switch omission {
    case .turn, .dropOfTail, .readerFirst, .opening: Budget(lives: 0, appends: 2, beginsOpen: true)
    case .publishingLast, .repetitionOfFailed: Budget(processes: 1, lives: 1, appends: 2, cuts: 1, failures: 1)
    case .zeroing: Budget(lives: 0, appends: 2, failures: 1, beginsOpen: true)
    case .flushBeforeRaising: Budget(lives: 0, appends: 0, directCommits: 1, kills: 1, cuts: 1, beginsOpen: true)
    case .beginningOfTail: Budget(lives: 1, appends: 1, directCommits: 1, hasThreads: true)
    case .flushOfSafe: Budget(lives: 0, appends: 2, kills: 1, cuts: 1, restarts: false, beginsOpen: true)
    case .doubt, .doubtOfDirect: Budget(lives: 0, appends: 1, directCommits: 1, kills: 1, beginsOpen: true)
    case .recovery, .numberOfRecovery: Budget(processes: 1, lives: 1, appends: 3, cuts: 2, ring: 2, isDurable: false)
    case .doubtOfAdoption:
      Budget(processes: 1, lives: 1, appends: 3, cuts: 2, fullDisks: 1, ring: 2, isDurable: false)
    case .repeatedWrite, .flushOfAdoption: Budget(lives: 1, appends: 1, kills: 1, cuts: 1, failures: 1, readers: 1)
    case .headLast: Budget(processes: 1, lives: 2, appends: 1, kills: 1, cuts: 1)
    case .mergeOfLastWriter: Budget(lives: 1, appends: 1, readers: 1)
    case .mark: Budget(lives: 1, appends: 1, hasStranger: true)
    case .removalOfUnmarked: Budget(processes: 2, lives: 2, appends: 1, kills: 1, hasStranger: true)
    case .removalLast: Budget(processes: 1, lives: 2, appends: 1, kills: 1)
    case .checksum, .flushOfRecord, .rowWithEntries, .room, .keepingRecords, .clearingBlock, .mergeAtClosing,
      .flushOfName:
      Budget(processes: 1, lives: 1, appends: 2, cuts: 1)
    }
  }

  @Test(arguments: LogModel.Omission.allCases)
  func withoutARuleSomeOrderBreaksAPromise(omission: LogModel.Omission) {
    let explorer = LogExplorer(LogModel(Self.budget(against: omission), omitting: omission))
    let found = explorer.violation?.split(separator: "\n").first ?? "nothing"
    print("LogModelTests: without \(omission) after \(explorer.stateCount) states: \(found)")
    #expect(explorer.violation != nil)
  }
}
