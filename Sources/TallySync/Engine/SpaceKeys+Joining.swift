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

  /// The keys with the number of the epoch whose cards they open, which a recovery code does not have.
  ///
  /// - Parameter cards: The cards at the place.
  /// - Returns: The keys.
  /// - Throws: `TallyError` with `invalidInvitation` if they open none, or the space has a newer key.
  func matched(to cards: [ReplicaID: [UInt8]]) throws -> SpaceKeys {
    let envelopes = cards.values.compactMap { try? Envelope(parsing: $0) }
    let newest = envelopes.compactMap { try? $0.epochRecord?.number }.max() ?? 0
    let found = candidates(for: Set(envelopes.map(\.header.epoch))).first { keys in
      envelopes.contains { (try? Card(opening: $0, of: $0.header.label.replica, in: keys)) != nil }
    }
    guard newest <= (found ?? self).epoch else {
      throw TallyError(
        .invalidInvitation, "The space has a new key, because a device was revoked",
        remedy: "Use the new recovery code, which another device shows (tally sync recovery-code), or a new invitation")
    }
    guard let found else {
      guard cards.isEmpty else { throw TallyError.invalidInvitation("The key opens nothing in the folder") }
      return self
    }
    return found
  }

  /// These keys, then the same as those of other epochs.
  private func candidates(for epochs: Set<UInt32>) -> [SpaceKeys] {
    guard isEncrypted, let key = keys[epoch] else { return [self] }
    let others = epochs.subtracting([epoch]).sorted(by: >)
    return [self] + others.map { SpaceKeys(space: space, epoch: $0, keys: [$0: key]) }
  }
}
