import Foundation
package import SystemPackage
package import TallyEngine
import TallySystem

/// One record of a document in any format.
package enum DocumentRecord {
  case list(ListDocument)
  case task(TaskDocument)
  case completion(Completion)
  case filter(SavedFilter)
  case series(TaskSeries)
  /// Something that was not understood, without loss of a record.
  case remark(DocumentRemark)
}

/// Reads the records of a document one by one.
package protocol DocumentSource: ~Copyable, SendableMetatype {
  /// When the document was written; `nil` if it does not say so, or has not said so yet.
  var exportDate: Timestamp? { get }
  /// The number of bytes read so far.
  var byteCount: Int64 { get }
  /// Whether another program wrote the document, so that only invalid values are left out and the rest is imported.
  var isForeign: Bool { get }

  /// Reads the next record and the position at which it begins; returns `nil` at the end.
  ///
  /// - Throws: the error of the document, with its position. The source must not be used after that.
  mutating func next() throws -> (record: DocumentRecord, position: TextPosition)?
}

extension DocumentSource where Self: ~Copyable {
  /// `false`, for Tally's own documents: one invalid value makes the whole document invalid.
  package var isForeign: Bool { false }
}

/// Reads the records of Tally's own formats.
struct JSONDocumentSource: DocumentSource, ~Copyable {
  /// The keys of the outermost object.
  private enum Key: String, DocumentKey {
    case exportDate, appVersion, schemaVersion, lists, tasks, completions, filters, series

    static let table = DocumentKeyTable<Key>()
  }

  /// The section of the document that is being read.
  private enum Section: Equatable {
    case beginning, document, tasks, others(LineKind), lines, end
  }

  private let isLenient: Bool
  private let format: InterchangeFormat
  private var reader: JSONReader
  private var section = Section.beginning
  private var entries: DocumentEntries<Key>
  private var hasVersion = false
  private var hasTasks = false
  private(set) var exportDate: Timestamp?

  /// Creates a source; `exportDate` is when the document was written, if that is known in advance.
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
  /// Reads one record, or moves from one section to another.
  private mutating func step() throws -> (record: DocumentRecord, position: TextPosition)? {
    switch section {
    case .beginning: try begin()
    case .document: try readEntry()
    case .tasks:
      if let position = try beginRecord(before: .endArray, else: .document) {
        return (.task(try TaskDocument(from: &reader, at: position, isLenient: isLenient)), position)
      }
    case .others(let kind):
      if let position = try beginRecord(before: .endArray, else: .document) { return (try read(kind), position) }
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

  /// The position at which an object begins; `nil` if the token ends the section, after moving to the next section.
  private mutating func beginRecord(before end: JSONReader.Token, else next: Section) throws -> TextPosition? {
    let token = try reader.next()
    if token == .beginObject { return reader.tokenPosition }
    guard token == end else { throw reader.fault("An object is expected here") }
    section = next
    return nil
  }

  /// Reads a line: a task, or another record as the value of the only key of its object.
  private mutating func readLine(at position: TextPosition) throws -> DocumentRecord {
    let token = try reader.next()
    guard let kind = token == .key ? LineKind(reader.text) : nil else {
      return .task(try TaskDocument(from: &reader, at: position, after: token, isLenient: isLenient))
    }
    guard try reader.next() == .beginObject else {
      throw reader.fault("The value of \(kind.rawValue) is not an object")
    }
    let record = try read(kind)
    guard try reader.next() == .endObject else { throw reader.fault("A \(kind.rawValue) has its line to itself") }
    return record
  }

  /// Reads a record that is not a task, whose object has begun.
  private mutating func read(_ kind: LineKind) throws -> DocumentRecord {
    switch kind {
    case .list: .list(try ListDocument(from: &reader, isLenient: isLenient))
    case .completion: .completion(try CompletionDocument.read(from: &reader, isLenient: isLenient))
    case .filter: .filter(try FilterDocument.read(from: &reader, isLenient: isLenient))
    case .series: .series(try SeriesDocument.read(from: &reader, isLenient: isLenient))
    }
  }
}

/// The kinds of lines that are not tasks, by their key.
enum LineKind: String, CaseIterable {
  case list, completion, filter, series

  fileprivate init?(_ key: [UInt8]) {
    guard let kind = Self.allCases.first(where: { $0.rawValue.utf8.elementsEqual(key) }) else { return nil }
    self = kind
  }
}

extension JSONDocumentSource {
  /// Reads one entry of the outermost object; the beginning of an array starts its section.
  private mutating func readEntry() throws {
    guard let key = try entries.next(from: &reader) else { return try finish() }
    switch key {
    case .exportDate: exportDate = try reader.read(.instant, for: key)?.instant
    case .appVersion: _ = try reader.read(.text, for: key)
    case .schemaVersion: try checkVersion(try reader.read(.integer, for: key))
    case .lists: try beginArray(.others(.list), key)
    case .tasks: try beginArray(.tasks, key)
    case .completions: try beginArray(.others(.completion), key)
    case .filters: try beginArray(.others(.filter), key)
    case .series: try beginArray(.others(.series), key)
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
  /// A document without a version must have tasks; otherwise it is some other program's object.
  private mutating func finish() throws {
    guard hasVersion || hasTasks else { throw reader.fault("The document has neither a schemaVersion nor tasks") }
    // Only the end may follow; the reader throws for anything else.
    _ = try reader.next()
    section = .end
  }

  /// The date of a document whose records precede it; `nil` if the date comes first or is missing.
  ///
  /// The keys may come in any order, but the date decides which values a document overrides. This costs nothing if the
  /// date or the end comes first; otherwise the document is read twice.
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

/// Reads ahead the records of another source on a separate thread, up to some thousands of them.
///
/// Reading a document takes about as long as writing it to the store. The first records are read at once, so that a
/// short document needs no thread.
struct SourceAhead<Source: DocumentSource & ~Copyable>: DocumentSource, ~Copyable {
  let isForeign: Bool
  private let reading: Reading<Source>
  private var piece: RecordPiece

  /// Creates the source; until it ends, nobody else may use the input of the other source.
  ///
  /// - Parameters:
  ///   - source: The other source.
  ///   - detach: Runs a closure on another thread; a test may replace it.
  init(
    _ source: consuming Source,
    detach: (@escaping @Sendable () -> Void) -> Void = { Thread.detachNewThread($0) }
  ) {
    isForeign = source.isForeign
    reading = Reading(source)
    piece = reading.readPiece()
    if piece.end == nil { reading.start(detach) }
  }

  deinit { reading.stop() }

  var exportDate: Timestamp? { piece.exportDate }
  var byteCount: Int64 { piece.byteCount }

  mutating func next() throws -> (record: DocumentRecord, position: TextPosition)? {
    while true {
      if let record = piece.records.popLast() { return record }
      if let end = piece.end {
        try end.get()
        return nil
      }
      piece = reading.nextPiece()
    }
  }
}

/// Some consecutive records of a document.
private struct RecordPiece {
  static let recordLimit = 256
  /// The most bytes of a document in a piece, unless one record is longer.
  static let byteLimit: Int64 = 1 << 18

  /// The records in reverse order, so that each can be removed from the end without a copy.
  var records: [(record: DocumentRecord, position: TextPosition)] = []
  /// When the document was written, as far as it has said so before these records.
  var exportDate: Timestamp?
  /// The number of bytes read so far.
  var byteCount: Int64 = 0
  /// The number of bytes read for these records.
  var sizeInBytes: Int64 = 0
  /// The end of the document, or the error, that follows these records; `nil` if more records follow.
  var end: Result<Void, any Error>?
}

/// The reading of a source, and the pieces that wait to be consumed.
///
/// It is unchecked because only one thread at a time uses the source: the consumer's until the reading thread begins.
private final class Reading<Source: DocumentSource & ~Copyable>: @unchecked Sendable {
  private struct State {
    var pieces: [RecordPiece] = []
    /// Whether the reading thread is using the source.
    var isRunning = false
    var hasBegun = false
    /// Whether the reading thread must no longer use the source.
    var isStopped = false

    private static var pieceLimit: Int { 16 }
    private static var byteLimit: Int64 { 4 << 20 }

    /// Whether another piece may wait: their total size is limited, unless a single record is longer.
    func hasRoom(for piece: RecordPiece) -> Bool {
      let size = pieces.reduce(piece.sizeInBytes) { $0 + $1.sizeInBytes }
      return pieces.isEmpty || pieces.count < Self.pieceLimit && size <= Self.byteLimit
    }
  }

  private var source: Source
  /// A record that was read after the document's date changed, which begins the next piece.
  private var pending: (record: DocumentRecord, position: TextPosition)?
  private let state = Monitor(State())

  init(_ source: consuming Source) {
    self.source = source
  }

  func readPiece() -> RecordPiece {
    var piece = RecordPiece()
    piece.records.reserveCapacity(RecordPiece.recordLimit)
    let start = source.byteCount
    do {
      while piece.records.count < RecordPiece.recordLimit, source.byteCount - start < RecordPiece.byteLimit {
        guard let record = try pending ?? source.next() else {
          piece.end = .success(())
          break
        }
        pending = piece.records.isEmpty || source.exportDate == piece.exportDate ? nil : record
        guard pending == nil else { break }
        piece.exportDate = source.exportDate
        piece.records.append(record)
      }
    } catch {
      piece.end = .failure(error)
    }
    piece.records.reverse()
    piece.byteCount = source.byteCount
    piece.sizeInBytes = source.byteCount - start
    return piece
  }
}

extension Reading where Source: ~Copyable {
  /// Continues reading on another thread, if the system provides one.
  func start(_ detach: (@escaping @Sendable () -> Void) -> Void) {
    detach { [self] in
      let mayRead = state.withLock { state in
        (state.hasBegun, state.isRunning) = (true, !state.isStopped)
        return state.isRunning
      }
      state.wakeAll()
      guard mayRead else { return }
      nameCurrentThread("tally.read")
      while offer(readPiece()) {}
      state.withLock { $0.isRunning = false }
      state.wakeAll()
    }
  }

  /// Waits for room and adds a piece; returns false after the last one.
  private func offer(_ piece: RecordPiece) -> Bool {
    let goesOn = state.wait { state in
      if state.isStopped { return false }
      guard state.hasRoom(for: piece) else { return nil }
      state.pieces.append(piece)
      return piece.end == nil
    }
    state.wakeAll()
    return goesOn ?? false
  }

  /// Waits for the next piece; reads it on this thread if there is no other.
  func nextPiece() -> RecordPiece {
    guard hasThread() else { return readPiece() }
    let piece = state.wait { $0.pieces.isEmpty ? nil : $0.pieces.removeFirst() }
    state.wakeAll()
    return piece ?? RecordPiece()
  }

  /// Whether the other thread reads.
  ///
  /// Foundation does not report that the system has no thread left. A thread that has not begun after a while must
  /// therefore not begin any more.
  private func hasThread() -> Bool {
    state.wait(atMost: Self.longestStart) { $0.hasBegun || $0.isStopped ? true : nil }
    return state.withLock { state in
      if !state.hasBegun { state.isStopped = true }
      return !state.isStopped
    }
  }

  private static var longestStart: Duration { .seconds(1) }

  /// Ends the reading, and waits until the other thread no longer uses the source.
  func stop() {
    state.withLock { $0.isStopped = true }
    state.wakeAll()
    state.wait { $0.isRunning ? nil : true }
  }
}

/// The bytes of an import, which can be read again from the beginning.
///
/// A write transaction runs again if the store's map had to grow, and blocks all other writers while it runs. Therefore
/// a pipe, which cannot be read twice and whose writer may be slow, is first copied to an unnamed file.
package final class ReplayableInput {
  package let descriptor: FileDescriptor
  /// The file's offset at the beginning of the input.
  private let startOffset: Int64
  /// Whether the file is this object's own unnamed copy, which is deleted when it is closed.
  private let isCopy: Bool

  /// The number of bytes, if it is known.
  let byteCount: Int64?

  /// Creates an input from an open file, beginning at its current offset; the caller closes the file.
  ///
  /// - Parameters:
  ///   - descriptor: a file, or a pipe, which is read to its end at once.
  ///   - directory: where to store the contents of a pipe.
  /// - Throws: `inputUnreadable`; `diskFull` or `outputNotCreated` if a copy cannot be made.
  package init(_ descriptor: FileDescriptor, copyingPipesTo directory: FilePath) throws {
    try Self.refuseEndless(descriptor)
    let startOffset = try? descriptor.seek(offset: 0, from: .current)
    isCopy = startOffset == nil
    self.startOffset = startOffset ?? 0
    let descriptor = try isCopy ? Self.copy(descriptor, to: directory) : descriptor
    if isCopy { try descriptor.seek(offset: 0, from: .start) }
    self.descriptor = descriptor
    let status = try? descriptor.stat()
    byteCount = status?.type == .regular ? status.map { $0.size - (startOffset ?? 0) } : nil
  }

  /// Refuses a device, which may never end, unless it is a terminal or, like `/dev/null`, empty.
  private static func refuseEndless(_ descriptor: FileDescriptor) throws {
    guard let type = try? descriptor.stat().type, type == .characterSpecial || type == .blockSpecial,
      !SystemCalls.isTerminal(descriptor)
    else { return }
    var byte: [UInt8] = [0]
    guard try read(descriptor, into: &byte) > 0 else { return }
    throw TallyError(
      .inputUnreadable, "The input is a device", remedy: "Give a file, or a pipe from the program that reads the device"
    )
  }

  deinit {
    if isCopy { try? descriptor.close() }
  }

  /// Seeks to the beginning of the input.
  func rewind() throws {
    _ = try TallyError.replacing(TallyError.unreadableInput) { try descriptor.seek(offset: startOffset, from: .start) }
  }

  /// The first bytes, which the next read returns again.
  package func head(ofAtMost count: Int) throws -> [UInt8] {
    try rewind()
    var head: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: count)
    while head.count < count, case let count = try read(into: &buffer), count > 0 { head += buffer.prefix(count) }
    try rewind()
    return head
  }

  /// Reads the next bytes into the beginning of a buffer and returns their number; 0 at the end.
  func read(into buffer: inout [UInt8]) throws -> Int { try Self.read(descriptor, into: &buffer) }

  private static func read(_ descriptor: FileDescriptor, into buffer: inout [UInt8]) throws -> Int {
    try TallyError.replacing(TallyError.unreadableInput) {
      // The pointer is used only during the call.
      unsafe try buffer.withUnsafeMutableBytes { try unsafe descriptor.read(into: $0) }
    }
  }

  private static func copy(_ pipe: FileDescriptor, to directory: FilePath) throws -> FileDescriptor {
    let copy = try writing { try makeFile(in: directory) }
    do {
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      while case let count = try read(pipe, into: &buffer), count > 0 {
        try TallyError.checkCancellation()
        _ = try writing { try copy.writeAll(buffer.prefix(count)) }
      }
      return copy
    } catch {
      try? copy.close()
      throw error
    }
  }

  /// Creates the file next to the store's, where there must be space for the tasks anyway and nobody else may read.
  private static func makeFile(in directory: FilePath) throws -> FileDescriptor {
    let item = try TemporaryItem(.file, in: directory)
    let file = try FileDescriptor.open(item.path, .readWrite, options: [.closeOnExec, .noFollow])
    do {
      // The descriptor is enough: a file without a name disappears when the program ends.
      try SystemCalls.removeFile(item.path)
    } catch {
      try? file.close()
      throw error
    }
    return file
  }

  private static func writing<R>(_ body: () throws -> R) throws -> R {
    let replacement = { (error: any Error) in
      let errno = error as? Errno
      return TallyError(
        [.noSpace, .diskQuotaExceeded].contains(errno) ? .diskFull : .outputNotCreated,
        "What the pipe delivers cannot be kept until it is imported\(errno.map { ": \($0)" } ?? "")",
        remedy: "Import from a file, or make room in the store's directory, or in TMPDIR for a dry run or a new store",
        cause: error)
    }
    return try TallyError.replacing(replacement, body)
  }
}
