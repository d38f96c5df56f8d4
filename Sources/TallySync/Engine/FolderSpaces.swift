import Foundation
import SystemPackage
import Tally

/// The spaces that a folder holds.
enum FolderSpaces {
  /// - Throws: `TallyError` with `syncUnreachable`.
  static func find(in folder: FilePath) throws -> [SpaceID] {
    do {
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.string)
      return names.filter { $0.hasPrefix("tally-") }.sorted().compactMap { SpaceID(String($0.dropFirst(6))) }
    } catch {
      throw TallyError.unreachable(FolderFault(.noSuchFileOrDirectory, at: folder))
    }
  }
}
