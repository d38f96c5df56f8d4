package import Foundation
package import Tally

/// Generates the tasks of a store of any size from a fixed seed.
///
/// The timed views show the same tasks at every size from 1,000 on: the first tasks are Today's, the Inbox's, one list
/// of 500, and some that are planned, late or due; all others fill the other lists. So a time that grows with the store
/// grows for that reason only. Four in ten are completed, over the same ten years at every size.
package struct TaskGenerator {
  package static let seed: UInt64 = 2_026_11_21
  package static let listCount = 10
  /// Noon of the day that counts as today.
  package static let now = Timestamp(clamping: 1_795_262_400_000_000)
  package static let timeZone = TimeZone.gmt
  package static let today = CalendarDay(containing: now, in: timeZone)
  package static let yearsOfHistory = 10

  /// The numbers of the tasks in each place; all views except those of all tasks show only these.
  package static let todayNumbers = 0..<50
  package static let inboxNumbers = 50..<100
  package static let projectNumbers = 100..<600
  package static let upcomingNumbers = 600..<700
  package static let pastNumbers = 700..<750
  package static let overdueNumbers = 750..<800
  /// The tag of one task in a hundred.
  package static let tag = "home"

  private static let secondsADay = 86_400

  private var random = SeededRandom(seed: seed)
  /// The first is the one with 500 tasks.
  package let lists: [TaskList]

  package init() {
    let createdAt = Self.now.adding(seconds: -Int64(Self.yearsOfHistory * 365 * Self.secondsADay))
    var lists: [TaskList] = []
    for number in 0..<Self.listCount {
      lists.append(
        TaskList(
          id: random.uuid(at: createdAt), name: "List \(number)", sortOrder: Int64(number) << 20, createdAt: createdAt))
    }
    self.lists = lists
  }

  /// The tasks from one number up to another; they must be generated in ascending order.
  package mutating func tasks(_ range: Range<Int>) throws -> [TaskItem] {
    try range.map { try task($0) }
  }

  private mutating func task(_ number: Int) throws -> TaskItem {
    let createdAt = Self.now.adding(seconds: -Int64(random.below(Self.yearsOfHistory * 365 * Self.secondsADay)))
    var task = TaskItem(
      id: random.uuid(at: createdAt), title: title(), notes: random.isOne(in: 10) ? notes() : nil,
      sortOrder: Int64(number) << 10, createdAt: createdAt)
    switch number {
    case Self.todayNumbers:
      task.scheduledDate = Self.today
      if random.isOne(in: 5) { try complete(&task, at: Self.now.adding(seconds: -Int64(random.below(40_000)))) }
      if random.isOne(in: 5) { task.dueDate = Self.now.adding(seconds: 6 * 3_600) }
    case Self.inboxNumbers:
      break
    case Self.upcomingNumbers:
      task.scheduledDate = try Self.today.adding(days: 1 + random.below(60))
    case Self.pastNumbers:
      task.scheduledDate = try Self.today.adding(days: -1 - random.below(60))
    case Self.overdueNumbers:
      task.listID = lists[1].id
      // Up to yesterday, and others from tomorrow on: Today shows what is due today, too.
      task.dueDate = Self.now.adding(seconds: -Int64(1 + Self.secondsADay / 2 + random.below(30 * Self.secondsADay)))
    default:
      task.listID = Self.projectNumbers.contains(number) ? lists[0].id : lists[1 + number % (lists.count - 1)].id
      try finishOrPlan(&task, isActiveAllowed: Self.projectNumbers.contains(number))
    }
    // By number: a random choice would change all tasks after it.
    if number.isMultiple(of: 100) { task.tags = [Self.tag] }
    return task
  }

  private mutating func finishOrPlan(_ task: inout TaskItem, isActiveAllowed: Bool) throws {
    if random.below(100) < 45 {
      // Within the past: thousands of completions at this very moment would not resemble any history.
      let passedSeconds = Int((Self.now.microsecondsSince1970 - task.createdAt.microsecondsSince1970) / 1_000_000)
      let tookSeconds = Int64(random.below(min(30 * Self.secondsADay, passedSeconds + 1)))
      try complete(&task, at: task.createdAt.adding(seconds: tookSeconds))
    } else if isActiveAllowed, random.isOne(in: 10) {
      task.state = .active
    } else if random.isOne(in: 5) {
      task.dueDate = Self.now.adding(seconds: Int64(Self.secondsADay / 2 + random.below(365 * Self.secondsADay)))
      if random.isOne(in: 2) { task.reminderDate = task.dueDate?.adding(seconds: -3_600) }
    }
  }

  private mutating func complete(_ task: inout TaskItem, at instant: Timestamp) throws {
    task.state = .completed
    task.completedAt = try OffsetTimestamp(instant, utcOffsetInMinutes: 60 * (random.below(25) - 12))
    task.updatedAt = instant
  }

  /// Between 8 and about 90 characters, mostly short.
  private mutating func title() -> String {
    let verbs = ["Write", "Review", "Call about", "Buy", "Repair", "Plan", "Answer", "Send", "Cancel", "Look into"]
    let things = [
      "the report", "a present for Zoë", "the garden fence", "train tickets to 東京", "the März invoice",
      "the talk", "milk",
      "the landlord's letter", "new tyres for the old bicycle", "a dentist's appointment",
    ]
    let ends = ["before the holidays", "and write to everyone who was there about it", "(again)", "with Sam", "🎉"]
    var title = "\(random.element(of: verbs)) \(random.element(of: things))"
    if random.isOne(in: 3) { title += " \(random.element(of: ends))" }
    if random.isOne(in: 12) { title += ", \(random.element(of: verbs).lowercased()) \(random.element(of: things))" }
    return title
  }

  private mutating func notes() -> String {
    let sentences = [
      "Ask first.", "See the mail of last week.", "Number 4711-0815.", "It should not cost more than 50.",
    ]
    return (0...random.below(5)).map { _ in random.element(of: sentences) }.joined(separator: "\n")
  }
}
