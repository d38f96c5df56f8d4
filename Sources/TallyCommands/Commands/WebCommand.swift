import ArgumentParser
import Foundation
import SystemPackage
import Tally

/// `tally web`.
struct WebCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "web",
    abstract: "Show the tasks in a browser on this machine.",
    usage: "tally web [--port <port>] [--open] [<options>]",
    discussion: """
      Prints an address that lets a browser in, and serves until Control-C or SIGTERM. The address has a random token, \
      and leads to this machine only. The program tally-web does the work.

      EXAMPLES
        tally web --open
      """
  )

  @Option(help: ArgumentHelp("The port; 0 for any free one.", valueName: "port"))
  var port: UInt16?

  @Flag(help: "Open the address in a browser.")
  var open = false

  var countsWeeks: Bool { true }

  func run(in session: Session) throws {
    var arguments = ["--store", session.storePath.string, "--time-zone", session.clock.timeZone.identifier]
    arguments += ["--week-start", "\(try session.clock.firstWeekday())"]
    arguments += ["--day-start", "\(session.clock.dayStartInMinutes)"]
    arguments += ["--next-weights", session.settings.nextWeights.text]
    if let port { arguments += ["--port", "\(port)"] }
    if open { arguments.append("--open") }
    throw NeedsCompanion(program: .web, arguments: arguments)
  }
}
