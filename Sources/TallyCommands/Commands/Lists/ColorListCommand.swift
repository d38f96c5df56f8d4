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

  @OptionGroup
  var global: GlobalOptions

  func run(in session: Session) throws {
    let change = try session.write { transaction in
      let before = try transaction.list(named: name)
      let after = try transaction.recolorList(before.id, to: color.withoutNumberSign)
      return ChangeReport(
        from: before,
        to: after,
        "Set the colour of list \(after.name.quotedForMessage) to \(after.colorHex)."
      )
    }
    try session.report(change)
  }
}
