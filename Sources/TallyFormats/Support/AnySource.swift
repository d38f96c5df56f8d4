internal import Tally

/// The source of whichever format was asked for.
struct AnySource: DocumentSource {
  private let source: any ForeignSource
  private let remarks: RemarkLog
  /// The task read last, returned after its remarks.
  private var held: (TaskDocument, TextPosition)?
  private var isAtEnd = false
  private var hasTasks = false

  init(_ source: some ForeignSource, _ context: FormatContext) {
    self.source = source
    remarks = context.remarks
  }

  var exportDate: Timestamp? { nil }
  var byteCount: Int64 { source.byteCount }
  var isForeign: Bool { true }

  mutating func next() throws -> (record: DocumentRecord, position: TextPosition)? {
    if held == nil, !isAtEnd {
      remarks.position = nil
      held = try source.nextTask()
      isAtEnd = held == nil
      hasTasks = hasTasks || !isAtEnd
      // Line-based formats accept any text. A document with text but no task is refused.
      if isAtEnd, !hasTasks, remarks.hasTexts {
        throw TallyError.malformed("The document has no tasks, only other text", line: 1)
      }
    }
    if let (remark, position) = remarks.takeFirst() {
      return (.remark(remark), position ?? held?.1 ?? TextPosition(line: 1, column: 1))
    }
    guard let (task, position) = held.take() else { return nil }
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
