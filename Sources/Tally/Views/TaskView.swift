public import Foundation
import LMDB

/// One of the ways to look at a store's tasks.
///
/// Unless it says otherwise, a view lists active tasks first, then those not started, then the completed ones;
/// inside a state by `sortOrder`, then `createdAt`, then `id`.
public enum TaskView: Hashable, Sendable {
  /// The tasks with no list and no scheduled day, in any state.
  case inbox
  /// The tasks scheduled for the current day or due on it, each once; completed ones stay visible.
  case today
  /// The tasks scheduled after today, in sections by day.
  case upcoming
  /// The open tasks scheduled before today, in sections by day, newest day first.
  case past
  /// The tasks of one list.
  case list(UUID)
  /// The open tasks that are late, oldest first: whose due date has passed, whose due day has ended, or, for those with
  /// neither, whose reminder has passed.
  case overdue
  /// The tasks due on a day or at an instant inside that local day, in any state.
  case due(on: CalendarDay)
  /// The active tasks of every place.
  case active
  /// The tasks completed in an interval, or ever, newest first; the interval's end is not part of it.
  case completed(Range<Timestamp>?)
  /// Every task, by creation.
  case all
  /// The open tasks in the order in which to do them: see ``TaskOrder/Key/next``.
  case next
  /// The tasks that a filter finds, in an order.
  case matching(TaskFilter, by: TaskOrder)

  /// The view's name, which stays the same from version to version: `inbox`, `today` and so on.
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
    case .matching: "matching"
    }
  }

  /// The filter and the order of a view that no index has as a whole; `nil` for any other.
  var query: (filter: TaskFilter, order: TaskOrder)? {
    switch self {
    case .next: (.is(.open), .next)
    case .matching(let filter, let order): (filter, order)
    default: nil
    }
  }

  /// Whether the view shows its tasks in sections by day.
  public var hasDaySections: Bool {
    self == .upcoming || self == .past
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// The definition of a view for this transaction's clock and calendar.
  ///
  /// - Throws: for a query, `listNotFound` and what else resolving its filter throws.
  func definition(of view: TaskView) throws -> ViewDefinition {
    switch view {
    case .inbox: ViewDefinition(of: ByPlace.self, tables.byPlace, [.place(nil)])
    case .list(let id): ViewDefinition(of: ByPlace.self, tables.byPlace, [.place(id)])
    case .active: ViewDefinition(of: ByActive.self, tables.byActive, [KeyRange(OrderKey.lowest, nil)])
    case .all: ViewDefinition(of: ByCreated.self, tables.byCreated, [KeyRange(InstantKey.start(at: .min), nil)])
    case .overdue: overdueDefinition
    case .today: todayDefinition
    case .upcoming: daysDefinition(DayWalk(isPast: false, today: today.dayNumber))
    case .past: daysDefinition(DayWalk(isPast: true, today: today.dayNumber))
    case .due(let day): dueDefinition(day)
    case .completed(let interval): completedDefinition(interval)
    case .next: try queryDefinition(.is(.open), .next)
    case .matching(let filter, let order): try queryDefinition(filter, order)
    }
  }

  private func queryDefinition(_ filter: TaskFilter, _ order: TaskOrder) throws -> ViewDefinition {
    ViewDefinition(index: tables.tasks.rawIndex, walk: .query(try resolved(filter, by: order))) { _ in nil }
  }

  private var todayDefinition: ViewDefinition {
    let (today, timeZone) = (today, calendar.timeZone)
    let (changedDays, changedDueDays) = (changedDays, changedDueDays)
    return ViewDefinition(
      index: tables.byDay.rawIndex, walk: .today(KeyRange.days(today.dayNumber, today.dayNumber)),
      changedRanges: { changedDays($0) + changedDueDays($0) },
      key: { ViewKey(of: $0.item, inToday: today, in: timeZone) })
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
        let ranges: [KeyRange] = [
          .openDue(min(former, now), max(former, now)), .openDueDays(min(day, today), max(day, today)),
        ]
        return ranges.map { IndexRange(index: index, range: $0) }
      },
      key: { record in
        let task = record.item
        if task.isCompleted { return nil }
        if let day = task.dueDay { return day.dayNumber < today ? ViewKey(overdue: day, task.id, in: calendar) : nil }
        guard let due = task.overdueDate, due < now else { return nil }
        return ViewKey(overdue: due.microsecondsSince1970, task.id)
      })
  }

  private func dueDefinition(_ day: CalendarDay) -> ViewDefinition {
    ViewDefinition(index: tables.byDue.rawIndex, walk: .due(on: day)) { [calendar] record in
      guard record.item.dueDay(in: calendar.timeZone) == day else { return nil }
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

  /// The tasks planned for the days between that of an instant and today, both included; none if they are the same.
  private var changedDays: (Timestamp) -> [IndexRange] {
    let (index, days) = (tables.byDay.rawIndex, changedDayRange)
    return { former in
      guard let days = days(former) else { return [] }
      return KeyRange.days(days.lowerBound.dayNumber, days.upperBound.dayNumber).map {
        IndexRange(index: index, range: $0)
      }
    }
  }

  /// The tasks due on those days.
  private var changedDueDays: (Timestamp) -> [IndexRange] {
    let (index, days, calendar) = (tables.byDue.rawIndex, changedDayRange, calendar)
    return { former in
      guard let days = days(former) else { return [] }
      return KeyRange.due(days.lowerBound, days.upperBound, in: calendar).map { IndexRange(index: index, range: $0) }
    }
  }

  private var changedDayRange: (Timestamp) -> ClosedRange<CalendarDay>? {
    let (calendar, today, dayStart) = (calendar, today, dayStartInMinutes)
    return { former in
      let day = CalendarDay(containing: former, in: calendar.timeZone, startingAtMinute: dayStart)
      return day == today ? nil : min(day, today)...max(day, today)
    }
  }
}

/// What a view shows: its tasks, in sections.
public struct ViewResult: Hashable, Sendable {
  /// The view that was asked for.
  public let view: TaskView
  /// The instant that counted as now.
  public let asOf: Timestamp
  /// The time zone that said what a day is.
  public let timeZone: TimeZone
  /// How many of the tasks are completed.
  public let completedCount: Int
  /// The tasks: a section a day where the view has days, else one section.
  public let sections: [ViewSection]

  /// Makes a result.
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

/// Some tasks of a view that belong to one day, or to none.
public struct ViewSection: Hashable, Codable, Sendable {
  /// The scheduled day that the tasks share, in a view with days.
  public let day: CalendarDay?
  /// The tasks, in the view's order.
  public internal(set) var tasks: [TaskItem]

  /// Makes a section.
  public init(day: CalendarDay?, tasks: [TaskItem]) {
    self.day = day
    self.tasks = tasks
  }
}

/// A part of a view, and where the next part begins.
public struct ViewPage: Hashable, Codable, Sendable {
  /// The tasks of this page; a day may go on in the next one.
  public let sections: [ViewSection]
  /// Where the next page begins; `nil` on the last one.
  public let next: ViewPosition?

  /// The tasks of all sections, in order.
  public var tasks: [TaskItem] { sections.allTasks }
}

/// A place in a view: after the last task of a page.
///
/// It stays valid when tasks come and go: it names a place in the order, not a number of rows.
public struct ViewPosition: Hashable, Sendable {
  /// The view that the position belongs to: the same key means another place in another view.
  let view: TaskView
  let key: ViewKey
}

extension [ViewSection] {
  /// The tasks of all sections; where there is but one, as in most views, without a copy.
  fileprivate var allTasks: [TaskItem] {
    count == 1 ? self[0].tasks : flatMap(\.tasks)
  }
}

/// A view for one clock and calendar: the index that it walks, the ranges of the index that it shows, the key of a task
/// and what time alone changes.
///
/// Five views are more than ranges of an index: Upcoming and Past are ranges per day, Overdue merges instants and days,
/// the tasks due on a day are sorted after they are found, because days begin at other instants in other zones, and
/// Today puts those between the tasks that are planned for the day.
struct ViewDefinition {
  enum Walk {
    case ranges([KeyRange], isReversed: Bool)
    /// The ranges have the tasks that are planned for today.
    case today([KeyRange])
    case days(DayWalk)
    case due(on: CalendarDay)
    case overdue
    /// The planner chooses the index, and the key of a task needs its record.
    case query(ResolvedQuery)
  }

  let index: RawIndex
  let walk: Walk
  /// The keys of tasks that time alone may have moved into the view or out of it since an instant.
  var changedRanges: (Timestamp) -> [IndexRange] = { _ in [] }
  /// The position of a task; `nil` for one that the view does not show.
  let key: (TaskRecord) -> ViewKey?
}

extension ViewDefinition {
  /// A view that shows some ranges of an index, one after the other.
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

/// Keys of one of the indexes.
struct IndexRange {
  let index: RawIndex
  let range: KeyRange
}

/// A table as bytes, for walks that are the same for all indexes.
typealias RawIndex = Database<KeyBytes, [UInt8]>

extension Database {
  /// The same index as bytes.
  var rawIndex: RawIndex { raw(keyedBy: KeyBytes.self) }
}

/// A cursor over the bytes of an index.
typealias RawCursor = Cursor<KeyBytes, [UInt8]>

extension KeyRange {
  /// The tasks of a list, or those of the inbox.
  static func place(_ listID: UUID?) -> KeyRange {
    KeyRange(
      PlaceKey(listID: listID, rankRawValue: 0, order: .lowest),
      PlaceKey(listID: listID, rankRawValue: StateRank.endRawValue, order: .lowest))
  }

  /// The tasks scheduled for some days: the open ones, then the completed ones.
  static func days(_ first: Int32, _ last: Int32) -> [KeyRange] {
    [false, true].map { KeyRange(DayKey.start(of: first, isCompleted: $0), .end(of: last, isCompleted: $0)) }
  }

  /// The open or the completed tasks scheduled for a day.
  init(of day: Int32, isCompleted: Bool) {
    self.init(DayKey.start(of: day, isCompleted: isCompleted), .end(of: day, isCompleted: isCompleted))
  }

  /// The open tasks that become overdue from an instant on, up to but not including another one.
  static func openDue(_ start: Timestamp, _ end: Timestamp) -> KeyRange {
    KeyRange(
      DueKey(.open, .start(at: start.microsecondsSince1970)), DueKey(.open, .start(at: end.microsecondsSince1970)))
  }

  /// The tasks, open and completed, that are due on the given days; the ranges may contain a few tasks of other days.
  static func due(_ first: CalendarDay, _ last: CalendarDay, in calendar: Calendar) -> [KeyRange] {
    let start = InstantKey.start(at: first.start(in: calendar).microsecondsSince1970)
    let end = last.endWithRepeats(in: calendar).map { InstantKey.start(at: $0) } ?? .start(at: .max)
    return [DueKey.Kind.open, .completed].map { KeyRange(DueKey($0, start), DueKey($0, end)) }
      + [false, true].map {
        KeyRange(
          DueKey.start(of: first.dayNumber, isCompleted: $0), DueKey.start(of: last.dayNumber + 1, isCompleted: $0))
      }
  }

  /// The open tasks due on a day from one on, up to but not including another one.
  static func openDueDays(_ first: Int32, _ end: Int32) -> KeyRange {
    KeyRange(DueKey.start(of: first, isCompleted: false), DueKey.start(of: end, isCompleted: false))
  }
}

extension ViewKey {
  /// The position of a task in Today; `nil` for one that is neither planned for today nor due today.
  init?(of task: TaskItem, inToday today: CalendarDay, in timeZone: TimeZone) {
    guard task.scheduledDate == today || task.dueDay(in: timeZone) == today else { return nil }
    self.init(in: task.state, OrderKey(of: task), inToday: today)
  }

  /// As if the task were planned for today: the planned tasks and the others have one order.
  init(in state: TaskState, _ order: OrderKey, inToday today: CalendarDay) {
    let isCompleted = state == .completed
    let key = DayKey(
      isCompleted: isCompleted, dayNumber: today.dayNumber, rankRawValue: StateRank(state).rawValue, order: order)
    self.init(prefix: KeyBytes(UInt8(isCompleted ? 1 : 0)), key)
  }

  /// The position of a task in the view of those due on a day.
  init(of task: TaskItem, dueOn day: CalendarDay) {
    self.init(in: task.state, OrderKey(of: task), dueOn: day)
  }

  init(in state: TaskState, _ order: OrderKey, dueOn day: CalendarDay) {
    let key = DayKey(
      isCompleted: state == .completed, dayNumber: day.dayNumber, rankRawValue: StateRank(state).rawValue, order: order)
    self.init(prefix: KeyBytes(), key)
  }
}

/// A task's position in the order of a view: bytes that compare as the view orders its tasks.
///
/// A prefix, which is the number of the range or the day, then the key in the index that the view walks; in a view that
/// walks backwards every bit of the key is flipped.
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

  /// Bytes from outside, which may name a position that no task of the view has; `nil` for those that cannot.
  init?(bytes: some Collection<UInt8>, prefixByteCount: Int) {
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
  /// The view's name, then what it is about: `today`, `list/7f3a…`, `due/2026-11-21`, `completed/START/END`,
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

  /// Reads a view; throws `invalidToken` for a text that names none.
  public init(text: String) throws(TallyError) {
    // A filter may have slashes of its own.
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

  /// The view with a ``name``; `nil` for a name that says too little, as that of a list's view, or nothing.
  public init?(name: String) {
    guard let view = Self.named.first(where: { $0.name == name }) else { return nil }
    self = view
  }

  private static let named: [TaskView] = [
    .inbox, .today, .upcoming, .past, .overdue, .active, .completed(nil), .all, .next,
  ]
}

extension ViewPosition: TextCodable {
  /// The position as a token for an address, in the letters of base 64 for addresses (RFC 4648, section 5).
  ///
  /// It names the view and the place of one task in it, and no text of the user's. It is valid in every process, for as
  /// long as the store's format keeps its order of tasks.
  public var text: String {
    var bytes = Array(view.text.utf8) + [0, UInt8(key.prefix.encodedByteCount)]
    bytes += key.bytes.bytes.bytes(from: 0)
    return Data(bytes).base64EncodedString()
      .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }

  /// Reads a token; throws `invalidToken` for any other text.
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
