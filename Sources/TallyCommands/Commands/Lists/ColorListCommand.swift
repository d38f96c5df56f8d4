import ArgumentParser
import Tally

/// `tally lists color NAME RRGGBB`.
struct ColorListCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "color",
    abstract: "Change the colour of a list.",
    usage: "tally lists color <name> <rrggbb> [<options>]"
  )

  static let takesText = true

  @Argument(help: SharedHelp.list)
  var name: String

  @Argument(help: ArgumentHelp("Six hexadecimal digits.", valueName: "rrggbb"))
  var color: String

  func run(in session: Session) throws {
    try session.changeList(name) { before, transaction in
      let after = try transaction.recolorList(before.id, to: color.withoutNumberSign)
      return (after, "Set the colour of list \(after.name.quotedForMessage) to \(after.colorHex).")
    }
  }
}
