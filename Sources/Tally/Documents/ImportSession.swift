/// One import, which may have to start again when the store's map has grown.
struct ImportSession<Source: DocumentSource & ~Copyable>: ~Copyable {
  let input: ReplayableInput
  let options: ImportOptions
  let observer: InterchangeProgress.Observer?
  /// Begins to read the document.
  let source: (consuming JSONInput) throws -> Source

  /// Reads the document from its beginning and writes it.
  func run(in transaction: inout StoreWriteTransaction) throws -> ImportSummary {
    var importer = try begin()
    var deltas = CounterDeltas()
    while let batch = try importer.nextBatch(in: transaction) {
      try transaction.apply(batch, counting: &deltas)
      try reportProgress(importer.summary, importer.byteCount)
    }
    try transaction.apply(deltas)
    try importer.resolveSubtasks(in: &transaction)
    if options.mustBeUndoable, !transaction.isUndoable { throw TallyError.irreversible }
    return importer.summary
  }

  /// Reads the document and writes nothing.
  func runDry(
    in transaction: borrowing StoreReadTransaction, report: ImportedRecord.Observer?
  ) throws -> ImportSummary {
    var importer = try begin(report)
    while try importer.nextBatch(in: transaction) != nil {
      try reportProgress(importer.summary, importer.byteCount)
    }
    try importer.checkWhole(in: transaction)
    return importer.summary
  }

  private func begin(_ report: ImportedRecord.Observer? = nil) throws -> DocumentImporter<SourceAhead<Source>> {
    try TallyError.checkCancellation()
    try input.rewind()
    let ahead = SourceAhead(try source(JSONInput(source: input.read)))
    return DocumentImporter(ahead, options: options, report: report)
  }

  private func reportProgress(_ summary: ImportSummary, _ byteCount: Int64) throws {
    try TallyError.checkCancellation()
    let counts = summary.tasks
    try observer?(
      InterchangeProgress(
        taskCount: counts.added + counts.changed + counts.unchanged + counts.keptNewer, totalTaskCount: nil,
        byteCount: byteCount, totalByteCount: input.byteCount))
  }
}

extension ImportSession where Source == JSONDocumentSource {
  /// An import of one of Tally's own formats.
  init(
    _ input: ReplayableInput, format: InterchangeFormat, options: ImportOptions,
    observer: InterchangeProgress.Observer? = nil
  ) throws {
    var lateDate: Timestamp?
    if format == .json, !options.overwrites {
      try input.rewind()
      lateDate = try JSONDocumentSource.lateExportDate(JSONInput(source: input.read))
    }
    self.init(input: input, options: options, observer: observer) { bytes in
      JSONDocumentSource(bytes, format: format, isLenient: options.isLenient, exportDate: lateDate)
    }
  }
}
