import Crypto

/// The secret that the replicas of a space share during an epoch.
///
/// Its bytes are in no description and no error.
struct SpaceKey: Equatable, Sendable, CustomStringConvertible {
  static let byteCount = 32

  private let key: SymmetricKey

  /// Makes a new one from random bytes.
  init() {
    key = SymmetricKey(size: .bits256)
  }

  /// Takes the bytes of a key; `nil` for another number of them.
  init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    key = SymmetricKey(data: Array(bytes))
  }

  /// The secret itself, to be stored or wrapped.
  var bytes: [UInt8] {
    // Copied at once.
    unsafe key.withUnsafeBytes { unsafe Array($0) }
  }

  var description: String { "a space key" }

  /// The key of one envelope.
  ///
  /// - Parameter salt: Random bytes of the envelope, so that no two envelopes have the same key.
  /// - Returns: The key, derived as in RFC 5869.
  func key(forSalt salt: [UInt8]) -> SymmetricKey {
    HKDF<SHA256>.deriveKey(
      inputKeyMaterial: key, salt: salt, info: Array("tally segment 1".utf8), outputByteCount: Self.byteCount)
  }
}

/// A space and its keys, as one of its replicas knows them.
struct SpaceKeys: Equatable, Sendable {
  let space: SpaceID
  /// Stored by itself and not seen from the keys: a replica that has lost its keys must not accept unsealed bytes.
  let isEncrypted: Bool
  /// The epoch whose key seals; 0 in a space without encryption.
  let epoch: UInt32
  /// The keys that open, by epoch.
  let keys: [UInt32: SpaceKey]

  /// Takes the keys of an encrypted space.
  ///
  /// - Parameters:
  ///   - space: The space.
  ///   - epoch: The newest epoch, from 1.
  ///   - keys: The keys by epoch, those of past ones included.
  init(space: SpaceID, epoch: UInt32, keys: [UInt32: SpaceKey]) {
    (self.space, self.isEncrypted, self.epoch, self.keys) = (space, true, epoch, keys)
  }

  /// Makes the first key of a new space, or none.
  init(new space: SpaceID, isEncrypted: Bool) {
    if isEncrypted {
      self.init(space: space, epoch: 1, keys: [1: SpaceKey()])
    } else {
      self.init(unencrypted: space)
    }
  }

  /// Takes a space whose users have chosen to do without encryption.
  init(unencrypted space: SpaceID) {
    (self.space, isEncrypted, epoch, keys) = (space, false, 0, [:])
  }
}
