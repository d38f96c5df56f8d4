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

  /// The key with which a member proves that it has this one.
  var keyForProofs: SymmetricKey {
    HKDF<SHA256>.deriveKey(
      inputKeyMaterial: key, info: Array("tally member 1".utf8), outputByteCount: Self.byteCount)
  }
}

/// A key and the number of its epoch.
struct EpochKey: Equatable, Sendable {
  let epoch: UInt32
  let key: SpaceKey

  /// The epoch, 4 bytes, and the key.
  var bytes: [UInt8] { epoch.bigEndianBytes + key.bytes }
}

extension ByteReader {
  /// Reads keys of epochs, at least one, ascending.
  mutating func epochKeys() throws(CodingFault) -> [EpochKey] {
    var keys: [EpochKey] = []
    for _ in 0..<(try count(ofAtLeast: 4 + SpaceKey.byteCount)) {
      let epoch = UInt32(bigEndianBytes: try bytes(4))
      guard let key = SpaceKey(bytes: try bytes(SpaceKey.byteCount)) else { throw .impossibleValue }
      let next = EpochKey(epoch: epoch, key: key)
      if let last = keys.last, !last.bytes.lexicographicallyPrecedes(next.bytes) { throw .notCanonical }
      keys.append(next)
    }
    guard !keys.isEmpty else { throw .notCanonical }
    return keys
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
  /// Further keys, which replicas made that revoked at the same time.
  let others: [EpochKey]

  /// Takes the keys of an encrypted space.
  ///
  /// - Parameters:
  ///   - space: The space.
  ///   - epoch: The newest epoch, from 1.
  ///   - keys: The keys by epoch, those of past ones included.
  ///   - others: Further keys of these epochs.
  init(space: SpaceID, epoch: UInt32, keys: [UInt32: SpaceKey], others: [EpochKey] = []) {
    (self.space, self.isEncrypted, self.epoch, self.keys) = (space, true, epoch, keys)
    self.others = others
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
    others = []
  }

  /// All keys of an epoch, the one that seals first.
  func keys(ofEpoch epoch: UInt32) -> [SpaceKey] {
    (keys[epoch].map { [$0] } ?? []) + others.filter { $0.epoch == epoch }.map(\.key)
  }

  /// The space with a further key; of several keys of one epoch, the one with the smallest hash seals.
  func adding(_ new: EpochKey) -> SpaceKeys {
    guard !keys(ofEpoch: new.epoch).contains(new.key) else { return self }
    var (keys, others) = (keys, others)
    if let known = keys[new.epoch] {
      let isFirst = new.key.hash(in: space) < known.hash(in: space)
      keys[new.epoch] = isFirst ? new.key : known
      others.append(isFirst ? EpochKey(epoch: new.epoch, key: known) : new)
    } else {
      keys[new.epoch] = new.key
    }
    return SpaceKeys(space: space, epoch: max(epoch, new.epoch), keys: keys, others: others)
  }

  /// The key of an epoch with a hash; `nil` if it is not here.
  func key(ofEpoch epoch: UInt32, hash: ContentHash) -> SpaceKey? {
    keys(ofEpoch: epoch).first { $0.hash(in: space) == hash }
  }

  /// All keys except the one that seals, in the order in which a card has them.
  var olderKeys: [EpochKey] {
    let older = keys.filter { $0.key != epoch }.map { EpochKey(epoch: $0.key, key: $0.value) }
    return (older + others).sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
  }
}
