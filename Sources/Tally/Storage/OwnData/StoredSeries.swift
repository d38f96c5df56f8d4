import Foundation
import TallyEngine

/// Series are values of the library's own: the key is the id, the value is JSON.
extension TaskSeries {
  /// The namespace of the values that hold series.
  static let namespace = ValueKey.reservedPrefix + "series"

  /// The key of a series.
  static func key(of id: UUID) throws(TallyError) -> ValueKey { try ValueKey(IDText(id).text, in: namespace) }

  /// The id of the series that a key belongs to; `nil` for another value.
  static func id(of key: ValueKey) -> UUID? {
    guard key.namespace == namespace, let text = String(validating: key.bytes, as: UTF8.self) else { return nil }
    return try? IDText(text: text).id
  }

  /// Decodes a stored series; `nil` if the bytes are not the series of the key.
  init?(stored bytes: [UInt8], under key: ValueKey) {
    guard let series = try? JSONDecoder().decode(TaskSeries.self, from: Data(bytes)), series.id == Self.id(of: key)
    else { return nil }
    self = series
  }

  /// Whether a row of `values` is a series that cannot be read.
  static func isUnreadable(_ key: RawSpan, _ value: RawSpan) -> Bool {
    guard let key = try? ValueKey(decoding: key), key.namespace == namespace else { return false }
    return TaskSeries(stored: value.bytes(from: 0), under: key) == nil
  }

  /// The stored form: equal series have equal bytes.
  var storedBytes: [UInt8] {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      return try [UInt8](encoder.encode(self))
    }
  }
}

extension TaskSeries {
  /// The parts of a task that a series gives it.
  package static let commonParts = commonFields.reduce(into: SyncFields.rule) { $0.formUnion($1.part ?? []) }

  /// The parts with one value each, which are written even if they are empty when a task describes the series.
  static let describedParts = commonParts.subtracting([.rule, .tags, .reminders])

  /// The parts in which two states of a series differ.
  package static func differences(_ old: TaskSeries, _ new: TaskSeries) -> SyncFields {
    var fields = TaskItem.differences(old.template, new.template).intersection(commonParts)
    if old.timeZoneIdentifier != new.timeZoneIdentifier { fields.insert(.timeZone) }
    if old.skippedDays != new.skippedDays { fields.insert(.skippedDays) }
    return fields
  }

  /// The parts that a write changes.
  static func changes(from old: TaskSeries?, to new: TaskSeries?) -> SyncFields {
    guard let new else { return .life }
    if let old { return differences(old, new) }
    var fields = new.template.filledFields.intersection(commonParts).union([.life, .created])
    if new.timeZoneIdentifier != nil { fields.insert(.timeZone) }
    if !new.skippedDays.isEmpty { fields.insert(.skippedDays) }
    return fields
  }
}
