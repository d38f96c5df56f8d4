import Foundation
import SystemPackage
import Tally
import TallySystem

/// The spaces that a folder holds.
enum FolderSpaces {
  /// - Throws: `TallyError` with `syncUnreachable`.
  static func find(in folder: FilePath) throws -> [SpaceID] {
    do {
      return try SystemCalls.names(in: folder).sorted().compactMap(space)
    } catch {
      throw TallyError.unreachable(FolderFault(error, at: folder))
    }
  }

  /// The space whose directory has a name; `nil` for other names.
  static func space(named name: String) -> SpaceID? {
    name.hasPrefix("tally-") ? SpaceID(String(name.dropFirst(6))) : nil
  }
}
