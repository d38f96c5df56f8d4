import Foundation
import SystemPackage
import Tally
import TallySystem

/// The key of a space in its folder, wrapped with a passphrase.
struct KeyFile {
  private let path: FilePath

  init(in folder: FilePath, space: SpaceID) {
    path = folder.appending("tally-\(space)").appending("space.key")
  }

  func write(_ keys: SpaceKeys, passphrase: String) throws {
    let file = try AtomicFile(replacing: path)
    _ = try file.descriptor.writeAll(WrappedKey(wrapping: keys, passphrase: passphrase).bytes)
    try file.publish()
    // The others who share the folder read the file, too; only the passphrase opens it.
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path.string)
  }

  /// The keys of the space in a folder whose passphrase this is.
  ///
  /// - Throws: `TallyError` with `wrongPassphrase` or `syncUnreachable`.
  static func keys(in folder: FilePath, passphrase: String) throws -> SpaceKeys {
    let spaces = try FolderSpaces.find(in: folder)
    for space in spaces {
      let path = KeyFile(in: folder, space: space).path.string
      guard let bytes = try? Data(contentsOf: URL(filePath: path)),
        let wrapped = try? WrappedKey(parsing: [UInt8](bytes))
      else { continue }
      guard let key = try? wrapped.key(passphrase: passphrase) else { continue }
      return SpaceKeys(space: space, epoch: wrapped.epoch, keys: [wrapped.epoch: key])
    }
    throw TallyError(
      .wrongPassphrase, "The passphrase opens no space in the folder", remedy: "Check it, or join with an invitation")
  }
}

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

extension SpaceKeys {
  /// The space that an invitation or a recovery code opens.
  ///
  /// - Throws: `TallyError` with `invalidInvitation`.
  init(invitation text: String, folder: FilePath, now: Timestamp) throws {
    do {
      self = try Self.keys(of: text, folder: folder, now: now)
    } catch let fault as KeyTextFault {
      throw TallyError.invalidInvitation(fault.description)
    }
  }

  private static func keys(of text: String, folder: FilePath, now: Timestamp) throws -> SpaceKeys {
    do {
      return try Invitation(text, now: now.microsecondsSince1970 / 1_000_000).spaceKeys
    } catch KeyTextFault.notOfThisKind(_, found: .recoveryCode) {
      let key = try RecoveryCode(text).key
      let spaces = try FolderSpaces.find(in: folder)
      guard let space = spaces.first, spaces.count == 1 else {
        throw TallyError.invalidInvitation("The folder holds \(spaces.count) spaces, and the code names none.")
      }
      return SpaceKeys(space: space, epoch: 1, keys: [1: key])
    }
  }
}
