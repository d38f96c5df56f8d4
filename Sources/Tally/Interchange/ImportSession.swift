/// One import, which may have to start again when the store's map has grown.
struct ImportSession {
  let input: ReplayableInput
  let format: InterchangeFormat
  let options: ImportOptions
  let observer: InterchangeProgress.Observer?

  /// Reads the document from its beginning and writes it.
  func run(in transaction: inout StoreWriteTransaction) throws -> ImportSummary {
    var importer = try begin()
    var deltas = CounterDeltas()
    while let batch = try importer.nextBatch(in: transaction) {
      try transaction.apply(batch, counting: &deltas)
      try reportProgress(of: importer)
    }
    try transaction.apply(deltas)
    return importer.summary
  }

  /// Reads the document and writes nothing.
  func rehearse(in transaction: borrowing StoreReadTransaction) throws -> ImportSummary {
    var importer = try begin()
    while try importer.nextBatch(in: transaction) != nil { try reportProgress(of: importer) }
    return importer.summary
  }

  private func begin() throws -> DocumentImporter {
    try TallyError.checkCancellation()
    try input.rewind()
    return DocumentImporter(JSONInput(source: input.read), format: format, options: options)
  }

  private func reportProgress(of importer: borrowing DocumentImporter) throws {
    try TallyError.checkCancellation()
    let counts = importer.summary.tasks
    try observer?(
      InterchangeProgress(
        taskCount: counts.added + counts.changed + counts.unchanged, totalTaskCount: nil, byteCount: importer.byteCount,
        totalByteCount: input.byteCount))
  }
}
