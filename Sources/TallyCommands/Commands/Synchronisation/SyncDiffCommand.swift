import ArgumentParser
import SystemPackage
import Tally
import TallySync

/// `tally sync diff`.
struct SyncDiffCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Write all that this store knows into a sealed file, for another store of the space.",
    usage: "tally sync diff <file> [--from <file>] [<options>]",
    discussion: """
      For stores that share no folder any more; both are in the space. The other one takes the file with 'tally sync \
      apply'. With --from, name a file that the other store wrote: only what it lacks is written.

      With --plain, a line has these columns: file, objects.
      """
  )

  @Argument(help: ArgumentHelp("The file to write.", valueName: "file"))
  var file: String

  @Option(help: ArgumentHelp("A file that the other store has written.", valueName: "file"))
  var from: String?

  func validate() throws {
    if file == "-" { throw ValidationError("Name a file: the difference is not text.") }
  }

  func run(in session: Session) throws {
    let sync = StoreSync(try session.openStore(for: .changing))
    let count = try session.wait { [file, from] in
      try await sync.writeDifference(to: FilePath(file), from: from.map { FilePath($0) })
    }
    try session.answer(["file": .text(file), "objects": .count(count)], plain: .record(["file", "objects"])) {
      session.say("Wrote \(count.counted("object")) to \(file.escapedForDisplay()).")
    }
  }
}
