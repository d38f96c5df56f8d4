import Foundation
import SystemPackage
import TallySystem

/// A program that copies a shared folder between devices, each file under another name first, and flushes nothing.
///
/// Looks at paths as texts: without optimisation, swift-system checks each character of a path many times.
struct FolderCopier {
  /// Copies what one folder has and the other lacks, or has otherwise.
  ///
  /// - Parameters:
  ///   - source: The folder.
  ///   - target: The other one.
  ///   - isWanted: Whether to copy a file, by its path in the folder.
  /// - Throws: An error of the system.
  static func copy(
    from source: FilePath, to target: FilePath, where isWanted: (String) -> Bool = { _ in true }
  ) throws {
    let (source, target) = (source.string, target.string)
    for name in try files(in: FilePath(source)) where isWanted(name) {
      let content = FileManager.default.contents(atPath: "\(source)/\(name)") ?? Data()
      guard FileManager.default.contents(atPath: "\(target)/\(name)") != content else { continue }
      let copy = FilePath("\(target)/\(name)")
      try createDirectories(upTo: copy.removingLastComponent())
      let temporary = copy.removingLastComponent().appending(".copier-\(copy.lastComponent?.string ?? "")")
      try write(Array(content), to: temporary)
      try SystemCalls.rename(temporary, to: copy)
    }
  }

  /// The paths of the files that belong to spaces, in the folder; those that are being written are left out.
  static func files(in folder: FilePath) throws -> [String] {
    let endings = [".card", ".seg", ".snap"]
    return try FileManager.default.subpathsOfDirectory(atPath: folder.string).sorted().filter { name in
      name.hasPrefix("tally-") && endings.contains { name.hasSuffix($0) } && !name.contains("/.")
    }
  }

  private static func createDirectories(upTo path: FilePath) throws {
    guard !FileManager.default.fileExists(atPath: path.string) else { return }
    try createDirectories(upTo: path.removingLastComponent())
    try SystemCalls.makeDirectory(path)
  }
}
