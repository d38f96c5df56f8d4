public import SystemPackage
import TallySystem

extension TaskStore {
  /// Writes all tasks, or those that a filter finds, to a file, which replaces an older one as a whole.
  ///
  /// The export is one snapshot, while writers go on, and its memory does not grow with the store. It is written to a
  /// temporary file beside the target, flushed and renamed. If it fails or is cancelled, nothing is left behind and the
  /// old file stays unchanged. Only its owner may read the file. A symbolic link is replaced, not followed. Blocks
  /// until all is done; run it where waiting is allowed.
  ///
  /// ```swift
  /// let day = CalendarDay(containing: .now(), in: TimeZone.current)
  /// try store.export(to: FilePath(InterchangeFormat.json.defaultFileName(on: day)))
  /// ```
  ///
  /// - Parameters:
  ///   - file: The path of the file.
  ///   - format: What to write.
  ///   - filter: Which tasks to write, with their ancestors and lists and without the history of deleted tasks; `nil` for
  ///     everything.
  ///   - progress: Called from time to time; may throw to end the export.
  /// - Returns: The numbers of exported records.
  /// - Throws: `outputNotCreated`, `diskFull`, `cancelled` if the Swift task was cancelled, what `progress` throws,
  ///   what `read` throws, and for a filter what ``StoreTransaction/tasks(_:)`` throws.
  /// - Complexity: a microsecond or two a task; with a filter also 16 bytes of memory and their hashing for each.
  @discardableResult
  public func export(
    to file: FilePath,
    format: InterchangeFormat = .json,
    matching filter: TaskFilter? = nil,
    progress: InterchangeProgress.Observer? = nil
  ) throws -> ExportSummary {
    let output = try AtomicFile.create(replacing: file)
    let summary = try export(to: output.descriptor, format: format, matching: filter, progress: progress)
    try output.commit()
    return summary
  }

  /// Writes all tasks to an open file or pipe, which stays open.
  ///
  /// As ``export(to:format:matching:progress:)-(FilePath,_,_,_)``, but output written before a failure stays written.
  @discardableResult
  public func export(
    to descriptor: FileDescriptor,
    format: InterchangeFormat = .json,
    matching filter: TaskFilter? = nil,
    progress: InterchangeProgress.Observer? = nil
  ) throws -> ExportSummary {
    try read { transaction in
      let selection = try filter.map { try ExportSelection($0, in: transaction) }
      var exporter = DocumentExporter(
        output: descriptor, format: format, selection: selection, observer: progress)
      return try exporter.run(in: transaction)
    }
  }
}
