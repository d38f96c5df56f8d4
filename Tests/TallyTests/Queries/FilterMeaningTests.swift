import Foundation
import Testing

@testable import Tally
@testable import TallyEngine

/// What conditions mean for single tasks, at Saturday, 2026-11-21, 15:00 in Istanbul.
struct FilterMeaningTests {
  private let model: FilterModel
  private let work = TaskList(name: "Work", createdAt: .earliest)
  private let home = TaskList(name: "Home", createdAt: .earliest)

  init() throws {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try #require(TimeZone(identifier: "Europe/Istanbul"))
    calendar.firstWeekday = 2
    model = FilterModel(
      now: try Timestamp(iso8601: "2026-11-21T12:00:00Z"), calendar: calendar,
      lists: [work, home, TaskList(name: "work", createdAt: .earliest)])
  }

  private func instant(_ text: String) throws -> Timestamp { try Timestamp(iso8601: text) }
  private func day(_ text: String) throws -> CalendarDay { try CalendarDay(iso8601: text) }

  private func made(_ edit: (inout TaskItem) throws -> Void = { _ in }) rethrows -> TaskItem {
    var task = TaskItem(title: "Task", createdAt: .earliest)
    try edit(&task)
    return task
  }

  /// The answer of the model, if that of the test of a stored record is the same.
  private func answer(_ filter: TaskFilter, _ task: TaskItem) throws -> Bool? {
    let bytes = encoded(TaskRecord(item: task, stamp: ChangeStamp(replacing: nil, at: 0)))
    let reference = DateReference(now: model.now, calendar: model.calendar)
    let predicate = try FilterResolution(reference, lists: model.lists).predicate(filter)
    var folder = TextFolder()
    let facts = unsafe try FilterFacts(task.id, bytes.span.bytes, upTo: predicate.lastTag)
    let isFound = try RecordProgram(predicate).matches(facts, &folder) { _, _ in 0 }
    return model.matches(filter, task) == isFound ? isFound : nil
  }

  private func expect(
    _ task: TaskItem, matches: [String], doesNotMatch: [String], _ location: SourceLocation = #_sourceLocation
  ) throws {
    for text in matches {
      #expect(try answer(TaskFilter(text: text), task) == true, "\(text)", sourceLocation: location)
      #expect(try answer(!TaskFilter(text: text), task) == false, "-(\(text))", sourceLocation: location)
    }
    for text in doesNotMatch {
      #expect(try answer(TaskFilter(text: text), task) == false, "\(text)", sourceLocation: location)
      #expect(try answer(!TaskFilter(text: text), task) == true, "-(\(text))", sourceLocation: location)
    }
  }

  @Test func aComparisonWithAnAbsentValueIsFalse() throws {
    try expect(
      made(), matches: ["due!=today", "-due<=today", "-has:due", "@a!=5", "priority=none", "priority<high"],
      doesNotMatch: [
        "due=today", "due<today", "due>=today", "day>=0001-01-01", "reminder<now", "completed<=today", "@a=5", "@a<5",
        "has:priority", "notes~a",
      ])
  }

  @Test func aDueInstantIsComparedByItsLocalDayOrItsTime() throws {
    // 00:30 of the 22nd in Istanbul, still the 21st in UTC.
    let task = try made { $0.dueDate = try instant("2026-11-21T21:30:00Z") }
    try expect(
      task,
      matches: [
        "due=tomorrow", "due>today", "due<=2026-11-22", "due>=tomorrow", "due<\"tomorrow 1am\"",
        "due=2026-11-21T21:30:00Z", "due>\"today 23:59\"", "due<today+3d",
      ],
      doesNotMatch: ["due=today", "due<=today", "due>tomorrow", "due<2026-11-21T21:30:00Z", "is:overdue"])
  }

  @Test func aDueDayCountsAsItsLastMoment() throws {
    let task = try made { $0.dueDay = try day("2026-11-21") }
    try expect(
      task,
      matches: ["due=today", "due<=today", "due<tomorrow", "due>now", "due>\"today 23:59\"", "due<\"tomorrow 0:00\""],
      doesNotMatch: ["due<now", "due<=\"today 23:59\"", "due>today", "is:overdue", "due>=\"tomorrow 0:00\""])
    try expect(
      made { $0.dueDay = try day("2026-11-20") }, matches: ["is:overdue", "due<now"], doesNotMatch: ["due=today"])
  }

  @Test func thePlannedDayIsComparedAsADay() throws {
    let task = try made { $0.scheduledDate = try day("2026-11-21") }
    try expect(
      task, matches: ["day=today", "day<=now", "day=\"today 5pm\"", "day>=2026-11-21T00:00:00Z"],
      doesNotMatch: ["day<now", "day>now", "day=2026-11-21T22:00:00Z"])
  }

  @Test func daysOfWhatIsDoneLookBack() throws {
    let task = try made {
      $0.state = .completed
      $0.completedAt = OffsetTimestamp(try instant("2026-11-20T10:00:00Z"), in: .gmt)
      $0.createdAt = try instant("2026-11-16T10:00:00Z")
    }
    try expect(
      task, matches: ["completed=friday", "completed>=friday", "created=monday", "created<friday"],
      doesNotMatch: ["completed=\"next friday\"", "created>monday"])
    try expect(
      made { $0.dueDay = try day("2026-11-27") }, matches: ["due=friday"], doesNotMatch: ["due=\"last friday\""])
  }

  @Test func overdueFollowsDueThenReminder() throws {
    let past = try instant("2026-11-21T11:59:59Z")
    try expect(made { $0.dueDate = past }, matches: ["is:overdue", "is:open"], doesNotMatch: ["is:done"])
    try expect(made { $0.dueDate = model.now }, matches: [], doesNotMatch: ["is:overdue"])
    try expect(made { $0.reminderDate = past }, matches: ["is:overdue"], doesNotMatch: [])
    let later = try made {
      $0.dueDay = try day("2026-11-30")
      $0.reminderDate = past
    }
    try expect(later, matches: [], doesNotMatch: ["is:overdue"])
    let done = made {
      $0.state = .completed
      $0.dueDate = past
      $0.completedAt = OffsetTimestamp(past, in: .gmt)
    }
    try expect(done, matches: ["is:done"], doesNotMatch: ["is:overdue", "is:open"])
  }

  @Test func listsAreNamedExactlyBeforeAnyCase() throws {
    try expect(
      made { $0.listID = work.id }, matches: ["list:Work", "has:list", "list:\(work.id.uuidString)"],
      doesNotMatch: ["list:work", "list:none", "list:inbox"])
    try expect(made { $0.listID = home.id }, matches: ["list:HOME"], doesNotMatch: ["list:Work"])
    try expect(made(), matches: ["list:none", "list:inbox"], doesNotMatch: ["has:list"])
    try expect(
      made { $0.scheduledDate = try day("2026-11-21") }, matches: ["list:none"], doesNotMatch: ["list:inbox"])
    #expect(throws: TallyError.self) { try answer(TaskFilter(text: "list:Gone"), made()) }
  }

  @Test func textsAreComparedWithoutCaseAccentsAndWidth() throws {
    let task = made {
      $0.title = "Café Ｔｏｋｙｏ"
      $0.notes = "Steuer\nÜberweisung"
      $0.tags = ["Ärger"]
    }
    try expect(
      task,
      matches: ["cafe", "CAFÉ", "tokyo", "\"e t\"", "uber", "title~tokyo", "notes~steuer", "#ärger", "#ÄRGER"],
      doesNotMatch: ["title~uber", "notes~cafe", "arger", "#arger", "#ärg", "\"steuer u\""])
  }

  @Test func anAttributesOwnKindDecidesHowAValueIsRead() throws {
    let values: [String: AttributeValue] = [
      "client": .text("Acme Inc"), "count": .integer(5), "cost": .real(12.5), "paid": .flag(true),
      "seen": .instant(try instant("2026-11-21T21:30:00Z")), "from": .day(try day("2026-11-21")), "raw": .bytes([1]),
      "code": .text("5"),
    ]
    let task = made { $0.attributes = values }
    try expect(
      task,
      matches: [
        "@client=\"Acme Inc\"", "@client~ACME", "@client<B", "@count=5", "@count<5.5", "@count>=5", "@cost>12",
        "@paid=true",
        "@paid=TRUE", "@seen=tomorrow", "@seen>now", "@from=today", "@from>now", "has:@raw", "@code=5", "@paid!=false",
        "@raw!=1",
      ],
      doesNotMatch: [
        "@client=acme", "@count=five", "@count~5", "@cost>13", "@paid=false", "@paid>=false", "@seen=today", "@raw=1",
        "@code=5.0", "@none=1", "has:@none", "@from<now",
      ])
  }
}
