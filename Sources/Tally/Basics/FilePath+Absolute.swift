import Foundation
package import SystemPackage

extension FilePath {
  /// The path from the root, which stays the same when the process changes its current directory.
  package var absolute: FilePath {
    // An empty path names nothing, and must not come to mean the current directory.
    isAbsolute || isEmpty ? self : FilePath(FileManager.default.currentDirectoryPath).pushing(self)
  }
}
