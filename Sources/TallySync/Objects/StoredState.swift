import Crypto

/// A state as the store keeps it: texts that the record has, too, are replaced by the start of their hash.
struct StoredState {
  /// The state, with digests for the texts that were left out.
  private let state: ObjectState
  /// The fields whose texts were left out.
  private let omitted: Set<ObjectState.Field>

  /// Texts up to the length of a digest stay.
  private static let digestByteCount = 8
  private static let texts: [ObjectState.Field] = [.title, .notes]

  /// Leaves out the texts that a record has.
  init(_ state: ObjectState, besides texts: [ObjectState.Field: [UInt8]]) {
    omitted = Set(
      Self.texts.filter { field in
        guard let value = state.registers[field]?.value, value.count > Self.digestByteCount else { return false }
        return texts[field] == value
      })
    self.state = state.replacingValues(of: omitted, by: Self.digest)
  }

  /// The whole state, with the texts of the record where they are those that were left out.
  func state(with texts: [ObjectState.Field: [UInt8]]) -> ObjectState {
    guard !omitted.isEmpty else { return state }
    let found = omitted.filter { field in
      texts[field].map { Self.digest($0) } == state.registers[field]?.value
    }
    return state.merging(texts, of: found)
  }

  /// Whether it can be completed only with the texts of a record.
  var omitsTexts: Bool { !omitted.isEmpty }

  /// A hash of the object and its state, the same on every replica: SHA-256 with digests for all longer texts.
  ///
  /// Of a deleted object the values do not count: replicas forget them at times of their own.
  func hash(of object: ObjectKey) -> StateHash {
    guard !state.isDeleted else {
      return StateHash(SHA256.hash(data: object.bytes + state.withoutValues.encoded { $0.high }))
    }
    let long = Self.texts.filter { field in
      !omitted.contains(field) && (state.registers[field]?.value.count ?? 0) > Self.digestByteCount
    }
    let form = state.replacingValues(of: Set(long), by: Self.digest)
    return StateHash(SHA256.hash(data: object.bytes + form.encoded { $0.high }))
  }

  private static func digest(_ text: [UInt8]) -> [UInt8] {
    Array(SHA256.hash(data: text).prefix(digestByteCount))
  }
}

// One byte whose bits say which of the texts were left out, then the state.

extension StoredState {
  func encoded(numbering number: @escaping (ReplicaID) -> UInt64) -> [UInt8] {
    let bits = Self.texts.enumerated().map { omitted.contains($1) ? UInt8(1) << UInt8($0) : 0 }
    return [bits.reduce(0, |)] + state.encoded(numbering: number)
  }

  init(decoding bytes: [UInt8], replica: @escaping (UInt64) -> ReplicaID?) throws(CodingFault) {
    guard let bits = bytes.first, bits >> UInt8(Self.texts.count) == 0 else { throw .impossibleValue }
    state = try ObjectState(decoding: bytes.dropFirst(), replica: replica)
    omitted = Set(Self.texts.enumerated().filter { bits >> UInt8($0.offset) & 1 == 1 }.map(\.element))
  }
}

extension ObjectState {
  fileprivate func replacingValues(of fields: Set<Field>, by body: ([UInt8]) -> [UInt8]) -> ObjectState {
    var state = self
    for field in fields { state.setValue(of: field, to: body(registers[field]?.value ?? [])) }
    return state
  }

  fileprivate func merging(_ texts: [Field: [UInt8]], of fields: Set<Field>) -> ObjectState {
    var state = self
    for field in fields { state.setValue(of: field, to: texts[field] ?? []) }
    return state
  }
}

/// The sum of hashes of states: equal on replicas with equal states, whatever the order in which they came.
struct StateHash: Hashable, Sendable {
  private var words: [UInt64]

  static let zero = StateHash(words: [0, 0, 0, 0])

  private init(words: [UInt64]) { self.words = words }

  /// Takes thirty-two bytes.
  init(_ bytes: some Sequence<UInt8>) {
    var words: [UInt64] = [0, 0, 0, 0]
    for (index, byte) in bytes.prefix(32).enumerated() { words[index / 8] = words[index / 8] << 8 | UInt64(byte) }
    self.words = words
  }

  var bytes: [UInt8] {
    words.flatMap(\.bigEndianBytes)
  }

  static func + (left: StateHash, right: StateHash) -> StateHash {
    StateHash(words: zip(left.words, right.words).map { $0 &+ $1 })
  }

  static func - (left: StateHash, right: StateHash) -> StateHash {
    StateHash(words: zip(left.words, right.words).map { $0 &- $1 })
  }
}
