import Foundation
import SystemPackage
import TallySystem

/// The program with the commands of `tally` and a client for hubs.
struct HubProgram {
  private static let name = "tally-hub-client"

  /// Replaces this process by the program, with the same arguments.
  ///
  /// - Parameter invocation: What this process was started with.
  /// - Returns: Only if that fails, why.
  static func replaceThisProcess(_ invocation: Invocation) -> CommandFailure {
    do {
      let path = try find(in: invocation.environment)
      try ForegroundProgram.replaceThisProcess(path, invocation.arguments, environment: invocation.environment.intact)
    } catch let failure as CommandFailure {
      return failure
    } catch {
      return CommandFailure(
        .busy, code: "syncUnreachable", "The program \(name), which reaches hubs, cannot be started: \(error)",
        remedy: "Check that it is built for this machine")
    }
  }

  /// Beside this program, or in PATH.
  private static func find(in environment: EnvironmentVariables) throws -> FilePath {
    let own = Bundle.main.executablePath.map { FilePath($0).removingLastComponent().string }
    let others = (try environment.value(of: "PATH") ?? "/usr/bin:/bin").split(separator: ":").map(String.init)
    for directory in [own].compactMap({ $0 }) + others {
      let path = FilePath(directory).appending(name)
      if FileManager.default.isExecutableFile(atPath: path.string) { return path }
    }
    throw missing
  }

  private static let missing = CommandFailure(
    .busy, code: "syncUnreachable", "Hubs are reached by the program \(name), which was not found",
    remedy: "Build it in the directory Hub of the sources, and put it beside tally or into a directory of PATH")
}
