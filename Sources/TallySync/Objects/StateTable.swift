import Foundation
import Tally

/// The states of all objects, kept in the store.
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

  /// A state as the store keeps it, with the texts that it omits.
  struct Row: Sendable {
    let object: ObjectKey
    let encoded: [UInt8]
    let texts: StoredState.Texts

    /// About how many bytes the whole state takes.
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

  /// Keeps states of objects whose records are written.
  ///
  /// - Parameters:
  ///   - objects: The objects.
  ///   - transaction: The write.
  /// - Throws: What the store throws.
  mutating func put(_ objects: [ObjectKey: TouchedObject], in transaction: inout StoreWriteTransaction) throws {
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
      // The record of a task that is there has its texts.
      let texts = object.isTask && new.isShown ? nil : try transaction.texts(of: object)
      let stored = StoredState(new, besides: texts)
      hash = hash + (touched.prepared?.hash ?? stored.hash(of: object))
      try number(new, in: &transaction)
      entries.append(stored.entry(of: object, with: numbers))
    }
    try transaction.setSyncValues(entries)
    try putHash(in: &transaction)
  }

  private func putHash(in transaction: inout StoreWriteTransaction) throws {
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
    try table.putHash(in: &transaction)
  }

  /// Gives numbers to the replicas that a state names for the first time.
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
