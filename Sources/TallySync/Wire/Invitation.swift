/// All that a new replica needs to read a space, except for the place where it is: for a folder.
///
/// Anyone who reads it can read the space.
struct Invitation: Equatable, Sendable {
  let space: SpaceID
  /// The newest key and its epoch; `nil` for a space without encryption.
  let key: EpochKey?
  /// Until when it may be used, in seconds since 1970.
  ///
  /// Only a courtesy: the key in it does not expire.
  let expiry: Int64

  /// Invites to a space.
  ///
  /// - Parameters:
  ///   - space: The space and its keys, of which the newest is handed over.
  ///   - expiry: Until when, in seconds since 1970.
  /// - Throws: ``EnvelopeFault/unknownEpoch(_:)`` if the newest key is not there.
  init(to space: SpaceKeys, expiry: Int64) throws(EnvelopeFault) {
    if space.isEncrypted {
      guard let key = space.keys[space.epoch] else { throw .unknownEpoch(space.epoch) }
      self.key = EpochKey(epoch: space.epoch, key: key)
    } else {
      key = nil
    }
    (self.space, self.expiry) = (space.space, expiry)
  }

  /// The space as the invited replica knows it.
  var spaceKeys: SpaceKeys {
    guard let key else { return SpaceKeys(unencrypted: space) }
    return SpaceKeys(space: space, epoch: key.epoch, keys: [key.epoch: key.key])
  }
}

// The form of an invitation: flags, 1 byte, bit 0 for an encrypted space; space, 16 bytes; expiry, 8 bytes; if the space
// is encrypted, epoch, 4 bytes, and key, 32 bytes. Numbers are big endian.

extension Invitation {
  private static let encryptedFlag: UInt8 = 1

  /// The line of text that the other device takes.
  var text: String {
    let head = [key == nil ? 0 : Self.encryptedFlag] + space.bytes + expiry.bigEndianBytes
    return KeyText.invitation.text(of: head + (key?.bytes ?? []))
  }

  /// Reads an invitation.
  ///
  /// - Parameters:
  ///   - text: What somebody has copied or typed.
  ///   - now: The time, in seconds since 1970.
  /// - Throws: ``KeyTextFault``.
  init(_ text: String, now: Int64) throws(KeyTextFault) {
    let bytes = try KeyText.invitation.payload(of: text)
    guard let flags = bytes.first, flags <= Self.encryptedFlag, bytes.count == (flags == 0 ? 25 : 61),
      let space = SpaceID(bytes: bytes[1..<17])
    else { throw .needsNewerVersion }
    (self.space, expiry) = (space, Int64(bigEndianBytes: bytes[17..<25]))
    key = SpaceKey(bytes: bytes[25...].dropFirst(4)).map {
      EpochKey(epoch: UInt32(bigEndianBytes: bytes[25...].prefix(4)), key: $0)
    }
    guard now < expiry else { throw .expired }
  }
}

extension SpaceID {
  /// The space that an invitation opens; `nil` if the text is not an invitation.
  ///
  /// - Parameter text: What `StoreSync.invite(for:)` returned; it may have expired.
  public init?(invitation text: String) {
    guard let invitation = try? Invitation(text, now: .min) else { return nil }
    self = invitation.space
  }
}

extension TallyError.Code {
  /// A text is not an invitation or recovery code, or not one that is valid now.
  public static let invalidInvitation = TallyError.Code(named: "invalidInvitation")
}

extension TallyError {
  /// A text does not open the space; `reason` is a sentence.
  static func invalidInvitation(_ reason: String) -> TallyError {
    TallyError(
      .invalidInvitation, reason.withoutFullStop,
      remedy: "Copy the whole text again, or ask for a new invitation")
  }
}

extension String {
  var withoutFullStop: String { hasSuffix(".") ? String(dropLast()) : self }
}
