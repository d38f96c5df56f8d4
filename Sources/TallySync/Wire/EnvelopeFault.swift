/// Why bytes are not taken as an envelope of a space.
enum EnvelopeFault: Error, Hashable {
  /// Fewer bytes than the header says, or than a header has.
  case tooShort
  /// More bytes than the header says.
  case trailingBytes
  /// It does not begin as an envelope does.
  case notAnEnvelope
  /// A format, a kind, a flag or a body that this version does not know.
  case needsNewerVersion
  /// More than ``EnvelopeHeader/maximumByteCount``.
  case tooLarge
  case otherSpace
  case otherReplica
  case wrongKind
  /// Everybody can write it: refused where the space is encrypted.
  case unsealed
  /// Sealed with a key that this replica does not have.
  case unknownEpoch(UInt32)
  case signatureDoesNotVerify
  case doesNotOpen
  /// Its author was revoked, or has joined with an old key.
  case notOfMember
  /// Signed and sealed, but not written by any version of Tally.
  case malformed(CodingFault)
}

extension EnvelopeFault: CustomStringConvertible {
  /// A sentence for people.
  var description: String {
    switch self {
    case .tooShort: "The data ends early: the file was cut off or has not arrived completely."
    case .trailingBytes: "More data follows than the header says."
    case .notAnEnvelope: "The data does not come from Tally, or its first bytes are damaged."
    case .needsNewerVersion: "The data was written by a newer version of Tally: update this one."
    case .tooLarge: "The data is larger than 8 MiB."
    case .otherSpace: "The data belongs to another space."
    case .otherReplica: "The data names another device than the one in whose place it lies."
    case .wrongKind: "The data is of another kind than its name says."
    case .unsealed: "The data is not encrypted, but this space is."
    case .unknownEpoch(let epoch): "The data is encrypted with key \(epoch), which this device does not have."
    case .signatureDoesNotVerify: "The signature does not match: the data is damaged or forged."
    case .doesNotOpen: "The data cannot be decrypted: it is damaged, or this device has a wrong key."
    case .notOfMember: "The data was written by a device that does not belong to the space any more."
    case .malformed: "The data was opened, but its content is not what Tally writes."
    }
  }
}
