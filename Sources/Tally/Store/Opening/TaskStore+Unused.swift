import LMDB
package import SystemPackage
import TallySystem

extension TaskStore {
  /// Takes a store away to which nothing has ever been written, as one that was made for an import that then failed.
  ///
  /// Does nothing where it is not certain that nobody would miss it: where somebody has it open, or has written to it.
  /// A failure to take it away leaves an empty store, which does no harm.
  ///
  /// - Parameters:
  ///   - directory: The store's directory.
  ///   - configuration: How to open the store.
  ///   - leavingDirectory: Whether the directory itself stays, as one that was there before.
  package static func removeUnused(at directory: FilePath, configuration: Configuration, leavingDirectory: Bool) {
    var configuration = configuration
    configuration.waitLimitInSeconds = 0
    let opening = StoreOpening(directory: directory, configuration: configuration)
    try? opening.withDamagedStore(.exclusive) { store in
      guard try StoreOpening.header(in: store.environment)?.sequence == 0 else { return }
      try store.environment.close()
      // The data first: it is what makes a store of the rest.
      for name in [StoreOpening.dataFileName, StoreOpening.lockFileName, StoreAccess.fileName] {
        try SystemCalls.removeFile(directory.appending(name))
      }
      if !leavingDirectory { try SystemCalls.removeDirectory(directory) }
    }
  }
}
