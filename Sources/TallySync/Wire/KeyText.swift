/// A secret as a line of text that people copy: a prefix that names its kind, then bytes and their checksum in base 32.
enum KeyText: String, CaseIterable {
  case invitation = "tally-invite"
  case recoveryCode = "tally-recovery"

  private static let checksumByteCount = 4
  private static let format: UInt8 = 1
  /// Far more characters than any of them has.
  private static let maximumCharacterCount = 1_000

  /// Writes a secret.
  ///
  /// - Parameters:
  ///   - payload: The bytes.
  ///   - groupSize: A hyphen is put after each such number of digits.
  /// - Returns: One line.
  func text(of payload: [UInt8], groupSize: Int = .max) -> String {
    let bytes = [Self.format] + payload
    let digits = Array(Base32.text(of: bytes + checksum(of: bytes)))
    let groups = stride(from: 0, to: digits.count, by: groupSize).map { String(digits[$0...].prefix(groupSize)) }
    return "\(rawValue)-\(groups.joined(separator: "-"))"
  }

  /// Reads a secret; case, hyphens and white space do not count.
  ///
  /// - Parameter text: Anything that somebody has typed or copied.
  /// - Returns: The bytes.
  /// - Throws: ``KeyTextFault``.
  func payload(of text: String) throws(KeyTextFault) -> [UInt8] {
    guard text.utf8.count <= Self.maximumCharacterCount else { throw .notOfThisKind(self, found: nil) }
    let plain = Self.plain(text)
    guard plain.hasPrefix(Self.plain(rawValue)) else {
      throw .notOfThisKind(self, found: Self.allCases.first { plain.hasPrefix(Self.plain($0.rawValue)) })
    }
    guard let bytes = Base32.bytes(of: plain.dropFirst(Self.plain(rawValue).count)),
      bytes.count > Self.checksumByteCount,
      Array(bytes.suffix(Self.checksumByteCount)) == checksum(of: bytes.dropLast(Self.checksumByteCount))
    else { throw .mistyped }
    // After the checksum: a typing error is not a newer version.
    guard bytes[0] == Self.format else { throw .needsNewerVersion }
    return Array(bytes[1...].dropLast(Self.checksumByteCount))
  }

  private static func plain(_ text: String) -> String {
    text.lowercased().filter { !$0.isWhitespace && !"-\u{2010}\u{2011}".contains($0) }
  }

  /// With the prefix, so that the digits of one kind do not pass as another.
  private func checksum(of bytes: some Sequence<UInt8>) -> [UInt8] {
    Array(ContentHash(of: Array(rawValue.utf8) + bytes).bytes.prefix(Self.checksumByteCount))
  }
}

/// Why a text is not taken as an invitation or a recovery code.
enum KeyTextFault: Error, Hashable {
  /// It begins otherwise, as another kind does if one was found.
  case notOfThisKind(KeyText, found: KeyText?)
  /// Its checksum does not match.
  case mistyped
  case expired
  /// Its form is that of a newer version.
  case needsNewerVersion
}

extension KeyTextFault: CustomStringConvertible {
  /// A sentence for people.
  var description: String {
    switch self {
    case .notOfThisKind(let kind, let found?): "This is \(found.name), not \(kind.name)."
    case .notOfThisKind(let kind, nil): "This is not \(kind.name): \(kind.name) begins with “\(kind.rawValue)-”."
    case .mistyped: "The text has a typing error, or a part of it is missing: copy all of it again."
    case .expired: "The invitation has expired: ask for a new one."
    case .needsNewerVersion: "The text was made by a newer version of Tally: update this one."
    }
  }
}

extension KeyText {
  fileprivate var name: String {
    switch self {
    case .invitation: "an invitation"
    case .recoveryCode: "a recovery code"
    }
  }
}
