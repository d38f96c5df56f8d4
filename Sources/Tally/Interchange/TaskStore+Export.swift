public import SystemPackage
import TallySystem

extension TaskStore {
  /// Writes all tasks to a file, which replaces an older one as a whole.
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
  ///   - progress: Called from time to time; may throw to end the export.
  /// - Returns: The numbers of exported records.
  /// - Throws: `outputNotCreated`, `diskFull`, `cancelled` if the Swift task was cancelled, what `progress` throws, and
  ///   what `read` throws.
  @discardableResult
  public func export(
    to file: FilePath,
    format: InterchangeFormat = .json,
    progress: InterchangeProgress.Observer? = nil
  ) throws -> ExportSummary {
    let output = try AtomicFile.create(replacing: file)
    let summary = try export(to: output.descriptor, format: format, progress: progress)
    try output.commit()
    return summary
  }

  /// Writes all tasks to an open file or pipe, which stays open.
  ///
  /// As ``export(to:format:progress:)-(FilePath,_,_)``, but output written before a failure stays written.
  @discardableResult
  public func export(
    to descriptor: FileDescriptor,
    format: InterchangeFormat = .json,
    progress: InterchangeProgress.Observer? = nil
  ) throws -> ExportSummary {
    try read { transaction in
      var exporter = DocumentExporter(output: descriptor, format: format, observer: progress)
      return try exporter.run(in: transaction)
    }
  }
}
