internal import Foundation
internal import Tally

extension CalendarRecord {
  func document(_ context: FormatContext) throws -> TaskDocument {
    var document = TaskDocument()
    if let uid = first("UID")?.unescaped {
      let occurrence = first("RECURRENCE-ID").map { Self.text([$0]) }
      document[.id] = .id(Self.id(ofUID: uid, occurrence: occurrence))
    }
    document[.text] = .text(first("SUMMARY")?.unescaped ?? "")
    document[.notes] = (first("DESCRIPTION")?.unescaped).map { .text($0) }
    readDates(into: &document, context)
    readState(into: &document, context)
    document[.priority] = first("PRIORITY").map { .priority(Self.priority($0.value)) }
    if document[.priority] == .priority(.none) { document[.priority] = nil }
    let tags = TagSet(lines.filter { $0.name == "CATEGORIES" }.flatMap(\.unescapedList).filter { !$0.isEmpty })
    document[.tags] = tags.isEmpty ? nil : .tags(tags)
    // A relation without a type is that to the parent (RFC 5545, section 3.2.15).
    let parent = lines.first { $0.isParent }
    document[.parentID] = parent.map { .id(Self.id(ofUID: $0.unescaped)) }
    document.keptParent = parent.map { ("RELATED-TO", Self.text([$0])) }
    document[.listID] = nil
    document.listName = first(Self.listName)?.unescaped
    document.set(attributes(document, context))
    return document
  }

  /// The date of a property; one that is not understood leaves a remark.
  private func date(_ name: String, _ context: FormatContext) -> CalendarDate? {
    guard let line = first(name) else { return nil }
    let date = CalendarDate(line, zones: zones, context)
    if date == nil { context.remarks.add("date", line.text) }
    return date
  }

  /// The due date, or the end of a duration (RFC 5545, section 3.8.2.5).
  private func due(_ start: CalendarDate?, _ context: FormatContext) -> CalendarDate? {
    guard first("DUE") == nil, let duration = first("DURATION"), let start else { return date("DUE", context) }
    guard let seconds = CalendarDuration.seconds(duration.value) else {
      context.remarks.add("duration", duration.value)
      return nil
    }
    if case .day(let day) = start, seconds % 86_400 == 0, let end = try? day.adding(days: Int(seconds / 86_400)) {
      return .day(end)
    }
    return .instant(start.instant(in: context).adding(seconds: seconds))
  }

  private func readDates(into document: inout TaskDocument, _ context: FormatContext) {
    let modified = date("LAST-MODIFIED", context) ?? date("DTSTAMP", context)
    if let modified { document[.updatedAt] = .instant(modified.instant(in: context)) }
    let created = date("CREATED", context) ?? modified
    if let created { document[.createdAt] = .instant(created.instant(in: context)) }
    let start = date("DTSTART", context)
    document[.scheduledDate] = start.map { .day($0.day(in: context)) }
    document[.dueDate] = nil
    document[.dueDay] = nil
    switch due(start, context) {
    case .day(let day)?: document[.dueDay] = .day(day)
    case .instant(let instant)?: document[.dueDate] = .instant(instant)
    case nil: break
    }
    document[.reminderDate] = (reminder(context)?.instant).map { .instant($0) }
    document[.recurrence] = nil
    guard let rule = first("RRULE")?.value else { return }
    document[.recurrence] = (try? Recurrence(text: rule, timeZone: context.timeZone)).map { .recurrence($0) }
    if document[.recurrence] == nil { context.remarks.add("recurrence", rule) }
  }

  private func readState(into document: inout TaskDocument, _ context: FormatContext) {
    let completed = date("COMPLETED", context)?.instant(in: context)
    let status = first("STATUS")?.value.trimmed.uppercased()
    let percent = first("PERCENT-COMPLETE").flatMap { Int($0.value) } ?? 0
    // A person closed it without doing it: not today, but when the document was changed last.
    let isCancelled = status == "CANCELLED"
    let isKnown = ["COMPLETED", "IN-PROCESS", "NEEDS-ACTION", "CANCELLED"].contains(status)
    if let status, !isKnown { context.remarks.add("state", status) }
    let isCompleted = status == "COMPLETED" || isCancelled || !isKnown && (completed != nil || percent == 100)
    let isActive = status == "IN-PROCESS" || !isKnown && (1..<100).contains(percent)
    document[.state] = .state(isCompleted ? .completed : isActive ? .active : .notStarted)
    guard isCompleted else { return document[.completedAt] = nil }
    let instant = completed ?? (document.has(.updatedAt) ? document.task.updatedAt : nil)
    document[.completedAt] = .offsetInstant(
      instant.map { OffsetTimestamp($0, in: context.timeZone) } ?? context.undatedCompletion)
  }
}

extension ContentLine {
  /// Whether the line names the parent; a relation without a type does (RFC 5545, section 3.2.15).
  var isParent: Bool { name == "RELATED-TO" && (parameter("RELTYPE") ?? "PARENT").uppercased() == "PARENT" }
}
