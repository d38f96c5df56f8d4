extension TaskStore {
  /// The version of this library; exports contain it as their `appVersion`.
  public static let libraryVersion = "0.1.0"
}
