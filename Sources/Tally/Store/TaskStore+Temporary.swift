import Foundation
import SystemPackage
import TallyEngine
import TallySystem

extension TaskStore {
  /// Opens a new, empty store for tests and previews, which is deleted with its last reference.
  ///
  /// ```swift
  /// let store = try TaskStore.temporary()
  /// try store.writeAndWait { try $0.add("Water the plants", to: .today) }
  /// ```
  ///
  /// It is a real store with all its rules, in a new directory inside the system's temporary directory. If a process
  /// ends without releasing it, the directory stays until another temporary store is created.
  ///
  /// - Parameter configuration: how to open it; by default, its writes are relaxed.
  /// - Returns: the store.
  /// - Throws: as opening a store.
  public static func temporary(configuration: Configuration? = nil) throws -> TaskStore {
    let item = try TallyError.translatingErrno {
      try TemporaryItem(.directory, in: FilePath(FileManager.default.temporaryDirectory.path), for: "tally")
    }
    var relaxed = Configuration()
    relaxed.durability = .relaxed
    let configuration = configuration ?? relaxed
    return try TaskStore(
      StoreOpening(directory: item.storeDirectory.absolute, configuration: configuration), configuration,
      temporary: item)
  }
}
