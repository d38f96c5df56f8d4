import LMDB
package import SystemPackage
import TallyEngine
import TallySystem

extension TaskStore {
  /// Removes a store to which nothing has ever been written, such as one created for an import that then failed.
  ///
  /// It does nothing if the store is open anywhere or has ever been written to. If removing fails, an empty store
  /// remains, which does no harm.
  ///
  /// - Parameters:
  ///   - directory: The store's directory.
  ///   - configuration: How to open the store.
  ///   - leavingDirectory: Whether to keep the directory itself, because it existed before.
  package static func removeUnused(at directory: FilePath, configuration: Configuration, leavingDirectory: Bool) {
    var configuration = configuration
    configuration.waitLimitInSeconds = 0
    let opening = StoreOpening(directory: directory, configuration: configuration)
    try? opening.withDamagedStore(.exclusive) { store in
      guard try StoreOpening.header(in: store.environment)?.sequence == 0 else { return }
      try store.environment.close()
      // The data file is removed first: without it the other files are not a store.
      for name in [StoreOpening.dataFileName, StoreOpening.lockFileName, StoreAccess.fileName] {
        try SystemCalls.removeFile(directory.appending(name))
      }
      if !leavingDirectory { try SystemCalls.removeDirectory(directory) }
    }
  }
}
