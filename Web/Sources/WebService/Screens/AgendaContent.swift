import Tally

/// The tasks that need attention besides those planned for today or due today.
struct AgendaContent {
  private let frame: RowFrame
  private let sections: [(name: String, tasks: [TaskItem])]
  private let pastCount: Int
  private let inboxCount: Int
  private let waitingCount: Int

  init(_ transaction: borrowing StoreReadTransaction) throws {
    let agenda = try transaction.agenda()
    frame = try RowFrame(transaction)
    (pastCount, inboxCount, waitingCount) = (agenda.pastCount, agenda.inboxCount, agenda.waitingCount)
    let today = transaction.today
    let zone = frame.clock.timeZone
    sections = [
      ("Overdue", agenda.overdue), (Self.yesterdayName, agenda.yesterday), ("Missed reminders", agenda.missedReminders),
    ]
    // Those that are planned for today or due today are below.
    .map { ($0.0, $0.1.filter { $0.scheduledDate != today && $0.dueDay(in: zone) != today }) }
    .filter { !$0.1.isEmpty }
  }

  /// A text that differs where the shown agenda does, in this run of the program.
  var version: String {
    var hasher = Hasher()
    for task in sections.flatMap(\.tasks) {
      hasher.combine(task)
      hasher.combine(task.listID.flatMap { frame.lists[$0] })
    }
    hasher.combine([pastCount, inboxCount, waitingCount, Int(frame.clock.today.dayNumber)])
    return hasher.finalize().version
  }

  /// The content of `agenda.mustache`; `nil` if nothing needs attention.
  var content: [String: Any]? {
    let sections: [[String: Any]] = sections.map { name, tasks in
      let limit = name == Self.yesterdayName ? Self.yesterdayInRows : Self.longestSectionInRows
      return ["name": name, "count": tasks.count, "rows": tasks.prefix(limit).map { frame.row($0) }]
    }
    let lines: [[String: String]] = [
      pastCount > 0 ? ["path": "/past", "text": "\(pastCount.counted("task")) left from earlier days"] : nil,
      inboxCount > 0 ? ["path": "/inbox", "text": "\(inboxCount.counted("task")) in the inbox"] : nil,
      waitingCount > 0 ? ["path": "/waiting", "text": "\(waitingCount.counted("task")) waiting for a later day"] : nil,
    ].compactMap(\.self)
    if sections.isEmpty, lines.isEmpty { return nil }
    return ["sections": sections, "lines": lines, "hasLines": !lines.isEmpty]
  }

  private static let longestSectionInRows = 20
  private static let yesterdayInRows = 5
  private static let yesterdayName = "Not done yesterday"
}
