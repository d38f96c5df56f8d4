import Foundation
import Tally

/// A task read from a sentence, and its list.
struct QuickDraft {
  let entry: QuickEntry
  let list: TaskList?
  /// What the sentence says but was not understood.
  let warnings: [String]
  private let sentence: String

  /// Reads a sentence, knowing the lists of the store; one that names none is for the default list.
  init<Base: ~Copyable>(
    _ sentence: String, _ reference: DateReference, defaultList: String?,
    in transaction: borrowing StoreTransaction<Base>
  ) throws {
    try QuickEntry.validate(sentence)
    self.sentence = sentence
    let names = try transaction.lists().map(\.name)
    entry = QuickEntry.parse(sentence, reference: reference, lists: names)
    list = try (entry.listName ?? defaultList).map { try transaction.list(named: $0) }
    let unknown = [entry.listName == nil ? Self.unknownList(in: sentence, reference) : nil].compactMap(\.self)
    warnings = unknown.map { name in
      let near = name.nearNames(among: names).first.map { " Did you mean \($0.quotedForMessage)?" } ?? ""
      return "Warning: there is no list \(name.quotedForMessage), so its name stays in the title.\(near)"
    }
  }

  /// The list that a sentence names outright but that does not exist.
  private static func unknownList(in sentence: String, _ reference: DateReference) -> String? {
    sentence.contains("list:") ? QuickEntry.parse(sentence, reference: reference).listName : nil
  }

  /// Where the task goes.
  var place: CapturePlace { list.map { .list($0.id) } ?? .inbox }
}

extension QuickDraft {
  /// The understood fields, in one sentence.
  func words(_ clock: LocalClock) -> String {
    let due = entry.dueDay.map(clock.relativeName) ?? entry.dueDate.map(clock.relativeName)
    let tags = entry.tags.map { "#\($0.escapedForDisplay())" }.joined(separator: " ")
    let parts: [String?] = [
      entry.scheduledDate.map { "planned for \(clock.relativeName(of: $0))" },
      due.map { "due \($0)" },
      entry.reminderDate.map { "reminder \(clock.relativeName(of: $0))" },
      list.map { "list \($0.name.quotedForMessage)\(entry.listName == nil ? " by default" : "")" },
      entry.tags.isEmpty ? nil : tags,
      entry.priority == .none ? nil : "\(entry.priority.name) priority",
      entry.recurrence.map { "repeats \($0.words)" },
    ]
    let words = parts.compactMap(\.self).joined(separator: ", ")
    return words.isEmpty ? "Understood as a title only." : "Understood: \(words)."
  }

  /// The understood fields, and the words that gave them with their places: offsets and lengths count Unicode scalars.
  func facts(isDryRun: Bool) -> Facts {
    let scalars = sentence.unicodeScalars
    var (place, offset) = (scalars.startIndex, 0)
    let parts: [Facts] = entry.parts.map { part in
      offset += scalars.distance(from: place, to: part.range.lowerBound)
      place = part.range.lowerBound
      return [
        "kind": .text(part.kind.rawValue), "text": .text(String(sentence[part.range])),
        "offset": .count(offset),
        "length": .count(scalars.distance(from: part.range.lowerBound, to: part.range.upperBound)),
      ]
    }
    let draft: Facts = [
      "title": .text(entry.title), "scheduledDate": .day(entry.scheduledDate), "dueDate": .instant(entry.dueDate),
      "dueDay": .day(entry.dueDay), "reminderDate": .instant(entry.reminderDate), "list": .text(list?.name),
      "priority": .value(entry.priority == .none ? nil : .priority(entry.priority)), "tags": .value(.tags(entry.tags)),
      "recurrence": .value(entry.recurrence.map { .recurrence($0) }), "parts": .array(parts),
    ]
    return ["understood": draft, "dryRun": .flag(isDryRun)]
  }
}
