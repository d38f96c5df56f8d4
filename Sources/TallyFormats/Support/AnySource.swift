internal import Tally

/// The source of whichever format was asked for.
struct AnySource: DocumentSource {
  private let source: any ForeignSource

  init(_ source: some ForeignSource) {
    self.source = source
  }

  var exportDate: Timestamp? { nil }
  var byteCount: Int64 { source.byteCount }

  func next() throws -> (record: DocumentRecord, position: TextPosition)? {
    guard let (task, position) = try source.nextTask() else { return nil }
    return (.task(task), position)
  }
}

/// Reads the tasks of a document of another format.
protocol ForeignSource: AnyObject {
  /// The bytes read so far.
  var byteCount: Int64 { get }

  /// The next task and where it begins; `nil` at the end.
  func nextTask() throws -> (TaskDocument, TextPosition)?
}
