import Crypto
import Foundation
import Tally

/// The states of all objects, as the store has them.
///
/// The store's replicas have numbers in them, so that an id of sixteen bytes is not in every state.
struct StateTable {
  private var replicas: [UInt64: ReplicaID] = [:]
  private(set) var numbers: Numbers = [:]
  /// The sum of the hashes of all states.
  private(set) var hash: StateHash

  /// The numbers of the replicas in the store.
  typealias Numbers = [ReplicaID: UInt64]

  init<Base: ~Copyable>(in transaction: borrowing StoreTransaction<Base>) throws {
    hash = try Self.hash(in: transaction)
    var found: [UInt64: ReplicaID] = [:]
    try transaction.forEachSyncValue(withPrefix: SyncKey.replicas) { key, value in
      var reader = ByteReader(key, from: 1)
      guard let id = UUID(bytes: value) else { throw CodingFault.impossibleValue }
      found[try reader.number()] = ReplicaID(id)
      return true
    }
    replicas = found
    numbers = Dictionary(found.map { ($1, $0) }) { first, _ in first }
  }

  /// The stored sum of the hashes of all states.
  static func hash<Base: ~Copyable>(in transaction: borrowing StoreTransaction<Base>) throws -> StateHash {
    try transaction.syncValue(forKey: SyncKey.stateHash).map { StateHash($0) } ?? .zero
  }

  /// The state of an object; an empty one if nothing is known of it.
  func state<Base: ~Copyable>(
    of object: ObjectKey, in transaction: borrowing StoreTransaction<Base>
  ) throws -> ObjectState {
    try stored(object, in: transaction).map { try state($0, of: object, in: transaction) } ?? ObjectState()
  }

  /// The state of an object of which the stored form is at hand.
  func state<Base: ~Copyable>(
    _ stored: StoredState, of object: ObjectKey, in transaction: borrowing StoreTransaction<Base>
  ) throws -> ObjectState {
    stored.state(with: stored.omitsTexts ? try transaction.texts(of: object) : StoredState.Texts())
  }

  private func replica(_ number: UInt64) -> ReplicaID? { replicas[number] }

  /// A state as it is stored, with the texts that are omitted there.
  struct Row: Sendable {
    let object: ObjectKey
    let encoded: [UInt8]
    let texts: StoredState.Texts

    /// About how many bytes the whole state has.
    var byteCount: Int { ObjectKey.byteCount + encoded.count + texts.title.count + texts.notes.count }
  }

  /// All states, in the order of their objects.
  func rows(in transaction: borrowing StoreWriteTransaction) throws -> [Row] {
    var rows: [Row] = []
    try transaction.forEachSyncValue(withPrefix: SyncKey.states) { key, value in
      let object = try ObjectKey(bytes: key.dropFirst())
      let texts = StoredState.omitsTexts(value) ? try transaction.texts(of: object) : StoredState.Texts()
      rows.append(Row(object: object, encoded: value, texts: texts))
      return true
    }
    return rows
  }

  /// The state of a row.
  func state(of row: Row) throws(CodingFault) -> ObjectState {
    try StoredState(decoding: row.encoded, replica: replica).state(with: row.texts)
  }

  /// Stores the states of objects whose records are written.
  ///
  /// - Parameters:
  ///   - objects: The objects.
  ///   - transaction: The write.
  /// - Throws: What the store throws.
  mutating func write(_ objects: [ObjectKey: TouchedObject], in transaction: inout StoreWriteTransaction) throws {
    var entries: [([UInt8], [UInt8])] = []
    entries.reserveCapacity(objects.count)
    for (object, touched) in objects {
      let (old, new) = (touched.before, touched.state)
      if !old.isEmpty { hash = hash - StoredState(old, besides: StoredState.Texts()).hash(of: object) }
      if let prepared = touched.prepared, let entry = prepared.entry {
        hash = hash + prepared.hash
        entries.append(entry)
        continue
      }
      // The record of a task that exists has its texts.
      let texts = object.isTask && new.isShown ? nil : try transaction.texts(of: object)
      let stored = StoredState(new, besides: texts)
      hash = hash + (touched.prepared?.hash ?? stored.hash(of: object))
      try number(new, in: &transaction)
      entries.append(stored.entry(of: object, with: numbers))
    }
    try transaction.setSyncValues(entries)
    try writeHash(in: &transaction)
  }

  private func writeHash(in transaction: inout StoreWriteTransaction) throws {
    try transaction.setSyncValue(hash.bytes, forKey: SyncKey.stateHash)
  }

  /// Computes the hash of all states again.
  static func rebuildHash(in transaction: inout StoreWriteTransaction) throws {
    var table = try StateTable(in: transaction)
    table.hash = .zero
    for (key, _) in try transaction.syncValues(under: SyncKey.states) {
      let object = try ObjectKey(bytes: key)
      if let stored = try table.stored(object, in: transaction) { table.hash = table.hash + stored.hash(of: object) }
    }
    try table.writeHash(in: &transaction)
  }

  /// Numbers the replicas that a state names for the first time.
  mutating func number(_ state: ObjectState, in transaction: inout StoreWriteTransaction) throws {
    var others: Set<ReplicaID> = []
    state.forEachReplica { if numbers[$0] == nil { others.insert($0) } }
    for replica in others.sorted() {
      let number = (replicas.keys.max() ?? 0) + 1
      var key = ByteWriter()
      key.append(raw: SyncKey.replicas)
      key.append(number)
      try transaction.setSyncValue(replica.bytes, forKey: key.bytes)
      (replicas[number], numbers[replica]) = (replica, number)
    }
  }

  func stored<Base: ~Copyable>(
    _ object: ObjectKey, in transaction: borrowing StoreTransaction<Base>
  ) throws -> StoredState? {
    guard let bytes = try transaction.syncValue(forKey: SyncKey.states + object.bytes) else { return nil }
    return try StoredState(decoding: bytes, replica: replica)
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// The texts of the record of an object, also of a deleted one.
  fileprivate func texts(of object: ObjectKey) throws -> StoredState.Texts {
    if object.isList {
      let list = try list(object.id) ?? deletedList(object.id)
      return StoredState.Texts(title: list.map { Array($0.name.utf8) } ?? [])
    }
    guard object.isTask, let texts = try taskTexts(object.id) else { return StoredState.Texts() }
    return StoredState.Texts(title: texts.title, notes: texts.notes)
  }
}

/// A state as it is stored: the start of a hash replaces each text that the record has, too.
struct StoredState: Sendable {
  /// The state, with digests for the texts that were left out.
  private let state: ObjectState
  /// The fields whose texts were left out, ascending.
  private let omitted: [ObjectState.Field]

  /// The texts of an object's record; empty for none.
  struct Texts: Sendable {
    var title: [UInt8] = []
    var notes: [UInt8] = []

    fileprivate subscript(field: ObjectState.Field) -> [UInt8] { field == .title ? title : notes }
  }

  static let textFields: [ObjectState.Field] = [.title, .notes]
  /// Texts up to the length of a digest stay.
  private static let digestByteCount = 8

  /// Leaves out the texts that a record has.
  ///
  /// - Parameters:
  ///   - state: The whole state.
  ///   - texts: The texts of the record; `nil` if it has those of the state.
  init(_ state: ObjectState, besides texts: Texts?) {
    var (form, omitted) = (state, [ObjectState.Field]())
    for field in Self.textFields {
      guard let text = state.registers[field]?.value, text.count > Self.digestByteCount,
        texts.map({ $0[field] == text }) ?? true
      else { continue }
      omitted.append(field)
      form.registers[field]?.value = Self.digest(text)
    }
    (self.state, self.omitted) = (form, omitted)
  }

  /// The whole state, with the texts of the record where they are those that were left out.
  func state(with texts: Texts) -> ObjectState {
    var whole = state
    for field in omitted {
      let text = texts[field]
      guard Self.digest(text) == state.registers[field]?.value else { continue }
      whole.registers[field]?.value = text
    }
    return whole
  }

  /// Whether it can be completed only with the texts of a record.
  var omitsTexts: Bool { !omitted.isEmpty }

  /// Whether the encoded form can be completed only with the texts of a record.
  static func omitsTexts(_ encoded: [UInt8]) -> Bool { encoded.first != 0 }

  /// A hash of the object and its state, the same on every replica: SHA-256 with digests for all longer texts.
  ///
  /// The values of a deleted object do not count: each replica forgets them at another time.
  func hash(of object: ObjectKey) -> StateHash {
    // The digests of omitted texts stay: they are too short to be replaced by digests.
    let form = StoredState(state.isDeleted ? state.withoutValues() : state, besides: nil).state
    return StateHash(of: form.encoded(behind: object.bytes) { $0.high })
  }

  private static func digest(_ text: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: text).prefix(digestByteCount)) }
}

/// The stored form of a state, prepared before it is known whether a merge changes the state.
///
/// The most expensive steps of merging a snapshot, for which another thread has time. A class: there are many, and few
/// copies.
final class PreparedState: Sendable {
  let hash: StateHash
  /// The task in the list that it names, at the top; `nil` if it is not shown, or has a value that no task has.
  let task: MergedTask?
  /// Whether the task names a parent.
  let isLinked: Bool
  /// The entry of the table of states, if the record of the task has its texts; `nil` if it names a replica that has no
  /// number yet.
  let entry: ([UInt8], [UInt8])?

  init(_ state: ObjectState, of object: ObjectKey, with numbers: StateTable.Numbers) {
    let stored = StoredState(state, besides: nil)
    hash = stored.hash(of: object)
    task = object.isTask ? (try? state.mergedTask(object.id)) : nil
    isLinked = state.reference(.parent) != nil
    var isNumbered = task != nil
    state.forEachReplica { isNumbered = isNumbered && numbers[$0] != nil }
    entry = isNumbered ? stored.entry(of: object, with: numbers) : nil
  }
}

// A stored state has one byte, whose bits say which of the texts were left out, then the state.

extension StoredState {
  /// The entry of an object in the table of states.
  func entry(of object: ObjectKey, with numbers: StateTable.Numbers) -> ([UInt8], [UInt8]) {
    let bits = Self.textFields.enumerated().map { omitted.contains($1) ? UInt8(1) << UInt8($0) : 0 }
    return (SyncKey.states + object.bytes, state.encoded(behind: [bits.reduce(0, |)]) { numbers[$0] ?? 0 })
  }

  init(decoding bytes: [UInt8], replica: @escaping (UInt64) -> ReplicaID?) throws(CodingFault) {
    guard let bits = bytes.first, bits >> UInt8(Self.textFields.count) == 0 else { throw .impossibleValue }
    state = try ObjectState(decoding: bytes, from: 1, replica: replica)
    omitted = Self.textFields.enumerated().filter { bits >> UInt8($0.offset) & 1 == 1 }.map(\.element)
  }
}

/// The sum of hashes of states: equal on replicas with equal states, whatever the order in which they came.
struct StateHash: Hashable, Sendable {
  private var words: SIMD4<UInt64>

  static let zero = StateHash(words: .zero)

  private init(words: SIMD4<UInt64>) { self.words = words }

  /// Reads thirty-two bytes.
  init(_ bytes: some Sequence<UInt8>) {
    var words = SIMD4<UInt64>.zero
    for (index, byte) in bytes.prefix(32).enumerated() { words[index / 8] = words[index / 8] << 8 | UInt64(byte) }
    self.words = words
  }

  /// Hashes the bytes of one object.
  fileprivate init(of bytes: [UInt8]) {
    var words = SIMD4<UInt64>.zero
    // The digest has the 32 bytes that are read.
    unsafe SHA256.hash(data: bytes).withUnsafeBytes { digest in
      for index in words.indices {
        words[index] = unsafe UInt64(bigEndian: digest.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self))
      }
    }
    self.words = words
  }

  var bytes: [UInt8] { words.indices.flatMap { words[$0].bigEndianBytes } }

  static func + (left: StateHash, right: StateHash) -> StateHash { StateHash(words: left.words &+ right.words) }

  static func - (left: StateHash, right: StateHash) -> StateHash { StateHash(words: left.words &- right.words) }
}
