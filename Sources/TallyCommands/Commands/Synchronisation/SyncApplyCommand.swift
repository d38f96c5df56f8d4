import ArgumentParser
import SystemPackage
import Tally
import TallySync

/// `tally sync apply`.
struct SyncApplyCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "apply",
    abstract: "Merge a file that 'tally sync diff' has written in another store of the space.",
    usage: "tally sync apply <file> [<options>]",
    discussion: """
      Applying a file again, or an old one, changes nothing.

      With --plain, a line has this column: objects.
      """
  )

  @Argument(help: ArgumentHelp("The file to merge.", valueName: "file"))
  var file: String

  func run(in session: Session) throws {
    let sync = StoreSync(try session.openStore(for: .changing))
    let count = try session.wait { [file] in try await sync.apply(FilePath(file)) }
    try session.answer(["objects": .count(count)], plain: .record(["objects"])) {
      session.say(count > 0 ? "Merged \(count.counted("object"))." : "Nothing in it was new.")
    }
  }
}
