internal import Tally

/// The names that programs and people give to the columns of a table of tasks.
enum TableHeading {
  /// The usual names of each column of Tally's; case, blanks, hyphens and underscores do not count.
  private static let names: [(column: String, names: Set<String>)] = [
    ("text", ["task", "taskname", "name", "subject", "summary", "todo", "item", "title", "text", "aufgabe", "what"]),
    ("notes", ["notes", "note", "description", "details", "comment", "comments", "body", "memo"]),
    (TableRecord.listColumn, ["list", "listname", "project", "projectname", "folder", "area", "category"]),
    ("due", ["due", "duedate", "dueday", "deadline", "dueon", "dueat", "duedatetime", "enddate"]),
    (
      "scheduledDate", ["scheduled", "scheduleddate", "start", "startdate", "planned", "planneddate", "dodate", "when"]
    ),
    ("reminderDate", ["reminder", "reminderdate", "remindat", "reminddate", "alarm"]),
    // Some programs have dates and their times in columns of their own, and reminders that are off.
    ("dueTime", ["duetime", "timedue"]),
    ("reminderTime", ["remindertime", "remindtime", "alarmtime"]),
    ("reminderOn", ["reminderon/off", "reminderset", "hasreminder"]),
    ("done", ["done", "completed", "complete", "iscompleted", "isdone", "finished", "checked"]),
    ("state", ["state", "status"]),
    (
      "completedAt",
      ["completedat", "completedon", "completeddate", "completiondate", "datecompleted", "completedtime", "finishedat"]
    ),
    ("createdAt", ["createdat", "created", "createdon", "createddate", "creationdate", "datecreated", "createdtime"]),
    ("priority", ["priority", "prio", "importance", "urgency"]),
    ("tags", ["tags", "tag", "labels", "label", "contexts", "context", "categories", "keywords"]),
    ("recurrence", ["recurrence", "recurring", "repeat", "repeats", "repeatrule", "rrule"]),
  ]

  /// The column that a heading means; `nil` if it is not one of the usual names.
  static func column(_ heading: String) -> String? {
    let name = key(heading)
    return names.first { $0.names.contains(name) }?.column
  }

  /// A heading without what does not count.
  static func key(_ heading: String) -> String {
    String(heading.lowercased().filter { !" _-\t\u{A0}".contains($0) })
  }

  /// Whether a line names the columns of a table of tasks: two cells or more, one of them a title.
  static func isHead(_ line: Substring) -> Bool {
    let cells = line.split(whereSeparator: { ",;\t".contains($0) }).map { $0.filter { $0 != "\"" } }
    return cells.count > 1 && cells.contains { column(String($0).trimmed) == "text" }
      && cells.allSatisfy { $0.count <= 40 } && cells.count { column(String($0).trimmed) != nil } > 1
  }
}
