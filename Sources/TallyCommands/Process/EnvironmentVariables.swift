import Foundation
import SystemPackage
import TallySystem

/// The environment's variables, each checked where its value is used.
///
/// Foundation replaces bytes that are not UTF-8 with U+FFFD, and the result would name another directory. Refusing
/// such variables at the start would be simpler, but `--help` needs none of them, and `--store` makes `TALLY_STORE`
/// irrelevant.
struct EnvironmentVariables: Sendable {
  /// The variables; `nil` for those of this process, of which only those in use are read: reading all of them takes longer
  /// than opening a store.
  private let values: [String: String]?

  init(_ values: [String: String]?) { self.values = values }

  /// The variables of this process.
  static let ofProcess = EnvironmentVariables(nil)

  /// The variables that are UTF-8, which a started program gets.
  var intact: [String: String] {
    // Nothing changes the environment of this program. A name that is not found is not UTF-8 itself.
    values ?? ProcessInfo.processInfo.environment.filter { name, _ in unsafe String(intact: getenv(name)) != nil }
  }

  /// The value of a variable; `nil` if it is not set.
  ///
  /// - Throws: ``CommandFailure`` where the value is not UTF-8.
  func value(of name: String) throws(CommandFailure) -> String? {
    if let values { return values[name] }
    // As above.
    guard let bytes = unsafe getenv(name) else { return nil }
    guard let value = unsafe String(intact: bytes) else {
      throw .usage(
        "The variable \(name) is not UTF-8",
        remedy: "Convert it, for example with 'iconv -t UTF-8', or unset it; nothing was done")
    }
    return value
  }

  /// The value of a variable; `nil` if it is not set or empty.
  ///
  /// - Throws: ``CommandFailure`` where the value is not UTF-8.
  func nonEmptyValue(of name: String) throws(CommandFailure) -> String? {
    try value(of: name).flatMap { $0.isEmpty ? nil : $0 }
  }

  /// The directory of `tally` in the one that a variable of XDG names, else below the home directory; `nil` if there is
  /// none.
  ///
  /// XDG says to ignore relative paths.
  ///
  /// - Throws: ``CommandFailure`` where a value is not UTF-8.
  func ownDirectory(in variable: String, belowHome place: FilePath) throws(CommandFailure) -> FilePath? {
    if let path = try value(of: variable), path.hasPrefix("/") { return FilePath(path).appending("tally") }
    return try nonEmptyValue(of: "HOME").map { FilePath($0).pushing(place).appending("tally") }
  }

  /// The first program of a name in PATH.
  ///
  /// - Throws: ``CommandFailure`` where the variable is not UTF-8.
  func program(named name: String) throws(CommandFailure) -> FilePath? {
    let directories = (try value(of: "PATH") ?? "/usr/bin:/bin").split(separator: ":")
    return directories.lazy.map { FilePath(String($0)).appending(name) }.first(where: \.isExecutable)
  }
}

extension FilePath {
  /// Whether this process may execute the file.
  var isExecutable: Bool { FileManager.default.isExecutableFile(atPath: string) }
}

extension String {
  /// A zero-terminated string of the system; `nil` if there is none or it is not UTF-8.
  init?(intact bytes: UnsafePointer<CChar>?) {
    guard let bytes = unsafe bytes else { return nil }
    // The system's own copies end with a zero.
    unsafe self.init(validatingCString: bytes)
  }
}

/// The default path of the store.
enum StorePath {
  /// The store's directory: the option, else `$TALLY_STORE`, else `$XDG_DATA_HOME/tally`, else
  /// `~/.local/share/tally`.
  ///
  /// A variable that is set but empty counts as unset.
  ///
  /// - Throws: ``CommandFailure`` if there is no home directory, or a variable that names the place is not UTF-8.
  static func resolve(option: String?, environment: EnvironmentVariables) throws -> FilePath {
    if let option { return FilePath(option) }
    if let path = try environment.nonEmptyValue(of: "TALLY_STORE") { return FilePath(path) }
    if let own = try environment.ownDirectory(in: "XDG_DATA_HOME", belowHome: ".local/share") { return own }
    throw CommandFailure.usage(
      "There is no home directory to keep the store in", remedy: "Name a directory with --store or in TALLY_STORE")
  }
}

/// Another program, which replaces this one for commands that only it can run.
struct CompanionProgram: Sendable {
  /// Its file, beside this program or in PATH.
  let name: String
  /// The code of the failure where it is missing.
  let code: String
  /// The command that builds it from the sources.
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
    let own = Bundle.main.executablePath.map { FilePath($0).removingLastComponent().appending(name) }
    if let own, own.isExecutable { return own }
    if let path = try environment.program(named: name) { return path }
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
