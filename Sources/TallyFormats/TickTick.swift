import Foundation
import Tally

/// Reads a backup as TickTick exports it: some lines about the file, then a table of the tasks of all lists.
///
/// Source: files that its web version exports. Of priorities, 5 is high, 3 medium, 1 low and 0 none; of states, 0 is open,
/// 1 and 2 are completed and -1 is “won't do”. Instants are in UTC, all-day dates in the row's zone.
final class TickTickSource: RowSource {
  override func nextTask() throws -> (TaskDocument, TextPosition)? {
    while columns == nil {
      guard let row = try rows.next() else {
        throw TallyError.malformed("No row has the columns List Name and Title", line: 1)
      }
      let names = row.map { $0.text.trimmed }
      if names.contains("Title"), names.contains("List Name") { columns = names }
    }
    while let (cells, position) = try nextCells() {
      context.remarks.position = position
      if !cells.isEmpty { return (task(cells), position) }
    }
    return nil
  }

  private func task(_ row: [String: String]) -> TaskDocument {
    var document = TaskDocument()
    document[.text] = .text(row["Title"] ?? row["Content"]?.prefix { !$0.isNewline }.description ?? "")
    document[.notes] = row["Content"].map { .text($0) }
    document.listName = row["List Name"]
    document[.tags] = row["Tags"].map { .tags(TagSet($0.split(separator: ",").map(String.init))) }
    document.attributes = [:]
    let priority = row["Priority"] ?? "0"
    document[.priority] = ["1": .low, "3": .medium, "5": .high][priority].map { .priority($0) }
    if document[.priority] == nil, priority != "0" {
      document.store(priority, as: "Priority", remark: "priority", priority, context)
    }
    readDates(row, into: &document)
    readState(row, into: &document)
    document.attributes.merge(row.filter { !Self.known.contains($0.key) }.mapValues { .text($0) }) { $1 }
    if let kind = row["Kind"], kind == "NOTE" {
      document.store(kind, as: "Kind", remark: "note", row["Title"] ?? "", context)
    }
    if let parent = row["parentId"] {
      document[.parentID] = .id(id(parent))
      document.keptParent = ("parentId", parent)
    }
    if let taskID = row["taskId"] { document[.id] = .id(id(taskID)) }
    identity.identify(&document, by: row["List Name"] ?? "", row["Title"] ?? "", row["Created Time"] ?? "")
    if row["Is Floating"]?.lowercased() != "true" { document.fixSeries(to: row["Timezone"], context) }
    return document
  }

  private static let known: Set = [
    "Title", "Content", "List Name", "Tags", "Priority", "Start Date", "Due Date", "Repeat", "Status", "Created Time",
    "Completed Time", "Timezone", "Is All Day", "Is Floating", "Order", "taskId", "parentId", "Kind", "View Mode",
    "Is Check list", "Column Order",
  ]

  private func id(_ text: String) -> UUID { UUID(namedBy: "TickTick", context.options.source ?? "", text) }

  private func readDates(_ row: [String: String], into document: inout TaskDocument) {
    let isAllDay = row["Is All Day"]?.lowercased() == "true"
    let zone = context.in(row["Timezone"])
    if let text = row["Timezone"], TimeZone(identifier: text) == nil {
      document.store(text, as: "Timezone", remark: "zone", text, context)
    }
    let date = { (name: String) -> WrittenDate? in row[name].flatMap { WrittenDate($0, zone) } }
    for name in ["Due Date", "Start Date", "Created Time"] where date(name) == nil {
      if let text = row[name] { document.store(text, as: name, remark: "date", "\(name): \(text)", context) }
    }
    if let due = date("Due Date") {
      if isAllDay { document[.dueDay] = .day(due.day(zone)) } else { document[.dueDate] = .instant(due.instant(zone)) }
    }
    if let start = date("Start Date"), row["Start Date"] != row["Due Date"] {
      document[.scheduledDate] = .day(start.day(zone))
      if !isAllDay { document.attributes["Start Date"] = row["Start Date"].map { .text($0) } }
    }
    if let created = date("Created Time") { document[.createdAt] = .instant(created.instant(zone)) }
    if let text = row["Repeat"] {
      let rule = text.hasPrefix("RRULE:") ? String(text.dropFirst(6)) : text
      document[.recurrence] = (try? Recurrence(text: rule)).map { .recurrence($0) }
      if document[.recurrence] == nil {
        document.store(text, as: "Repeat", remark: "recurrence", text, context)
      }
    }
    readReminder(row, of: date("Due Date") ?? date("Start Date"), into: &document, zone)
  }

  /// Reminders are durations from the date, such as `-PT15M`.
  private func readReminder(
    _ row: [String: String], of date: WrittenDate?, into document: inout TaskDocument, _ zone: FormatContext
  ) {
    guard let text = row["Reminder"] else { return }
    let parts = text.split { $0 == "," || $0.isWhitespace }.map { $0.replacing("TRIGGER:", with: "") }
    let instants = parts.map { part in
      date.flatMap { date in CalendarDuration.seconds(String(part)).map { date.instant(zone).adding(seconds: $0) } }
    }
    let understood = instants.compactMap { $0 }
    if let first = understood.first { document[.reminderDate] = .instant(first) }
    if understood.count > 1 { document[.reminders] = .reminders(ReminderSet(understood.map { .at($0) }).allowed) }
    if understood.isEmpty || understood.count < instants.count { context.remarks.add("reminder", text) }
  }

  private func readState(_ row: [String: String], into document: inout TaskDocument) {
    let status = row["Status"] ?? "0"
    guard ["1", "2", "-1"].contains(status) else {
      if status != "0" { context.remarks.add("state", status) }
      document[.state] = .state(.notStarted)
      return
    }
    let completed = row["Completed Time"].flatMap { WrittenDate($0, context) }.map {
      TableValue.completion($0, context)
    }
    if completed == nil, let text = row["Completed Time"] {
      document.store(text, as: "Completed Time", remark: "date", "Completed Time: \(text)", context)
    }
    document.setState(status == "-1" ? .cancelled : .completed, at: completed ?? context.undatedCompletion)
    document.latestCompletion = completed?.instant ?? .latest
  }
}
