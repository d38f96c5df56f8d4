import SystemPackage

/// Where the store is by default.
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
