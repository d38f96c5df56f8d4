import Crypto

extension SpaceKeys {
  /// Six digits for a replica's key, which people compare on two devices.
  ///
  /// From the SHA-256 of the space, its first key, the replica's id and its key. They show a mistake, such as two devices that
  /// were taken for one; somebody who has the key of the space can make a card with the same digits.
  func code(of replica: ReplicaID, _ key: VerifyingKey) -> String {
    let secret = keys.min { $0.key < $1.key }?.value.bytes ?? []
    let hash = SHA256.hash(data: Array("tally code 1".utf8) + space.bytes + secret + replica.bytes + key.bytes)
    let digits = "\(UInt64(bigEndianBytes: hash.prefix(7)) % 1_000_000)"
    return String(repeating: "0", count: 6 - digits.count) + digits
  }
}
