public import Tally

/// The formats in which tasks move in and out; <doc:OtherFormats> says what each keeps.
///
/// ```swift
/// try store.export(to: "tasks.ics", as: .ical)
/// try store.importDocument(from: "todo.txt", as: .todotxt)
/// ```
public enum DocumentFormat: String, CaseIterable, Sendable {
  /// Tally's own document: everything in a store.
  case json
  /// The same, one record a line.
  case ndjson
  /// What `task export` of Taskwarrior 2 writes and `task import` reads.
  case taskwarrior
  /// The lines of todo.txt.
  case todotxt
  /// To-dos of iCalendar (RFC 5545).
  case ical
  /// A table with a row for each task (RFC 4180).
  case csv
  /// A checklist in Markdown.
  case markdown
  /// A project as Todoist exports it, in CSV; for importing only.
  case todoist
  /// The tasks of all lists as TickTick exports them, in CSV; for importing only.
  case ticktick
  /// Headings of org-mode with their states, dates and repeaters; for importing only.
  case org

  /// Whether tasks can be written in the format.
  public var isExported: Bool { ![.todoist, .ticktick, .org].contains(self) }

  /// The extension of the names of files, such as `ics`.
  public var fileExtension: String {
    switch self {
    case .json, .taskwarrior: "json"
    case .ndjson: "ndjson"
    case .todotxt: "txt"
    case .ical: "ics"
    case .csv, .todoist, .ticktick: "csv"
    case .org: "org"
    case .markdown: "md"
    }
  }

  /// The format of a file by the extension of its name; `nil` for an extension of no format.
  public init?(fileExtension: String) {
    switch fileExtension.lowercased() {
    case "json": self = .json
    case "ndjson", "jsonl": self = .ndjson
    case "txt": self = .todotxt
    case "ics", "ical": self = .ical
    case "csv": self = .csv
    case "md", "markdown": self = .markdown
    case "org": self = .org
    default: return nil
    }
  }

  /// Whether files of the format may have an extension: `false` for one of another format.
  public func accepts(fileExtension: String) -> Bool {
    DocumentFormat(fileExtension: fileExtension).map { $0.fileExtension == self.fileExtension } ?? true
  }

  /// The default name for an export of a local day, such as `Tally-Tasks-Export-2026-11-21.ics`.
  public func defaultFileName(on day: CalendarDay) -> String {
    "Tally-Tasks-Export-\(day.iso8601).\(fileExtension)"
  }

  /// The same format, where it is one of Tally's own.
  var interchange: InterchangeFormat? { InterchangeFormat(rawValue: rawValue) }
}
