import Foundation

/// The checkout these tests were built from.
enum Repository {
  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// Every file and folder, relative to the root and sorted, except build products and git's own.
  static func paths() -> [String] {
    guard let enumerator = FileManager.default.enumerator(atPath: root.path) else { return [] }
    var paths: [String] = []
    while let path = enumerator.nextObject() as? String {
      let name = path.split(separator: "/").last ?? ""
      if name == ".git" || name == ".swiftpm" || name.hasPrefix(".build") {
        enumerator.skipDescendants()
      } else {
        paths.append(path)
      }
    }
    return paths.sorted()
  }

  static func exists(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: root.appending(path: path).path)
  }

  static func text(of path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }
}
