import TestSupport
import Testing

@testable import TallySync

struct Base32Tests {
  @Test func bytesComeBackInEitherCaseAndWithConfusedLetters() {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "base32"))
    for count in 0..<100 {
      let bytes = [UInt8].random(count: count, using: &random)
      let text = Base32.text(of: bytes)
      #expect(text.count == (8 * count + 4) / 5)
      #expect(Base32.bytes(of: text) == bytes)
      #expect(Base32.bytes(of: text.uppercased()) == bytes)
      #expect(Base32.bytes(of: text.map { $0 == "1" ? "I" : $0 == "0" ? "O" : String($0) }.joined()) == bytes)
      #expect(Base32.bytes(of: text.map { $0 == "1" ? "l" : $0 == "0" ? "o" : String($0) }.joined()) == bytes)
    }
  }

  @Test func digitsAreThoseOfCrockford() {
    #expect(Base32.text(of: [0x00, 0x44, 0x32, 0x14, 0xC7]) == "01234567")
    #expect(Base32.text(of: [0xFF, 0xFF, 0xFF, 0xFF, 0xFF]) == "zzzzzzzz")
  }

  @Test(arguments: ["u", "0u", "é0", "0!", "0", "000", "000000", "01", "zz"])
  func textsThatNobodyWritesAreRefused(text: String) {
    #expect(Base32.bytes(of: text) == nil)
  }
}

struct InvitationTests {
  private let sample = WireSample()

  private func invitation(to space: SpaceKeys) throws -> Invitation { try Invitation(to: space, expiry: 1_000) }

  @Test func invitationsComeBack() throws {
    for space in [sample.space, sample.unencrypted] {
      let invitation = try invitation(to: space)
      #expect(try Invitation(invitation.text, now: 999) == invitation)
      #expect(try Invitation(invitation.text.uppercased(), now: -1) == invitation)
      let wrapped = " \(invitation.text.map { "\($0)\($0 == "x" ? "-\n " : "")" }.joined())\n"
      #expect(try Invitation(wrapped, now: 999) == invitation)
      #expect(invitation.text.wholeMatch(of: /tally-invite-[0-9a-hjkmnp-tv-z]+/) != nil)
    }
    let joined = try invitation(to: sample.space).spaceKeys
    #expect(joined == SpaceKeys(space: sample.space.space, epoch: 2, keys: [2: sample.space.keys[2] ?? SpaceKey()]))
    #expect(try invitation(to: sample.unencrypted).spaceKeys == sample.unencrypted)
  }

  @Test func everySubstitutedCharacterIsFound() throws {
    for space in [sample.space, sample.unencrypted] {
      let invitation = try invitation(to: space)
      let characters = Array(invitation.text)
      for index in characters.indices {
        for other in "0123456789abcdefghijklmnopqrstuvwxyzABCIOL-_ é" where other != characters[index] {
          var changed = characters
          changed[index] = other
          do throws(KeyTextFault) {
            #expect(try Invitation(String(changed), now: 0) == invitation)
          } catch {
            #expect(error == .mistyped || error == .notOfThisKind(.invitation, found: nil), "\(index) \(other)")
          }
        }
      }
    }
  }

  @Test func swappedAndMissingCharactersAreFound() throws {
    let characters = Array(try invitation(to: sample.space).text)
    for index in characters.indices.dropLast() where index >= "tally-invite-".count {
      var missing = characters
      missing.remove(at: index)
      #expect(throws: KeyTextFault.mistyped) { try Invitation(String(missing), now: 0) }
      guard characters[index] != characters[index + 1] else { continue }
      var swapped = characters
      swapped.swapAt(index, index + 1)
      #expect(throws: KeyTextFault.mistyped) { try Invitation(String(swapped), now: 0) }
    }
  }

  @Test func expiredOneIsNamed() throws {
    let text = try invitation(to: sample.space).text
    #expect(throws: KeyTextFault.expired) { try Invitation(text, now: 1_000) }
    #expect(throws: KeyTextFault.expired) { try Invitation(text, now: .max) }
  }

  @Test func newerFormsNeedANewerVersion() throws {
    let payload = try KeyText.invitation.payload(of: invitation(to: sample.space).text)
    // Another format, unknown flags, and more than this version knows.
    let bytes = [2] + payload
    let digest = ContentHash(of: Array("tally-invite".utf8) + bytes).bytes.prefix(4)
    let texts = [
      "tally-invite-" + Base32.text(of: bytes + digest),
      KeyText.invitation.text(of: [2] + payload.dropFirst()), KeyText.invitation.text(of: payload + [0]),
      KeyText.invitation.text(of: []), KeyText.recoveryCode.text(of: [1]),
    ]
    for text in texts.dropLast() {
      #expect(throws: KeyTextFault.needsNewerVersion) { try Invitation(text, now: 0) }
    }
    #expect(throws: KeyTextFault.needsNewerVersion) { try RecoveryCode(texts[4]) }
  }

  @Test(arguments: ["", "-", "tally", "hello", "tally-invite", "tally-invite-", "tally-invite-0", "tally-invite-é"])
  func otherTextsAreRefused(text: String) {
    #expect(throws: KeyTextFault.self) { try Invitation(text, now: 0) }
    #expect(throws: KeyTextFault.self) { try Invitation(text + String(repeating: "0", count: 2_000), now: 0) }
  }

  @Test func recoveryCodesAreNotInvitations() throws {
    let code = RecoveryCode(SpaceKey())
    #expect(try RecoveryCode(code.text) == code)
    #expect(code.text.wholeMatch(of: /tally-recovery(-[0-9a-hjkmnp-tv-z]{5}){12}/) != nil)
    #expect(throws: KeyTextFault.notOfThisKind(.invitation, found: .recoveryCode)) {
      try Invitation(code.text, now: 0)
    }
    let invitation = try invitation(to: sample.space).text
    #expect(throws: KeyTextFault.notOfThisKind(.recoveryCode, found: .invitation)) { try RecoveryCode(invitation) }
    // The digits of one kind after the prefix of the other.
    let mixed = "tally-invite" + code.text.dropFirst("tally-recovery".count)
    #expect(throws: KeyTextFault.mistyped) { try Invitation(mixed, now: 0) }
  }

  @Test func faultsAreSentences() {
    let faults: [KeyTextFault] = [
      .notOfThisKind(.invitation, found: nil), .notOfThisKind(.recoveryCode, found: .invitation), .mistyped, .expired,
      .needsNewerVersion,
    ]
    #expect(Set(faults.map(\.description)).count == faults.count)
    #expect(faults.allSatisfy { $0.description.hasSuffix(".") })
  }
}

struct SpaceIDTests {
  @Test func descriptionsComeBack() {
    let space = SpaceID()
    #expect(SpaceID(space.description) == space)
    #expect(SpaceID(bytes: space.bytes) == space)
    #expect(space != SpaceID())
    #expect(SpaceID(bytes: [UInt8](0..<16))?.description == "000102030405060708090a0b0c0d0e0f")
    for text in [
      "", "00", String(repeating: "0", count: 33), String(repeating: "A", count: 32), "é" + space.description,
    ] {
      #expect(SpaceID(text) == nil)
    }
    #expect(SpaceID(bytes: [1]) == nil)
  }
}
