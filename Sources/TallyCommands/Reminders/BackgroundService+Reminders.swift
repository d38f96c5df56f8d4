import SystemPackage
import Tally

extension BackgroundService {
  /// What starts `tally remind`.
  ///
  /// - Parameters:
  ///   - program: The program to run; without one, notifications are shown.
  ///   - arguments: Its arguments.
  ///   - journal: The journal, unless it is the usual one.
  ///   - session: Names the store.
  init(reminding program: String?, arguments: [String], journal: String?, _ session: Session) {
    // Relative paths mean nothing where the service starts.
    let delivery = program.map { ["--exec", $0.contains("/") ? FilePath($0).absolute.string : $0] } ?? ["--notify"]
    let rest = arguments.isEmpty ? [] : ["--"] + arguments
    let record = journal.map { ["--journal", FilePath($0).absolute.string] } ?? []
    self.init(running: ["remind"], delivery + record + rest, description: "Reminders of tally", in: session)
  }
}
