internal import Foundation
internal import Tally

extension CalendarRecord {
  func document(_ context: FormatContext) throws -> TaskDocument {
    var document = TaskDocument()
    if let uid = first("UID")?.unescaped { document[.id] = .id(Self.id(ofUID: uid)) }
    document[.text] = .text(first("SUMMARY")?.unescaped ?? "")
    document[.notes] = (first("DESCRIPTION")?.unescaped).map { .text($0) }
    try readDates(into: &document, context)
    try readState(into: &document, context)
    document[.priority] = first("PRIORITY").map { .priority(Self.priority($0.value)) }
    if document[.priority] == .priority(.none) { document[.priority] = nil }
    let tags = TagSet(lines.filter { $0.name == "CATEGORIES" }.flatMap(\.unescapedList).filter { !$0.isEmpty })
    document[.tags] = tags.isEmpty ? nil : .tags(tags)
    // A relation without a type is that to the parent (RFC 5545, section 3.2.15).
    let parent = lines.first { $0.name == "RELATED-TO" && ($0.parameter("RELTYPE") ?? "PARENT") == "PARENT" }
    document[.parentID] = parent.map { .id(Self.id(ofUID: $0.unescaped)) }
    document[.listID] = nil
    document.listName = first(Self.listName)?.unescaped
    document.set(attributes(document))
    return document
  }

  private func readDates(into document: inout TaskDocument, _ context: FormatContext) throws {
    func date(_ name: String) throws -> CalendarDate? {
      try first(name).map { try CalendarDate($0, zones: zones, context) }
    }
    let modified = try date("LAST-MODIFIED") ?? date("DTSTAMP")
    if let modified { document[.updatedAt] = .instant(modified.instant(in: context)) }
    let created = try date("CREATED") ?? modified
    if let created { document[.createdAt] = .instant(created.instant(in: context)) }
    document[.scheduledDate] = try date("DTSTART").map { .day($0.day(in: context)) }
    document[.dueDate] = nil
    document[.dueDay] = nil
    switch try date("DUE") {
    case .day(let day)?: document[.dueDay] = .day(day)
    case .instant(let instant)?: document[.dueDate] = .instant(instant)
    case nil: break
    }
    document[.reminderDate] = reminder(document, context).map { .instant($0) }
    if let rule = first("RRULE")?.value, let recurrence = try? Recurrence(text: rule, timeZone: context.timeZone) {
      document[.recurrence] = .recurrence(recurrence)
    } else {
      document[.recurrence] = nil
    }
  }

  private func readState(into document: inout TaskDocument, _ context: FormatContext) throws {
    let completed = try first("COMPLETED").map { try CalendarDate($0, zones: zones, context).instant(in: context) }
    let status = first("STATUS")?.value.uppercased()
    let percent = first("PERCENT-COMPLETE").flatMap { Int($0.value) } ?? 0
    let isCompleted = status == "COMPLETED" || status == nil && (completed != nil || percent == 100)
    let isActive = status == "IN-PROCESS" || status == nil && (1..<100).contains(percent)
    document[.state] = .state(isCompleted ? .completed : isActive ? .active : .notStarted)
    let instant = completed ?? (document.has(.updatedAt) ? document.task.updatedAt : context.now)
    document[.completedAt] = isCompleted ? .offsetInstant(OffsetTimestamp(instant, in: context.timeZone)) : nil
  }
}
