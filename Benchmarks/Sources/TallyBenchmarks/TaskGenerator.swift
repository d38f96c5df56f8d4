import Foundation
import Tally

/// Makes stores of any size from a fixed seed.
///
/// What the timed views show is the same at every size: the first tasks are Today's and the Inbox's, and all others are
/// history, plans and lists. So a time that grows with the store grows for no other reason.
struct TaskGenerator {
  static let seed: UInt64 = 2_026_11_21
  static let todayCount = 50
  static let inboxCount = 50
  static let listCount = 10
  /// Noon of the day that counts as today.
  static let now = Timestamp(clamping: 1_795_262_400_000_000)
  static let timeZone = TimeZone.gmt

  private var random = SeededRandom(seed: seed)
  private let today = CalendarDay(containing: now, in: timeZone)
  let lists: [UUID]

  init(lists: [UUID]) {
    self.lists = lists
  }

  /// The tasks from one number up to another; they must be asked for in ascending order.
  mutating func tasks(_ range: Range<Int>) throws -> [TaskItem] {
    try range.map { try task($0) }
  }

  private mutating func task(_ number: Int) throws -> TaskItem {
    let createdAt = Self.now.adding(seconds: -Int64(random.below(10 * 365 * 86_400)))
    var task = TaskItem(
      id: random.uuid(),
      title: title(number),
      sortOrder: Int64(number) * 1_024,
      createdAt: createdAt
    )
    switch number {
    case ..<Self.todayCount:
      task.scheduledDate = today
    case ..<(Self.todayCount + Self.inboxCount):
      break
    default:
      task.listID = lists[number % lists.count]
      try planOrComplete(&task)
    }
    return task
  }

  /// Seven of ten are done; of the rest some are planned or due.
  private mutating func planOrComplete(_ task: inout TaskItem) throws {
    if random.below(10) < 7 {
      let tookSeconds = Int64(random.below(30 * 86_400))
      let completedAt = min(task.createdAt.adding(seconds: tookSeconds), Self.now)
      task.state = .completed
      task.completedAt = try OffsetTimestamp(completedAt, utcOffsetInMinutes: 60 * (random.below(25) - 12))
      task.updatedAt = completedAt
    } else if random.below(2) == 0 {
      task.scheduledDate = try today.adding(days: 1 + random.below(365))
      task.dueDate = Self.now.adding(seconds: Int64(random.below(365 * 86_400)))
    }
  }

  private mutating func title(_ number: Int) -> String {
    let verbs = ["Write", "Review", "Call about", "Buy", "Repair", "Plan", "Answer", "Send"]
    let things = ["the report", "a present for Zoë", "the garden fence", "tickets", "the März invoice", "the talk"]
    return "\(verbs[random.below(verbs.count)]) \(things[random.below(things.count)]) \(number)"
  }
}

/// SplitMix64: small, fast, and the same numbers everywhere.
struct SeededRandom: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }

  /// A UUID of version 4 from these numbers.
  mutating func uuid() -> UUID {
    var bytes = (0..<16).map { _ in UInt8(truncatingIfNeeded: next()) }
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
    return UUID(
      uuid: (
        bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7], bytes[8], bytes[9], bytes[10],
        bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
      )
    )
  }
}
