import Foundation
import SystemPackage
import TallySystem

/// Another program, which takes the place of this one for what it alone can do.
struct CompanionProgram: Sendable {
  /// Its file, beside this program or in PATH.
  let name: String
  /// The code of the failure where it is missing.
  let code: String
  /// How the sources build it.
  let build: String
  /// The beginning of the sentence that it was not found.
  let purpose: String

  /// The commands of `tally` with a client for hubs.
  static let hubClient = CompanionProgram(
    name: "tally-hub-client", code: "syncUnreachable",
    build: "Run 'make hub' in the sources", purpose: "Hubs are reached by")
  /// The screens in a browser.
  static let web = CompanionProgram(
    name: "tally-web", code: "programMissing", build: "Run 'make install-web' in the sources",
    purpose: "The screens in a browser are shown by")

  /// Replaces this process by the program.
  ///
  /// - Parameters:
  ///   - arguments: Its arguments.
  ///   - environment: Its variables.
  /// - Returns: Only if that fails, why.
  func replaceThisProcess(_ arguments: [String], _ environment: EnvironmentVariables) -> CommandFailure {
    do {
      let path = try find(in: environment)
      try ForegroundProgram.replaceThisProcess(path, arguments, environment: environment.intact)
    } catch let failure as CommandFailure {
      return failure
    } catch {
      return CommandFailure(
        .busy, code: code, "\(purpose) the program \(name), which cannot be started: \(error)",
        remedy: "Check that it is built for this machine")
    }
  }

  /// Beside this program, or in PATH.
  private func find(in environment: EnvironmentVariables) throws -> FilePath {
    let own = Bundle.main.executablePath.map { FilePath($0).removingLastComponent().string }
    let others = (try environment.value(of: "PATH") ?? "/usr/bin:/bin").split(separator: ":").map(String.init)
    for directory in [own].compactMap({ $0 }) + others {
      let path = FilePath(directory).appending(name)
      if FileManager.default.isExecutableFile(atPath: path.string) { return path }
    }
    throw CommandFailure(
      .busy, code: code, "\(purpose) the program \(name), which was not found",
      remedy: "\(build); the program is looked for beside tally and in PATH"
    )
  }
}

/// The command is one of another program, which is started in place of this.
struct NeedsCompanion: Error {
  let program: CompanionProgram
  /// Its arguments; `nil` for those of this program.
  var arguments: [String]?
}
