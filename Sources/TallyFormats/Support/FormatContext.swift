internal import Foundation
internal import Tally

/// What turns the local times of a format into instants: the store's calendar and its clock.
struct FormatContext: Sendable {
  private(set) var calendar: Calendar
  let now: Timestamp
  /// The lists that share their name with another one, which an export must name by their ids.
  var ambiguousLists: Set<UUID> = []
  /// Whether the caller has said how dates are written.
  let hasDateOrder: Bool
  /// What the caller has said about the document.
  var options = FormatOptions()
  /// Where a reader says what it does not understand.
  var remarks = RemarkLog()

  /// The context of an export.
  init(calendar: Calendar, now: Timestamp, lists: [TaskList], options: FormatOptions) {
    self.init(calendar: calendar, now: now, options: options)
    let byName = Dictionary(grouping: lists, by: \.name)
    ambiguousLists = Set(byName.values.filter { $0.count > 1 }.flatMap { $0 }.map(\.id))
  }

  init(calendar: Calendar, now: Timestamp, options: FormatOptions) {
    (self.calendar, self.now, self.options) = (calendar, now, options)
    hasDateOrder = options.dateOrder != nil
    self.options.dateOrder = options.dateOrder ?? options.usualDateOrder
  }

  var timeZone: TimeZone { calendar.timeZone }

  /// The same in another time zone, if it is known.
  func `in`(_ zone: String?) -> FormatContext {
    guard let zone = zone.flatMap({ TimeZone(identifier: $0) }), zone != timeZone else { return self }
    var context = self
    context.calendar.timeZone = zone
    return context
  }

  /// The first instant of a day.
  func start(of day: CalendarDay) -> Timestamp { day.start(in: calendar) }

  /// The day of an instant.
  func day(of instant: Timestamp) -> CalendarDay { CalendarDay(containing: instant, in: calendar) }

  /// The instant that stands for a day on which something was done: noon, or now if that is today and has not come yet.
  func noon(of day: CalendarDay) -> OffsetTimestamp {
    let noon = start(of: day).adding(seconds: 43_200)
    return OffsetTimestamp(day == self.day(of: now) ? min(noon, now) : noon, in: timeZone)
  }

  /// When a task was completed that is done without a date: noon of the given day, or long ago.
  var undatedCompletion: OffsetTimestamp {
    options.completedOn.map(noon) ?? OffsetTimestamp(Self.longAgo, in: .gmt)
  }

  /// Stands for an instant that nobody knows.
  static let longAgo = TaskDocument.longAgo

  /// The last instant of a day.
  func end(of day: CalendarDay) -> Timestamp {
    guard let next = try? day.adding(days: 1) else { return .latest }
    return start(of: next).adding(microseconds: -1)
  }
}

/// Counts what a reader does not understand by kind, so that memory does not grow with the document.
///
/// One reader uses it, on one thread at a time.
final class RemarkLog: @unchecked Sendable {
  private var remarks: [(remark: DocumentRemark, position: TextPosition?)] = []
  /// Whether some text was passed over that belongs to no task.
  private(set) var hasTexts = false
  /// The place of what is being read; `nil` for that of its task.
  var position: TextPosition?

  /// Notes something of a kind, as the document has it.
  ///
  /// With `isListed`, every example is listed, not only the first: columns use it, as they are few.
  func add(_ kind: String, _ example: some StringProtocol, at position: TextPosition? = nil, isListed: Bool = false) {
    hasTexts = hasTexts || kind == "text"
    if let index = remarks.firstIndex(where: { $0.remark.kind == kind }) {
      remarks[index].remark.count += 1
      if isListed { remarks[index].remark.list(String(example)) }
    } else {
      remarks.append((DocumentRemark(kind, String(example)), position ?? self.position))
    }
  }

  /// Removes and returns the first remark.
  func takeFirst() -> (DocumentRemark, TextPosition?)? { remarks.isEmpty ? nil : remarks.removeFirst() }

  /// Forgets what `body` notes, as it reads something only to compare it.
  func discarding<R>(_ body: () throws -> R) rethrows -> R {
    let before = remarks
    defer { remarks = before }
    return try body()
  }
}
