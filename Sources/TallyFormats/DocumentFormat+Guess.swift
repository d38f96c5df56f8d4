extension DocumentFormat {
  /// Guesses the format of a document by how it begins.
  ///
  /// - Parameters:
  ///   - head: the first bytes of the document; a few thousand are enough.
  ///   - fileExtension: the extension of its name, which decides between formats that look alike.
  public init(ofDocumentBeginningWith head: [UInt8], fileExtension: String? = nil) {
    let byExtension = fileExtension.flatMap { DocumentFormat(fileExtension: $0) }
    let text = DecodedText.text(ofDocumentBeginningWith: Array(head.prefix(4_096)))
      .drop { $0 == "\u{FEFF}" || $0.isWhitespace }
    self =
      switch byExtension {
      case .todotxt?, .ical?, .markdown?, .ndjson?, .org?: byExtension ?? .todotxt
      case .csv?: Self.table(text)
      default: Self.guess(text) ?? byExtension ?? .todotxt
      }
  }

  private static func guess(_ text: Substring) -> DocumentFormat? {
    if text.hasPrefix("{") { return object(text) }
    if text.hasPrefix("[") { return isArrayOfTasks(text) ? .taskwarrior : nil }
    if text.prefix(15).uppercased() == "BEGIN:VCALENDAR" { return .ical }
    let line = text.prefix { !$0.isNewline }
    if isOfTodoist(line) { return .todoist }
    if isOfTickTick(text) { return .ticktick }
    if TableHeading.isHead(line) { return .csv }
    if line.hasPrefix("* ") || line.hasPrefix("#+") || line.hasPrefix("** ") {
      return isChecklist(line) ? .markdown : .org
    }
    let hasItems = text.contains(#/\n[ \t]*[-*+] \[[ xX]\] /#)
    if line.hasPrefix("#") || line.hasPrefix("- [") || line.hasPrefix("* [") || hasItems { return .markdown }
    return nil
  }

  /// Taskwarrior writes an array of tasks, which may be empty or cut off; Tally an object.
  private static func isArrayOfTasks(_ text: Substring) -> Bool {
    let rest = text.dropFirst().drop(while: \.isWhitespace)
    return rest.isEmpty || rest.hasPrefix("{") || rest.hasPrefix("\"")
      || (rest.hasPrefix("]") && rest.dropFirst().allSatisfy(\.isWhitespace))
  }

  /// An object is Tally's document, one of its lines or one of Taskwarrior's.
  private static func object(_ text: Substring) -> DocumentFormat {
    let line = text.prefix { !$0.isNewline }
    if line.contains("\"description\""), line.contains("\"uuid\"") { return .taskwarrior }
    let isWhole = ["\"schemaVersion\"", "\"exportDate\"", "\"tasks\"", "\"lists\""].contains { text.contains($0) }
    return isWhole ? .json : .ndjson
  }

  private static func table(_ text: Substring) -> DocumentFormat {
    isOfTodoist(text) ? .todoist : isOfTickTick(text) ? .ticktick : .csv
  }

  private static func isOfTodoist(_ text: Substring) -> Bool {
    let head = text.prefix { !$0.isNewline }.filter { $0 != "\"" }
    return head.hasPrefix("TYPE,") && head.contains("CONTENT")
  }

  /// A few lines about the file come before the names of the columns.
  private static func isOfTickTick(_ text: Substring) -> Bool {
    text.contains("\"List Name\"") && text.contains("\"Title\"") || text.contains("List Name,Title,")
  }

  private static func isChecklist(_ line: Substring) -> Bool { line.hasPrefix("* [") }
}
