/// A key on paper, for a user who has lost the passphrase and all devices.
struct RecoveryCode: Equatable, Sendable {
  let key: SpaceKey

  init(_ key: SpaceKey) {
    self.key = key
  }

  /// The code in groups of five digits.
  var text: String { KeyText.recoveryCode.text(of: key.bytes, groupSize: 5) }

  /// Reads a code.
  ///
  /// - Parameter text: What somebody has copied or typed.
  /// - Throws: ``KeyTextFault``.
  init(_ text: String) throws(KeyTextFault) {
    guard let key = SpaceKey(bytes: try KeyText.recoveryCode.payload(of: text)) else { throw .needsNewerVersion }
    self.key = key
  }
}
