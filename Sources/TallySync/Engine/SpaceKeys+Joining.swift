import SystemPackage
import Tally

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
