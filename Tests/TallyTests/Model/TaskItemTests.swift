import Foundation
import Testing

@testable import Tally

struct TaskItemTests {
  private let now = Timestamp(clamping: 1_795_262_400_000_000)

  @Test(arguments: ["", " ", "\t\n\r", "\u{A0}\u{2003}\u{3000}", "\u{2028}\u{2029}\u{85}", "\u{1680}\u{202F}\u{205F}"])
  func titlesAndNamesOfWhiteSpaceAreRefused(text: String) {
    let titleError = #expect(throws: TallyError.self) { try TaskItem(title: text, createdAt: now).validate() }
    #expect(titleError?.code == .blankTitle)
    let nameError = #expect(throws: TallyError.self) { try TaskList(name: text, createdAt: now).validate() }
    #expect(nameError?.code == .blankListName)
  }

  @Test(arguments: ["a", " a ", "\u{0}", "\u{200B}", "\u{FEFF}", "\u{301}", " \u{301}", "\u{200F}", "👩‍👩‍👧", "\u{FFFF}"])
  func anythingElseIsATitleAndAName(text: String) throws {
    try TaskItem(title: text, createdAt: now).validate()
    try TaskList(name: text, createdAt: now).validate()
  }

  @Test func completionTimeStandsExactlyWithTheCompletedState() throws {
    let completedAt = try OffsetTimestamp(now, utcOffsetInMinutes: 180)
    for state in TaskState.allCases {
      for (time, cancellation) in [(nil, nil), (completedAt, nil), (nil, completedAt), (completedAt, completedAt)]
        as [(OffsetTimestamp?, OffsetTimestamp?)]
      {
        let task = TaskItem(title: "a", state: state, createdAt: now, completedAt: time, cancelledAt: cancellation)
        #expect(task.isCompleted == (state == .completed) && task.isCancelled == (state == .cancelled))
        #expect(task.isClosed != task.isOpen && task.isClosed == (task.isCompleted || task.isCancelled))
        if task.isCompleted == (time != nil), task.isCancelled == (cancellation != nil) {
          try task.validate()
        } else {
          let error = #expect(throws: TallyError.self) { try task.validate() }
          #expect(error?.code == .inconsistentTask)
        }
      }
    }
  }

  @Test func theTitleAndTheNotesTakeAGibibyteAtMost() throws {
    // A string of strings, as one of characters takes seconds.
    let half = String(repeating: String(repeating: "x", count: 1 << 20), count: 1 << 9)
    var task = TaskItem(title: half, notes: half, createdAt: now)
    try task.validate()
    task.title = "title"
    try task.validate()
    task.title = half + "x"
    let error = #expect(throws: TallyError.self) { try task.validate() }
    #expect(error?.code == .valueOutOfRange)
  }

  @Test func sortOrdersAreThoseThatADoubleHolds() throws {
    let limit: Int64 = 9_007_199_254_740_991
    #expect(TaskItem.sortOrders.lowerBound == -limit)
    #expect(TaskItem.sortOrders.upperBound == limit)
    for order in [limit, -limit] { try TaskItem(title: "a", sortOrder: order, createdAt: now).validate() }
    for order in [limit + 1, -limit - 1, .max, .min] {
      let taskError = #expect(throws: TallyError.self) {
        try TaskItem(title: "a", sortOrder: order, createdAt: now).validate()
      }
      #expect(taskError?.code == .valueOutOfRange)
      let listError = #expect(throws: TallyError.self) {
        try TaskList(name: "a", sortOrder: order, createdAt: now).validate()
      }
      #expect(listError?.code == .valueOutOfRange)
    }
  }

  @Test(
    arguments: [
      ("007AFF", true), ("ffffff", true), ("aBcDeF", true), ("", false), ("#07AFF", false), ("007AF", false),
      ("007AFF0", false), ("00 AFF", false), ("GGGGGG", false), ("００７ＡＦＦ", false), ("é7AF", false),
    ] as [(String, Bool)])
  func coloursAreSixHexadecimalDigits(color: String, isValid: Bool) throws {
    let list = TaskList(name: "a", colorHex: color, createdAt: now)
    if isValid {
      try list.validate()
    } else {
      let error = #expect(throws: TallyError.self) { try list.validate() }
      #expect(error?.code == .invalidColor)
    }
  }

  @Test func aTapGoesRoundTheStates() throws {
    #expect(TaskState.notStarted.next == .active)
    #expect(TaskState.active.next == .completed)
    #expect(TaskState.completed.next == .notStarted)
    #expect(TaskState.cancelled.next == .notStarted, "no tap leads to it")
  }

  @Test func statesAreNamedInDocuments() throws {
    for state in TaskState.allCases { #expect(try TaskState(name: state.name) == state) }
    for name in ["", "Active", "done", "not_started", "active "] {
      let error = #expect(throws: TallyError.self) { try TaskState(name: name) }
      #expect(error?.code == .invalidState)
    }
  }

  @Test func storedNumbersOfStatesNeverChange() {
    #expect(TaskState.allCases.map(\.rawValue) == [1, 2, 3, 4])
    #expect(TaskState.allCases.map(\.name) == ["notStarted", "active", "completed", "cancelled"])
  }

  @Test func aNewTaskWasLastChangedWhenItWasMade() {
    #expect(TaskItem(title: "a", createdAt: now).updatedAt == now)
    #expect(TaskList(name: "a", createdAt: now).updatedAt == now)
    #expect(TaskList(name: "a", createdAt: now).colorHex == "007AFF")
  }
}
