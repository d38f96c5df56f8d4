public import Foundation
import LMDB
public import TallyEngine

/// A view of a store's tasks.
///
/// Unless a case says otherwise, a view lists active tasks first, then those not started, then completed ones;
/// within a state, tasks are sorted by `sortOrder`, then `createdAt`, then `id`.
public enum TaskView: Hashable, Sendable {
  /// The tasks without a list and a scheduled day, in any state.
  case inbox
  /// The tasks scheduled for the current day or due on it, each listed once; completed tasks stay visible.
  case today
  /// The tasks scheduled after today, in sections by day.
  case upcoming
  /// The open tasks scheduled before today, in sections by day, newest day first.
  case past
  /// The tasks of one list.
  case list(UUID)
  /// The overdue open tasks, oldest first: those whose due date has passed, whose due day has ended, or,
  /// without either, whose reminder has passed.
  case overdue
  /// The tasks due on a local day or at an instant in it, in any state.
  case due(on: CalendarDay)
  /// The active tasks of all places.
  case active
  /// The tasks completed in an interval, whose end is excluded, or at any time for `nil`; newest first.
  case completed(Range<Timestamp>?)
  /// All tasks, by creation.
  case all
  /// The open tasks that no other one blocks, in the order in which to do them; see ``TaskOrder/Key/next``.
  case next
  /// The open tasks whose start has not come, by start day; last those that start on no day.
  case waiting
  /// The tasks that a filter selects, in an order.
  case matching(TaskFilter, by: TaskOrder)

  /// The view's name, which never changes between versions: `inbox`, `today` and so on.
  public var name: String {
    switch self {
    case .inbox: "inbox"
    case .today: "today"
    case .upcoming: "upcoming"
    case .past: "past"
    case .list: "list"
    case .overdue: "overdue"
    case .due: "due"
    case .active: "active"
    case .completed: "completed"
    case .all: "all"
    case .next: "next"
    case .waiting: "waiting"
    case .matching: "matching"
    }
  }

  /// The filter and the order of a view that is a query; `nil` for views that an index contains.
  var query: (filter: TaskFilter, order: TaskOrder)? {
    switch self {
    case .next: (Self.free, .next)
    case .matching(let filter, let order): (filter, order)
    default: nil
    }
  }

  /// The open tasks that can be done now.
  fileprivate static let free: TaskFilter = .is(.open) && !.is(.blocked)

  /// Whether the view leaves out the tasks that wait for their start, unless they are asked for.
  ///
  /// A filter that names the start finds them, and so does the filter of all tasks.
  package var hidesWaiting: Bool {
    switch self {
    case .all, .completed, .waiting: false
    case .matching(let filter, _): filter != .all && !filter.namesStart
    default: true
    }
  }

  /// Whether the view shows its tasks in sections by day.
  public var hasDaySections: Bool {
    self == .upcoming || self == .past
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// Returns the definition of a view for this transaction's clock and calendar.
  ///
  /// - Throws: For a query, `listNotFound` and the other errors of resolving its filter.
  func definition(of view: TaskView) throws -> ViewDefinition {
    switch view {
    case .inbox: ViewDefinition(of: ByPlace.self, tables.byPlace, [.place(nil)])
    case .list(let id): ViewDefinition(of: ByPlace.self, tables.byPlace, [.place(id)])
    case .active: ViewDefinition(of: ByActive.self, tables.byActive, [KeyRange(OrderKey.lowest, nil)])
    case .all: ViewDefinition(of: ByCreated.self, tables.byCreated, [.allInstants])
    case .overdue: overdueDefinition
    case .today: todayDefinition
    case .upcoming: daysDefinition(DayWalk(isPast: false, today: today.dayNumber))
    case .past: daysDefinition(DayWalk(isPast: true, today: today.dayNumber))
    case .due(let day): dueDefinition(day)
    case .completed(let interval): completedDefinition(interval)
    case .next: try queryDefinition(TaskView.free, .next, hiding: hiddenTasks(in: view))
    case .waiting: waitingDefinition
    case .matching(let filter, let order): try queryDefinition(filter, order, hiding: hiddenTasks(in: view))
    }
  }

  private func queryDefinition(
    _ filter: TaskFilter, _ order: TaskOrder, hiding hidden: Set<UUID>
  ) throws -> ViewDefinition {
    var query = try resolved(filter, by: order)
    query.hidden = hidden
    return ViewDefinition(index: tables.tasks.rawIndex, walk: .query(query)) { _ in nil }
  }

  private var waitingDefinition: ViewDefinition {
    var definition = ViewDefinition(of: ByDue.self, tables.byDue, [.starts(after: today)])
    definition.changedRanges = changedStarts
    return definition
  }

  private var todayDefinition: ViewDefinition {
    let (today, timeZone) = (today, calendar.timeZone)
    let (changedDays, changedDueDays) = (changedDays, changedDueDays)
    return ViewDefinition(
      index: tables.byDay.rawIndex, walk: .today(KeyRange.days(today.dayNumber, today.dayNumber)),
      changedRanges: { changedDays($0) + changedDueDays($0) },
      key: { ViewKey(of: $0.item.shown(in: timeZone), inToday: today, in: timeZone) })
  }

  private func daysDefinition(_ walk: DayWalk) -> ViewDefinition {
    ViewDefinition(index: tables.byDay.rawIndex, walk: .days(walk), changedRanges: changedDays) { record in
      DayKey(of: record.item).flatMap(walk.key)
    }
  }

  private var overdueDefinition: ViewDefinition {
    let (now, calendar, today, dayStart) = (now, calendar, today.dayNumber, dayStartInMinutes)
    let index = tables.byDue.rawIndex
    return ViewDefinition(
      index: index, walk: .overdue,
      changedRanges: { former in
        let day = CalendarDay(containing: former, in: calendar.timeZone, startingAtMinute: dayStart).dayNumber
        let ranges =
          KeyRange.openDue(min(former, now), max(former, now), in: calendar.timeZone) + [
            .due(.openDay, DueKey.microseconds(of: min(day, today))..<DueKey.microseconds(of: max(day, today)))
          ]
        return ranges.map { IndexRange(index: index, range: $0) }
      },
      key: { record in
        let task = record.item.shown(in: calendar.timeZone)
        if task.isClosed { return nil }
        if let day = task.dueDay { return day.dayNumber < today ? ViewKey(overdue: day, task.id, in: calendar) : nil }
        guard let due = task.overdueDate, due < now else { return nil }
        return ViewKey(overdue: due.microsecondsSince1970, task.id)
      })
  }

  private func dueDefinition(_ day: CalendarDay) -> ViewDefinition {
    ViewDefinition(index: tables.byDue.rawIndex, walk: .due(on: day)) { [calendar] record in
      guard record.item.shown(in: calendar.timeZone).dueDay(in: calendar.timeZone) == day else { return nil }
      return ViewKey(of: record.item, dueOn: day)
    }
  }

  private func completedDefinition(_ interval: Range<Timestamp>?) -> ViewDefinition {
    let start = InstantKey.start(at: interval?.lowerBound.microsecondsSince1970 ?? .min)
    let end = InstantKey.start(at: interval?.upperBound.microsecondsSince1970 ?? .max)
    let range = KeyRange(
      CompletionKey(isTaskDeleted: false, completed: start), CompletionKey(isTaskDeleted: false, completed: end))
    return ViewDefinition(index: tables.completions.rawIndex, walk: .ranges([range], isReversed: true)) { record in
      guard let key = CompletionKey(of: record.item).map({ KeyBytes($0) }), range.contains(key) else { return nil }
      return ViewKey(prefix: KeyBytes(UInt8(0)), key, isReversed: true)
    }
  }

  /// The tasks planned for the days from that of an instant to today, both included; empty if they are the same day.
  private var changedDays: (Timestamp) -> [IndexRange] {
    changedRanges(of: tables.byDay.rawIndex) { KeyRange.days($0.dayNumber, $1.dayNumber) }
  }

  /// The tasks due on those days.
  private var changedDueDays: (Timestamp) -> [IndexRange] {
    changedRanges(of: tables.byDue.rawIndex) { [calendar] in KeyRange.due($0, $1, in: calendar) }
  }

  /// The open tasks that start after the first of those days, up to the last.
  var changedStarts: (Timestamp) -> [IndexRange] {
    changedRanges(of: tables.byDue.rawIndex) { [KeyRange(DueKey.starts(after: $0), DueKey.starts(after: $1))] }
  }

  private func changedRanges(
    of index: RawIndex, _ ranges: @escaping (_ first: CalendarDay, _ last: CalendarDay) -> [KeyRange]
  ) -> (Timestamp) -> [IndexRange] {
    let (calendar, today, dayStart) = (calendar, today, dayStartInMinutes)
    return { former in
      let day = CalendarDay(containing: former, in: calendar.timeZone, startingAtMinute: dayStart)
      return day == today ? [] : ranges(min(day, today), max(day, today)).map { IndexRange(index: index, range: $0) }
    }
  }
}

/// The contents of a view: its tasks in sections.
public struct ViewResult: Hashable, Sendable {
  /// The view.
  public let view: TaskView
  /// The instant that the result treats as now.
  public let asOf: Timestamp
  /// The time zone that determined the days.
  public let timeZone: TimeZone
  /// The number of completed tasks.
  public let completedCount: Int
  /// The sections: one for each day in a view with days, and otherwise a single one.
  public let sections: [ViewSection]

  /// Creates a result.
  public init(
    view: TaskView, asOf: Timestamp, timeZone: TimeZone, completedCount: Int, sections: [ViewSection]
  ) {
    self.view = view
    self.asOf = asOf
    self.timeZone = timeZone
    self.completedCount = completedCount
    self.sections = sections
  }

  /// The tasks of all sections, in order.
  public var tasks: [TaskItem] { sections.allTasks }
}

/// The tasks of a view for one day, or without a day.
public struct ViewSection: Hashable, Codable, Sendable {
  /// The scheduled day of the tasks, in a view with days.
  public let day: CalendarDay?
  /// The tasks, in the view's order.
  public internal(set) var tasks: [TaskItem]

  /// Creates a section.
  public init(day: CalendarDay?, tasks: [TaskItem]) {
    self.day = day
    self.tasks = tasks
  }
}

/// A part of a view, and the position at which the next part begins.
public struct ViewPage: Hashable, Codable, Sendable {
  /// The tasks of this page; a day may continue on the next page.
  public let sections: [ViewSection]
  /// The position of the next page; `nil` on the last page.
  public let next: ViewPosition?

  /// The tasks of all sections, in order.
  public var tasks: [TaskItem] { sections.allTasks }
}

/// A position in a view: after the last task of a page.
///
/// It stays valid when tasks are added and removed, because it is a position in the order and not a number of rows.
public struct ViewPosition: Hashable, Sendable {
  /// The view of the position; the same key means another position in another view.
  let view: TaskView
  let key: ViewKey
}

extension [ViewSection] {
  /// The tasks of all sections; not copied if there is only one section, as in most views.
  fileprivate var allTasks: [TaskItem] {
    count == 1 ? self[0].tasks : flatMap(\.tasks)
  }
}

/// The definition of a view for one clock and calendar: the index that it walks, the ranges of that index that it
/// shows, the key of a task, and the ranges that time alone changes.
///
/// Some views are more than ranges of an index. Upcoming and Past have a range for each day, and Overdue merges
/// instants and days. The tasks due on a day are sorted after they are found, because days begin at different
/// instants in different time zones, and Today merges those with the tasks planned for the day.
struct ViewDefinition {
  enum Walk {
    case ranges([KeyRange], isReversed: Bool)
    /// The ranges contain the tasks planned for today.
    case today([KeyRange])
    case days(DayWalk)
    case due(on: CalendarDay)
    case overdue
    /// The planner chooses the index, and computing the key of a task requires its record.
    case query(ResolvedQuery)
  }

  let index: RawIndex
  let walk: Walk
  /// The keys of tasks that the passing of time may have moved into or out of the view since an instant.
  var changedRanges: (Timestamp) -> [IndexRange] = { _ in [] }
  /// The position of a task; `nil` if the view does not show it.
  let key: (TaskRecord) -> ViewKey?
}

extension ViewDefinition {
  /// Creates the definition of a view that shows consecutive ranges of an index.
  init<Definition: RecordIndex>(
    of definition: Definition.Type, _ table: Index<Definition.Key>, _ ranges: [KeyRange]
  ) where Definition.Source == TaskRecord {
    self.init(index: table.rawIndex, walk: .ranges(ranges, isReversed: false)) { record in
      var found: ViewKey?
      Definition.keys(of: record).forEach { key in
        let bytes = KeyBytes(key)
        guard found == nil, let number = ranges.firstIndex(where: { $0.contains(bytes) }) else { return }
        found = ViewKey(prefix: KeyBytes(UInt8(number)), bytes)
      }
      return found
    }
  }
}

/// A range of keys in one of the indexes.
struct IndexRange {
  let index: RawIndex
  let range: KeyRange
}

extension KeyRange {
  /// The tasks of a list, or of the inbox, with some ranks.
  static func place(_ listID: UUID?, _ ranks: Range<UInt8> = 0..<StateRank.endRawValue) -> KeyRange {
    KeyRange(
      PlaceKey(listID: listID, rankRawValue: ranks.lowerBound, order: .lowest),
      PlaceKey(listID: listID, rankRawValue: ranks.upperBound, order: .lowest))
  }

  /// The tasks scheduled for a range of days: first the open ones, then the completed ones.
  static func days(_ first: Int32, _ last: Int32) -> [KeyRange] {
    [false, true].map { KeyRange(DayKey.start(of: first, isCompleted: $0), .end(of: last, isCompleted: $0)) }
  }

  /// Creates the range of the open or the completed tasks scheduled for a day.
  init(of day: Int32, isCompleted: Bool) {
    self.init(DayKey.start(of: day, isCompleted: isCompleted), .end(of: day, isCompleted: isCompleted))
  }

  /// All entries of an index of instants.
  static let allInstants = KeyRange(InstantKey.start(at: .min), nil)

  /// The entries of an index of instants that lie within a span.
  static func instants(_ span: Range<Int64>) -> KeyRange {
    KeyRange(InstantKey.start(at: span.lowerBound), InstantKey.start(at: span.upperBound))
  }

  /// The tasks of a kind that are due, or whose due day begins in UTC, within a span.
  static func due(_ kind: DueKey.Kind, _ span: Range<Int64>) -> KeyRange {
    KeyRange(DueKey(kind, .start(at: span.lowerBound)), DueKey(kind, .start(at: span.upperBound)))
  }

  /// The open tasks that become overdue from one instant up to, but not including, another; and a few others.
  static func openDue(_ start: Timestamp, _ end: Timestamp, in zone: TimeZone) -> [KeyRange] {
    let span = start.microsecondsSince1970..<end.microsecondsSince1970
    return [.due(.open, span), .openFloating(span, in: zone)]
  }

  /// The open tasks whose wall-clock times are instants within a span in a zone, and a few others.
  static func openFloating(_ span: Range<Int64>, in zone: TimeZone) -> KeyRange {
    func local(_ instant: Int64, _ shift: Int64) -> Int64 {
      let known = Timestamp(clamping: instant)
      guard known.microsecondsSince1970 == instant else { return instant }
      return known.wallClock(in: zone).microsecondsSince1970 + shift
    }
    // Clocks go back by up to a day, and forward as far; a time that they skip is the same time after as before.
    let shift = QuarterHour.microsecondsPerDay
    return .due(.openFloating, local(span.lowerBound, -shift)..<local(span.upperBound, shift))
  }

  /// The open tasks that start after a day.
  static func starts(after day: CalendarDay) -> KeyRange { KeyRange(DueKey.starts(after: day), DueKey.endOfStarts) }

  /// The open and completed tasks due on a range of days; the ranges may include a few tasks of other days.
  static func due(_ first: CalendarDay, _ last: CalendarDay, in calendar: Calendar) -> [KeyRange] {
    let start = first.start(in: calendar).microsecondsSince1970
    let end = last.endWithRepeats(in: calendar) ?? .max
    let days = DueKey.microseconds(of: first.dayNumber)..<DueKey.microseconds(of: last.dayNumber + 1)
    return [
      .due(.open, start..<end), .due(.completed, start..<end), .due(.openDay, days), .due(.completedDay, days),
      .openFloating(start..<end, in: calendar.timeZone),
    ]
  }
}

extension ViewKey {
  /// The position of a task in Today; `nil` if it is neither planned for today nor due today.
  init?(of task: TaskItem, inToday today: CalendarDay, in timeZone: TimeZone) {
    guard task.scheduledDate == today || task.dueDay(in: timeZone) == today else { return nil }
    self.init(in: task.state, OrderKey(of: task), inToday: today)
  }

  /// Creates the position as if the task were planned for today, since planned and due tasks share one order.
  init(in state: TaskState, _ order: OrderKey, inToday today: CalendarDay) {
    self.init(in: state, order, dueOn: today, prefix: KeyBytes(UInt8(state.isClosed ? 1 : 0)))
  }

  /// The position of a task in the view of tasks due on a day.
  init(of task: TaskItem, dueOn day: CalendarDay) {
    self.init(in: task.state, OrderKey(of: task), dueOn: day)
  }

  init(in state: TaskState, _ order: OrderKey, dueOn day: CalendarDay, prefix: KeyBytes = KeyBytes()) {
    let key = DayKey(
      isCompleted: state.isClosed, dayNumber: day.dayNumber, rankRawValue: StateRank(state).rawValue, order: order)
    self.init(prefix: prefix, key)
  }
}

/// A task's position in a view, as bytes whose order is that of the view.
///
/// It consists of a prefix, which is the number of the range or the day, followed by the key in the index that the view
/// walks. In a view that walks backward, every bit of the key is flipped.
struct ViewKey: Hashable, Comparable, Sendable {
  let bytes: KeyBytes
  private let prefixByteCount: Int

  init(prefix: KeyBytes, _ indexKey: some BinaryCodable) {
    var bytes = prefix
    bytes.append(indexKey)
    self.bytes = bytes
    prefixByteCount = prefix.encodedByteCount
  }

  init(prefix: KeyBytes, _ indexKey: KeyBytes, isReversed: Bool) {
    self.init(prefix: prefix, isReversed ? indexKey.flipped : indexKey)
  }

  /// Creates a key from untrusted bytes, which may be a position that no task has; `nil` if they cannot be a key.
  init?(bytes: some Swift.Collection<UInt8>, prefixByteCount: Int) {
    guard (prefixByteCount + 1...KeyBytes.capacity).contains(bytes.count) else { return nil }
    self.bytes = KeyBytes(Array(bytes))
    self.prefixByteCount = prefixByteCount
  }

  var prefix: KeyBytes { bytes[0..<prefixByteCount] }

  /// The key in the view's index.
  func indexKey(isReversed: Bool) -> KeyBytes {
    let key = bytes[prefixByteCount..<bytes.encodedByteCount]
    return isReversed ? key.flipped : key
  }

  static func < (left: ViewKey, right: ViewKey) -> Bool { left.bytes < right.bytes }
}

extension TaskView: TextCodable {
  /// The view's name and its parameters: `today`, `list/7f3a…`, `due/2026-11-21`, `completed/START/END`,
  /// `matching/ORDER/FILTER`.
  public var text: String {
    switch self {
    case .list(let id): "\(name)/\(IDText(id).text)"
    case .due(let day): "\(name)/\(day.text)"
    case .matching(let filter, let order): "\(name)/\(order.text)/\(filter.text)"
    case .completed(let interval?): "\(name)/\(interval.lowerBound.text)/\(interval.upperBound.text)"
    default: name
    }
  }

  /// Parses a view; throws `invalidToken` for any other text.
  public init(text: String) throws(TallyError) {
    // A filter may contain slashes.
    let query = text.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
    if query.count == 3, query[0] == "matching" {
      self = .matching(try TaskFilter(text: query[2]), by: try TaskOrder(text: query[1]))
      return
    }
    let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    switch (parts[0], parts.count) {
    case ("list", 2): self = .list(try IDText(text: parts[1]).id)
    case ("due", 2): self = .due(on: try CalendarDay(text: parts[1]))
    case ("completed", 3):
      let (start, end) = (try Timestamp(text: parts[1]), try Timestamp(text: parts[2]))
      guard start <= end else { throw .invalidToken("view") }
      self = .completed(start..<end)
    case (let name, 1):
      guard let view = TaskView(name: name) else { throw .invalidToken("view") }
      self = view
    default: throw .invalidToken("view")
    }
  }

  /// Creates the view with a ``name``; `nil` for an unknown name, and for a view that has parameters, such as a list's.
  public init?(name: String) {
    guard let view = Self.named.first(where: { $0.name == name }) else { return nil }
    self = view
  }

  private static let named: [TaskView] = [
    .inbox, .today, .upcoming, .past, .overdue, .active, .completed(nil), .all, .next, .waiting,
  ]
}

extension ViewPosition: TextCodable {
  /// The position as a token for an address, in the URL-safe alphabet of base 64 (RFC 4648, section 5).
  ///
  /// It contains the view and the position of one task in it, and no text of the user. It is valid in every
  /// process, as long as the store's format keeps its order of tasks.
  public var text: String {
    var bytes = Array(view.text.utf8) + [0, UInt8(key.prefix.encodedByteCount)]
    bytes += key.bytes.bytes.bytes(from: 0)
    return Data(bytes).base64EncodedString()
      .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }

  /// Parses a token; throws `invalidToken` for any other text.
  public init(text: String) throws(TallyError) {
    let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    let base64 = text.replacing("-", with: "+").replacing("_", with: "/") + padding
    guard let bytes = Data(base64Encoded: base64).map(Array.init), let end = bytes.firstIndex(of: 0),
      end + 2 < bytes.count, let view = String(validating: bytes[..<end], as: UTF8.self),
      let key = ViewKey(bytes: bytes[(end + 2)...], prefixByteCount: Int(bytes[end + 1]))
    else { throw .invalidToken("position of a view") }
    self.init(view: try TaskView(text: view), key: key)
  }
}
