import Foundation
import Testing

@testable import Tally

struct QuickEntrySentenceTests {
  @Test func everySentenceGivesItsTask() throws {
    let sentences = try Sentence.all()
    #expect(sentences.count > 900)
    #expect(sentences.count { $0.marked == $0.text && $0.summary == $0.text } > 300)
    var reference = try DateExpressionTests.reference()
    for sentence in sentences {
      reference.dateOrder = sentence.dateOrder
      let entry = QuickEntry.parse(sentence.text, reference: reference, lists: sentence.lists)
      #expect(entry.marked(in: sentence.text) == sentence.marked)
      #expect(entry.summary(in: reference.timeZone) == sentence.summary, "\(sentence.marked)")
    }
  }

  /// One line of the table.
  struct Sentence {
    let marked: String
    let text: String
    let summary: String
    let lists: [String]?
    let dateOrder: DateOrder?

    static func all() throws -> [Sentence] {
      let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "quick-entry-sentences.txt")
      var lists: [String]?
      var dateOrder: DateOrder?
      return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").compactMap { line -> Sentence? in
        if let names = line.wholeMatch(of: /=== lists: (.*)/)?.1 {
          lists = names == "none" ? nil : names.split(separator: ", ").map(String.init)
        }
        if let order = line.wholeMatch(of: /=== order: (.*)/)?.1 { dateOrder = DateOrder(rawValue: String(order)) }
        guard let match = line.wholeMatch(of: /(.*)  =>  (.*)/) else { return nil }
        let marked = String(match.1).replacing("␉", with: "\t")
        let text = marked.replacing(/\{[a-z]:([^}]*)\}/) { $0.1 }
        return Sentence(
          marked: marked, text: text, summary: String(match.2), lists: lists, dateOrder: dateOrder)
      }
    }
  }
}

extension QuickEntry {
  /// The sentence with braces around the understood words, and around those that are left over.
  func marked(in sentence: String) -> String {
    let marks = parts.map { ($0.range, $0.kind.letter) } + leftovers.map { ($0.range, $0.reason.letter) }
    var marked = sentence
    for (range, letter) in marks.sorted(by: { $0.0.lowerBound > $1.0.lowerBound }) {
      marked.replaceSubrange(range, with: "{\(letter):\(sentence[range])}")
    }
    return marked
  }

  /// The fields that are set.
  func summary(in timeZone: TimeZone) -> String {
    func local(_ instant: Timestamp) -> String {
      let text = instant.adding(seconds: timeZone.secondsFromGMT(at: instant)).iso8601
      return String(text.prefix(16)).replacing("T", with: " ")
    }
    var words = [title]
    if let scheduledDate { words.append("on \(scheduledDate)") }
    if let dueDay { words.append("due \(dueDay)") }
    if let dueDate { words.append("due \(local(dueDate))") }
    if let reminderDate { words.append("remind \(local(reminderDate))") }
    for reminder in relativeReminders { words.append("remind \(reminder)") }
    words += tags.map { "#\($0)" }
    if priority != .none { words.append("!\(priority.name)") }
    if let listName { words.append("list \(listName)") }
    if let recurrence { words.append(recurrence.words) }
    if let start { words.append(start.day.map { "wait \($0)" } ?? "someday") }
    return words.joined(separator: " | ")
  }
}

extension QuickEntry.Reason {
  fileprivate var letter: String {
    switch self {
    case .repeated: "x"
    case .duration: "h"
    case .timeSpan: "e"
    case .someday: "o"
    case .recurrence: "q"
    case .reminder: "b"
    case .date: "z"
    }
  }
}

extension QuickEntry.Kind {
  fileprivate var letter: String {
    switch self {
    case .schedule: "s"
    case .due: "d"
    case .reminder: "m"
    case .tag: "t"
    case .priority: "p"
    case .list: "l"
    case .recurrence: "r"
    case .start: "w"
    }
  }
}
