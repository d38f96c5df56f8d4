import SystemPackage
import Tally
import TallySystem

extension Session {
  /// Writes the report as a page to a file, which is replaced as a whole or not at all; `-` is standard output.
  ///
  /// - Throws: the library's error where the file cannot be written.
  func writePage(of report: StatisticsReport, to path: String) throws {
    let page = try StatisticsPage(report: report).html
    guard path != "-" else { return try output.write(page) }
    let file = try AtomicFile.create(replacing: FilePath(path))
    let descriptor = file.descriptor
    _ = try CommandFailure.replacing(CommandFailure.init(writing:)) { try descriptor.writeAll(page.utf8) }
    try file.commit()
    say("Wrote \(path.escapedForDisplay())")
  }
}
