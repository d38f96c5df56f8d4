internal import Tally

/// Whether a text that looks like no format is a list of tasks, a line each.
///
/// Every text has lines. So that a program, a log or a table of users does not become a thousand tasks, a text whose lines
/// look like one of these is refused, unless its format is named.
enum TodoTxtGuess {
  /// Throws `malformedDocument` unless the beginning of a document may be a list of tasks.
  static func check(_ head: String) throws(TallyError) {
    let isBinary = head.unicodeScalars.contains { $0.value < 0x20 && !"\t\n\r\u{C}".unicodeScalars.contains($0) }
    // The last line may be cut.
    var lines = head.split(omittingEmptySubsequences: true, whereSeparator: \.isNewline)
    if lines.count > 1, head.utf8.count > 4_000 { lines.removeLast() }
    let strange = lines.count { isStrange($0) && !isMarked($0) }
    let looksStrange = strange * 2 >= max(lines.count, 1) || strange > 2 && strange * 4 > lines.count
    guard isBinary || isOfAnotherKind(lines) || looksStrange else { return }
    throw TallyError(
      .malformedDocument, "The document does not look like a list of tasks",
      remedy: "Check the file, or name its format, as in --format todotxt")
  }

  /// Whether a text begins as a program, a document of an office, a card or a letter does.
  private static func isOfAnotherKind(_ lines: [Substring]) -> Bool {
    guard let first = lines.first else { return false }
    if ["#!", "%PDF-", "{\\rtf", "%!PS"].contains(where: first.hasPrefix) { return true }
    if first.uppercased().hasPrefix("BEGIN:") { return true }
    let headers = ["From:", "To:", "Subject:", "Date:", "Received:", "Message-ID:", "Return-Path:", "MIME-Version:"]
    return lines.prefix(8).count { line in headers.contains(where: line.hasPrefix) } > 1
  }

  /// Whether a line has a mark of todo.txt.
  private static func isMarked(_ line: Substring) -> Bool {
    let words = line.split(separator: " ")
    let isPriority = words.first.map { $0.count == 3 && $0.hasPrefix("(") && $0.hasSuffix(")") } ?? false
    return isPriority || words.first == "x" && words.count > 1
      || words.contains { $0.count > 1 && ($0.hasPrefix("+") || $0.hasPrefix("@") || $0.hasPrefix("due:")) }
  }

  /// Whether a line is one of a program, a log, a table or a file of settings.
  private static func isStrange(_ line: Substring) -> Bool {
    let text = line.drop { $0 == " " || $0 == "\t" }
    let ends = [";", "{", "}", "*/", "\\", "</", "/>"],
      starts = ["<", "//", "/*", "#include", "import ", "}", "@@", "---"]
    return ends.contains { text.hasSuffix($0) } || starts.contains { text.hasPrefix($0) } || text.count > 1_000
      || text.count { $0 == ":" } >= 4 && !text.contains(" ")
      || text.count { $0 == "\t" || $0 == "|" || $0 == ";" } >= 3
      || isAssignment(text) || isOfLog(text) || isProse(text)
  }

  /// A line of sentences, as letters have it.
  private static func isProse(_ text: Substring) -> Bool {
    let wordCount = text.split(separator: " ").count
    return wordCount > 12 && text.contains(". ") || wordCount > 25
      || text.wholeMatch(of: #/(?:Dear|Hello|Hi) .*,/#) != nil
  }

  /// `key = value`, `[section]`, `def name():`.
  private static func isAssignment(_ text: Substring) -> Bool {
    text.wholeMatch(of: #/[A-Za-z_][\w.-]*\s*=\s*\S.*/#) != nil || text.wholeMatch(of: #/\[[\w .:"\/-]+\]/#) != nil
      || text.wholeMatch(of: #/(?:def|class|func|elif)\b.*[:(].*/#) != nil
      || text.wholeMatch(of: #/["'][\w-]+["']:.*|[\w-]+:/#) != nil
  }

  /// A line that begins with an instant, as logs have it.
  private static func isOfLog(_ text: Substring) -> Bool {
    text.prefixMatch(of: #/\[?\d{4}[-\/]\d{2}[-\/]\d{2}[T ]\d{2}:\d{2}/#) != nil
      || text.prefixMatch(of: #/[A-Z][a-z]{2} +\d{1,2} \d{2}:\d{2}:\d{2} /#) != nil
      || text.prefixMatch(of: #/\d{1,3}(?:\.\d{1,3}){3} /#) != nil
  }
}
