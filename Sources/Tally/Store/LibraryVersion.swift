extension TaskStore {
  /// The version of this library, which exports name as their `appVersion`.
  public static let libraryVersion = "0.1.0"
}
