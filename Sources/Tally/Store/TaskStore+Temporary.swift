import Foundation
import SystemPackage
import TallySystem

extension TaskStore {
  /// Opens a new, empty store that is deleted with its last reference: for tests and previews.
  ///
  /// ```swift
  /// let store = try TaskStore.temporary()
  /// try store.writeAndWait { try $0.add("Water the plants", to: .today) }
  /// ```
  ///
  /// A real store, with all its rules, in a new directory of the system's temporary directory. A process that ends
  /// without releasing it leaves the directory there, until another temporary store is made.
  ///
  /// - Parameter configuration: how to open it; without one its writes are relaxed.
  /// - Returns: the store.
  /// - Throws: as opening a store.
  public static func temporary(configuration: Configuration? = nil) throws -> TaskStore {
    let item = try TallyError.translatingErrno {
      try TemporaryItem(.directory, in: FilePath(FileManager.default.temporaryDirectory.path), for: "tally")
    }
    var relaxed = Configuration()
    relaxed.durability = .relaxed
    let directory = item.path.absolute.appending(TemporaryItem.storeDirectory)
    return try TaskStore(StoreOpening(directory: directory, configuration: configuration ?? relaxed), temporary: item)
  }
}
