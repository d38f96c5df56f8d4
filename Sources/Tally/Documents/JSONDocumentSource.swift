/// Reads the records of Tally's own formats.
struct JSONDocumentSource: DocumentSource, ~Copyable {
  /// The keys of the outermost object.
  private enum Key: String, DocumentKey {
    case exportDate, appVersion, schemaVersion, lists, tasks, completions, filters

    static let table = DocumentKeyTable<Key>()
  }

  /// The reader's position in the document.
  private enum Section {
    case beginning, document, lists, tasks, completions, filters, lines, end
  }

  private let isLenient: Bool
  private let format: InterchangeFormat
  private var reader: JSONReader
  private var section = Section.beginning
  private var entries: DocumentEntries<Key>
  private var hasVersion = false
  private var hasTasks = false
  private(set) var exportDate: Timestamp?

  /// Begins to read; `exportDate` is when the document was written, where that is known beforehand.
  init(_ input: consuming JSONInput, format: InterchangeFormat, isLenient: Bool, exportDate: Timestamp? = nil) {
    self.format = format
    self.isLenient = isLenient
    self.exportDate = exportDate
    reader = JSONReader(input, framing: format == .json ? .document : .lines)
    entries = DocumentEntries(Key.self, isLenient: isLenient)
  }

  var byteCount: Int64 { reader.input.consumedByteCount }

  mutating func next() throws -> (record: DocumentRecord, position: TextPosition)? {
    while section != .end {
      if let record = try step() { return record }
    }
    return nil
  }
}

extension JSONDocumentSource {
  /// Reads one record, or goes from one section to another.
  private mutating func step() throws -> (record: DocumentRecord, position: TextPosition)? {
    switch section {
    case .beginning: try begin()
    case .document: try readEntry()
    case .lists:
      if let position = try beginRecord(before: .endArray, else: .document) {
        return (.list(try ListDocument(from: &reader, isLenient: isLenient)), position)
      }
    case .tasks:
      if let position = try beginRecord(before: .endArray, else: .document) {
        return (.task(try TaskDocument(from: &reader, at: position, isLenient: isLenient)), position)
      }
    case .completions:
      if let position = try beginRecord(before: .endArray, else: .document) {
        return (.completion(try CompletionDocument.read(from: &reader, isLenient: isLenient)), position)
      }
    case .filters:
      if let position = try beginRecord(before: .endArray, else: .document) {
        return (.filter(try FilterDocument.read(from: &reader, isLenient: isLenient)), position)
      }
    case .lines:
      if let position = try beginRecord(before: .end, else: .end) { return (try readLine(at: position), position) }
    case .end: break
    }
    return nil
  }

  private mutating func begin() throws {
    section = format == .json ? .document : .lines
    if section == .document, try reader.next() != .beginObject { throw reader.fault("The document is not an object") }
  }

  /// The place of an object that begins; `nil` for the token that ends the section and leads to the next one.
  private mutating func beginRecord(before end: JSONReader.Token, else next: Section) throws -> TextPosition? {
    let token = try reader.next()
    if token == .beginObject { return reader.tokenPosition }
    guard token == end else { throw reader.fault("An object is expected here") }
    section = next
    return nil
  }

  /// Reads a line: a task, or another record as the value of the one key of its object.
  private mutating func readLine(at position: TextPosition) throws -> DocumentRecord {
    let token = try reader.next()
    guard let kind = token == .key ? LineKind(reader.text) : nil else {
      return .task(try TaskDocument(from: &reader, at: position, after: token, isLenient: isLenient))
    }
    guard try reader.next() == .beginObject else {
      throw reader.fault("The value of \(kind.rawValue) is not an object")
    }
    let record: DocumentRecord =
      switch kind {
      case .list: .list(try ListDocument(from: &reader, isLenient: isLenient))
      case .completion: .completion(try CompletionDocument.read(from: &reader, isLenient: isLenient))
      case .filter: .filter(try FilterDocument.read(from: &reader, isLenient: isLenient))
      }
    guard try reader.next() == .endObject else { throw reader.fault("A \(kind.rawValue) has its line to itself") }
    return record
  }
}

/// The lines that are not tasks, by their key.
enum LineKind: String, CaseIterable {
  case list, completion, filter

  fileprivate init?(_ key: [UInt8]) {
    guard let kind = Self.allCases.first(where: { $0.rawValue.utf8.elementsEqual(key) }) else { return nil }
    self = kind
  }
}

extension JSONDocumentSource {
  /// Reads one entry of the outermost object, up to the beginning of an array.
  private mutating func readEntry() throws {
    guard let key = try entries.next(from: &reader) else { return try finish() }
    switch key {
    case .exportDate: exportDate = try reader.read(.instant, for: key)?.instant
    case .appVersion: _ = try reader.read(.text, for: key)
    case .schemaVersion: try checkVersion(try reader.read(.integer, for: key))
    case .lists: try beginArray(.lists, key)
    case .tasks: try beginArray(.tasks, key)
    case .completions: try beginArray(.completions, key)
    case .filters: try beginArray(.filters, key)
    }
  }

  private mutating func beginArray(_ section: Section, _ key: Key) throws {
    guard try reader.next() == .beginArray else { throw reader.fault("The value of \(key.text) is not an array") }
    self.section = section
    if section == .tasks { hasTasks = true }
  }

  private mutating func checkVersion(_ version: FieldValue?) throws {
    hasVersion = true
    let known = InterchangeFormat.schemaVersions
    guard let version = version?.integer, !known.contains(version) else { return }
    let isNewer = version > known.upperBound
    throw TallyError(
      isNewer ? .newerFormat : .malformedDocument,
      "The document has schema version \(version); this version of Tally reads versions up to \(known.upperBound)",
      remedy: isNewer ? "Use a newer version of Tally; nothing was imported" : "Correct the version",
      at: reader.tokenPosition)
  }

  /// Ends the document.
  ///
  /// One without a version has tasks, or it is some other program's object.
  private mutating func finish() throws {
    guard hasVersion || hasTasks else { throw reader.fault("The document has neither a schemaVersion nor tasks") }
    // Only the end may follow, or the reader throws.
    _ = try reader.next()
    section = .end
  }

  /// The date of a document whose records come before it; `nil` if the date comes first, or not at all.
  ///
  /// The keys come in any order, and what a document overrides depends on its date. Costs nothing where the date or the
  /// end comes first; otherwise the document is read twice.
  static func lateExportDate(_ input: consuming JSONInput) throws -> Timestamp? {
    var reader = JSONReader(input)
    guard try reader.next() == .beginObject else { return nil }
    var entries = DocumentEntries(Key.self, isLenient: true)
    var hasRecords = false
    while let key = try entries.next(from: &reader) {
      if key == .exportDate { return hasRecords ? try reader.read(.instant, for: key)?.instant : nil }
      let token = try reader.next()
      if token == .beginArray { hasRecords = true }
      try reader.skipValue(beginningWith: token)
    }
    return nil
  }
}
