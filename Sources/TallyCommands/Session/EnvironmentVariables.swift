import Foundation

/// The environment's variables, each checked where its value is used.
///
/// The standard library replaces what is not UTF-8 with U+FFFD, and the value would name another directory. Refusing
/// such variables at the start would be simpler, but `--help` needs none of them, and `--store` makes `TALLY_STORE`
/// irrelevant.
struct EnvironmentVariables: Sendable {
  /// The variables that are UTF-8, which a started program gets.
  let intact: [String: String]
  private let brokenNames: Set<String>

  init(_ values: [String: String], brokenNames: Set<String> = []) {
    intact = values.filter { !brokenNames.contains($0.key) }
    self.brokenNames = brokenNames
  }

  /// The value of a variable; `nil` if it is not set.
  ///
  /// - Throws: ``CommandFailure`` where the value is not UTF-8.
  func value(of name: String) throws(CommandFailure) -> String? {
    guard !brokenNames.contains(name) else {
      throw .usage(
        "The variable \(name) is not UTF-8",
        remedy: "Convert it, for example with 'iconv -t UTF-8', or unset it; nothing was done"
      )
    }
    return intact[name]
  }

  /// The value of a variable; `nil` if it is not set or empty.
  ///
  /// - Throws: ``CommandFailure`` where the value is not UTF-8.
  func nonEmptyValue(of name: String) throws(CommandFailure) -> String? {
    try value(of: name).flatMap { $0.isEmpty ? nil : $0 }
  }

  /// The variables of this process.
  static func ofProcess() -> EnvironmentVariables {
    let values = ProcessInfo.processInfo.environment
    // Nothing changes the environment of this program. A name that is not found is not UTF-8 itself.
    return EnvironmentVariables(
      values, brokenNames: Set(values.keys.filter { name in unsafe String(intact: getenv(name)) == nil }))
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
