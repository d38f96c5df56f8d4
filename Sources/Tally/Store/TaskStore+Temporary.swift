import Foundation
import SystemPackage

extension TaskStore {
  /// Opens a new, empty store that is deleted with its last reference: for tests and previews.
  ///
  /// ```swift
  /// let store = try TaskStore.temporary()
  /// try store.writeAndWait { try $0.add("Water the plants", to: .today) }
  /// ```
  ///
  /// A real store, with all its rules, in a new directory of the system's temporary directory. A process that ends
  /// without releasing it leaves the directory there.
  ///
  /// - Parameter configuration: how to open it; without one its writes are relaxed.
  /// - Returns: the store.
  /// - Throws: as opening a store.
  public static func temporary(configuration: Configuration? = nil) throws -> TaskStore {
    let name = "tally-\(UUID().uuidString.lowercased())"
    let directory = FilePath(FileManager.default.temporaryDirectory.path).appending(name)
    var relaxed = Configuration()
    relaxed.durability = .relaxed
    return try TaskStore(
      StoreOpening(directory: directory, configuration: configuration ?? relaxed), isTemporary: true)
  }
}
