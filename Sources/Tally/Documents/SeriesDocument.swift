package import Foundation
import LMDB
import TallyEngine

/// A series as an object of a document.
enum SeriesDocument {
  /// The keys, in the order in which they are written.
  enum Key: String, DocumentKey {
    case task, timeZone, skippedDays

    static let table = DocumentKeyTable<Key>()
  }

  /// The values of an object.
  struct Parts {
    var task: TaskDocument?
    var timeZone: String?
    var skippedDays: [CalendarDay] = []
  }

  /// Writes a series: its task with wall-clock times, written as in UTC, its zone and the days left out.
  static func write(_ series: TaskSeries, to writer: inout JSONWriter) throws(LMDBError) {
    let record = TaskRecord(item: series.template, stamp: ChangeStamp(replacing: nil, at: 0)).encodedBytes
    writer.beginObject()
    writer.key("task")
    // The array outlives the writing.
    try unsafe TaskDocument.write(TaskFields(record.span.bytes), id: series.id, to: &writer)
    writer.entry("timeZone", series.timeZoneIdentifier.map { .text($0) })
    writer.entry("skippedDays", .tags(TagSet(series.skippedDays.map(\.iso8601))))
    writer.endObject()
  }

  /// Reads a series whose object has just begun.
  static func read(from reader: inout JSONReader, isLenient: Bool) throws -> TaskSeries {
    let position = reader.tokenPosition
    let parts = try parts(from: &reader, isLenient: isLenient) { reader in
      try TaskDocument(from: &reader, at: reader.tokenPosition, isLenient: isLenient)
    }
    let series = parts.task.flatMap {
      TaskSeries(template: $0.values, timeZoneIdentifier: parts.timeZone, skippedDays: parts.skippedDays)
    }
    guard let series else { throw reader.fault("The series has no task that repeats", at: position) }
    return series
  }

  /// Reads the values of an object that has just begun; `readTask` reads the fields of the task.
  fileprivate static func parts(
    from reader: inout JSONReader, isLenient: Bool, readTask: (inout JSONReader) throws -> TaskDocument
  ) throws -> Parts {
    var parts = Parts()
    var entries = DocumentEntries(Key.self, isLenient: isLenient)
    while let key = try entries.next(from: &reader) {
      switch key {
      case .task:
        guard try reader.next() == .beginObject else { throw reader.fault("The task of a series is not an object") }
        parts.task = try readTask(&reader)
      case .timeZone: parts.timeZone = try reader.read(.text, for: key, orNull: true)?.text
      case .skippedDays:
        let texts = try reader.read(.tags, for: key, orNull: true)?.tags ?? []
        let days = try texts.map { text in
          guard let day = try? CalendarDay(iso8601: text) else { throw reader.fault("A skipped day is not a day") }
          return day
        }
        parts.skippedDays = days.sorted()
      }
    }
    return parts
  }
}

/// The part of a stored series that its open task does not say, in formats that have no series of their own.
///
/// The times are wall-clock times, and the comparison is made in UTC, so nothing depends on where it is written or read.
/// Only values that describe a series of another program have a zone of their own.
/// A reference, as its fields are those of a document, which may have such values.
package final class SeriesValues {
  /// The key of the values in an extension.
  static let key = "seriesValues"

  private let parts: SeriesDocument.Parts
  /// The zone of the task's times if the task alone describes the series, as in documents of other programs.
  let describedZone: TimeZone?

  private init(_ parts: SeriesDocument.Parts, describedIn zone: TimeZone? = nil) {
    (self.parts, describedZone) = (parts, zone)
  }

  /// The values of a series that its task describes by its times in a zone, to which the series may be fixed.
  package convenience init(describedIn zone: TimeZone, isFixed: Bool) {
    self.init(SeriesDocument.Parts(timeZone: isFixed ? zone.identifier : nil), describedIn: zone)
  }

  /// The same values with further days left out.
  package func leavingOut(_ days: Set<CalendarDay>) -> SeriesValues {
    var parts = parts
    parts.skippedDays = days.union(parts.skippedDays).sorted()
    return SeriesValues(parts, describedIn: describedZone)
  }

  /// Compares a series with the one that its task describes; `nil` if the task does not repeat.
  package convenience init?(of series: TaskSeries, besides task: TaskItem) {
    guard let described = TaskSeries(describedBy: task, in: .gmt)?.template else { return nil }
    var fields = TaskDocument()
    for field in TaskField.all where field != .id {
      // The times decide which of two states is newer, whatever becomes of the task.
      let isTime = field == .createdAt || field == .updatedAt
      if isTime || !described.hasSame(field, as: series.template) {
        fields[field] = series.template.documentValue(of: field)
      }
    }
    self.init(
      SeriesDocument.Parts(task: fields, timeZone: series.timeZoneIdentifier, skippedDays: series.skippedDays))
  }

  /// Reads the values, whose key has been read.
  convenience init(from reader: inout JSONReader) throws {
    guard try reader.next() == .beginObject else { throw reader.fault("The values of a series are not an object") }
    self.init(
      try SeriesDocument.parts(from: &reader, isLenient: true) { reader in
        try TaskDocument(fieldsFrom: &reader, isLenient: true)
      })
  }

  /// The series of a task; `nil` if the task does not repeat, or cannot have such a series.
  package func series(of task: TaskItem) -> TaskSeries? {
    guard var template = TaskSeries(describedBy: task, in: describedZone ?? .gmt)?.template else { return nil }
    if let fields = parts.task {
      for field in TaskField.all where fields.has(field) { template[field] = fields[field] }
    }
    template.dropRepeatedReminder()
    return TaskSeries(
      template: template, timeZoneIdentifier: parts.timeZone, skippedDays: parts.skippedDays)
  }

  /// Writes the key and the values.
  func write(to writer: inout JSONWriter) {
    writer.key("seriesValues")
    writer.beginObject()
    if let fields = parts.task {
      writer.key("task")
      writer.beginObject()
      for field in TaskField.all where fields.has(field) {
        writer.key(field.name)
        writer.value(fields[field])
      }
      writer.endObject()
    }
    if let zone = parts.timeZone { writer.entry("timeZone", .text(zone)) }
    if !parts.skippedDays.isEmpty {
      writer.entry("skippedDays", .tags(TagSet(parts.skippedDays.map(\.iso8601))))
    }
    writer.endObject()
  }
}

extension TaskItem {
  /// Lets the times of an open task float that are those of its series in a zone.
  mutating func letFloat(in series: TaskSeries, _ zone: TimeZone) {
    guard isOpen, let place = self.series, place.id == series.id else { return }
    float(as: series.task(at: place, in: zone, createdAt: createdAt))
  }
}
