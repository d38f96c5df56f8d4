import Crypto

extension SpaceKeys {
  /// Six digits for a replica's key, which people compare on two devices.
  ///
  /// From the SHA-256 of the space, its first key, the replica and its key: a card that somebody has put in place of another
  /// one gives other digits except by a chance of one in a million.
  func code(of replica: ReplicaID, _ key: VerifyingKey) -> String {
    let secret = keys.min { $0.key < $1.key }?.value.bytes ?? []
    let hash = SHA256.hash(data: Array("tally code 1".utf8) + space.bytes + secret + replica.bytes + key.bytes)
    let digits = "\(UInt64(bigEndianBytes: hash.prefix(7)) % 1_000_000)"
    return String(repeating: "0", count: 6 - digits.count) + digits
  }
}
