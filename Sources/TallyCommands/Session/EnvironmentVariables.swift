import Foundation
import SystemPackage

/// The environment's variables, each checked where its value is used.
///
/// Foundation replaces bytes that are not UTF-8 with U+FFFD, and the result would name another directory. Refusing
/// such variables at the start would be simpler, but `--help` needs none of them, and `--store` makes `TALLY_STORE`
/// irrelevant.
struct EnvironmentVariables: Sendable {
  /// The variables; `nil` for those of this process, of which only those in use are read: reading all of them takes longer
  /// than opening a store.
  private let given: [String: String]?

  private init(given: [String: String]?) { self.given = given }

  init(_ values: [String: String]) { self.init(given: values) }

  /// The variables of this process.
  static let ofProcess = EnvironmentVariables(given: nil)

  /// The variables that are UTF-8, which a started program gets.
  var intact: [String: String] {
    // Nothing changes the environment of this program. A name that is not found is not UTF-8 itself.
    given ?? ProcessInfo.processInfo.environment.filter { name, _ in unsafe String(intact: getenv(name)) != nil }
  }

  /// The value of a variable; `nil` if it is not set.
  ///
  /// - Throws: ``CommandFailure`` where the value is not UTF-8.
  func value(of name: String) throws(CommandFailure) -> String? {
    if let given { return given[name] }
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
}

extension String {
  /// A zero-terminated string of the system; `nil` if there is none or it is not UTF-8.
  init?(intact bytes: UnsafePointer<CChar>?) {
    guard let bytes = unsafe bytes else { return nil }
    // The system's own copies end with a zero.
    unsafe self.init(validatingCString: bytes)
  }
}
