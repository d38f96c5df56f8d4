import Foundation
import Tally

extension String {
  /// The text on one line, cut to a length for a row, a label or a message.
  func shortened(to length: Int = 200) -> String {
    let line = prefix(length).map { $0.isNewline ? " " : $0.withFewMarks }.joined()
    return dropFirst(length).isEmpty ? line : line + "…"
  }

  /// The text for a sentence or a label: short, and without the characters that would reverse the words around it.
  func quotable(to length: Int = 60) -> String {
    String(shortened(to: length).unicodeScalars.filter { !Self.directions.contains($0.value) })
  }

  /// The embeddings, overrides and isolates of the Unicode bidirectional algorithm, UAX 9.
  private static let directions: Set<UInt32> = Set(0x202A...0x202E).union(0x2066...0x2069)

  /// The text with the line breaks of Unix: a browser sends those of a form as CR and LF.
  var withUnixLineBreaks: String { replacing("\r\n", with: "\n") }
}

extension Character {
  /// The character with no more combining marks than languages have.
  ///
  /// Many of them would cover the lines around the character, and make a short text arbitrarily long. The longest emoji
  /// have about ten parts.
  fileprivate var withFewMarks: String {
    String(String.UnicodeScalarView(unicodeScalars.prefix(16)))
  }
}

extension Int {
  /// `1 task`, `2 tasks`.
  func counted(_ noun: String) -> String { self == 1 ? "1 \(noun)" : "\(self) \(noun)s" }
}

extension UUID {
  /// The id as addresses and forms write it.
  var text: String { uuidString.lowercased() }
}

extension TaskState {
  /// The state, for people.
  var words: String {
    switch self {
    case .notStarted: "Not started"
    case .active: "Active"
    case .completed: "Completed"
    case .cancelled: "Cancelled"
    }
  }
}
