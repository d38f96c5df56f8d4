/// The formats of exports and imports; <doc:ExportFormat> explains both.
public enum InterchangeFormat: String, CaseIterable, Sendable {
  /// One JSON document with all lists, tasks and completions: the whole store.
  case json
  /// The same as lines: one task per line, as a JSON object, for pipes and other programs. Lists come first, as
  /// `{"list":{…}}`, and the history of deleted tasks last, as `{"completion":{…}}`.
  case ndjson

  /// The default name for an export of a local day, such as `Tally-Tasks-Export-2026-11-21.json`.
  public func defaultFileName(on day: CalendarDay) -> String {
    "Tally-Tasks-Export-\(day.iso8601).\(rawValue)"
  }

  /// The versions of documents that can be read; the last one is written.
  static let schemaVersions: ClosedRange<Int64> = 1...2
}

/// The progress of an export or import.
public struct InterchangeProgress: Hashable, Sendable {
  /// The tasks written or read so far.
  public let taskCount: Int
  /// All tasks, if known beforehand: in an export.
  public let totalTaskCount: Int?
  /// The bytes made or read so far; the last few blocks of an export may still wait to be written.
  public let byteCount: Int64
  /// All bytes, if known beforehand: in an import from a file.
  public let totalByteCount: Int64?

  /// Called from time to time; throwing from it ends the export or import, which leaves nothing behind.
  public typealias Observer = (InterchangeProgress) throws -> Void

  /// How many tasks lie between two reports of progress, and two checks for cancellation.
  static let strideInTasks = 2_048
}
