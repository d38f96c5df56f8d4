import Foundation
import Tally

/// The states of all objects, kept in the store.
///
/// The store's replicas have numbers in them, so that an id of sixteen bytes is not in every state.
struct StateTable {
  private var replicas: [UInt64: ReplicaID] = [:]
  private var numbers: [ReplicaID: UInt64] = [:]
  /// The sum of the hashes of all states.
  private(set) var hash: StateHash

  init(in transaction: borrowing StoreWriteTransaction) throws {
    hash = try transaction.syncValue(forKey: SyncKey.stateHash).map { StateHash($0) } ?? .zero
    var found: [UInt64: ReplicaID] = [:]
    try transaction.forEachSyncValue(withPrefix: SyncKey.replicas) { key, value in
      var reader = ByteReader(key.dropFirst())
      guard let id = UUID(bytes: value) else { throw CodingFault.impossibleValue }
      found[try reader.number()] = ReplicaID(id)
      return true
    }
    replicas = found
    numbers = Dictionary(found.map { ($1, $0) }) { first, _ in first }
  }

  /// The state of an object; an empty one if nothing is known of it.
  func state(of object: ObjectKey, in transaction: borrowing StoreWriteTransaction) throws -> ObjectState {
    guard let stored = try stored(object, in: transaction) else { return ObjectState() }
    return stored.state(with: stored.omitsTexts ? try transaction.texts(of: object) : [:])
  }

  /// Passes all states to a closure, in the order of their objects.
  func forEach(
    in transaction: borrowing StoreWriteTransaction, _ body: (ObjectKey, ObjectState) throws -> Void
  ) throws {
    var objects: [ObjectKey] = []
    try transaction.forEachSyncValue(withPrefix: SyncKey.states) { key, _ in
      objects.append(try ObjectKey(bytes: key.dropFirst()))
      return true
    }
    for object in objects { try body(object, state(of: object, in: transaction)) }
  }

  /// Keeps the state of an object, whose record is written.
  mutating func put(
    _ state: ObjectState, of object: ObjectKey, in transaction: inout StoreWriteTransaction
  ) throws {
    try number(state.replicas, in: &transaction)
    let new = StoredState(state, besides: try transaction.texts(of: object))
    if let old = try stored(object, in: transaction) { hash = hash - old.hash(of: object) }
    hash = hash + new.hash(of: object)
    let numbers = numbers
    try transaction.setSyncValue(
      new.encoded { numbers[$0] ?? 0 }, forKey: SyncKey.states + object.bytes)
  }

  /// Keeps the hash of all states; once, after the last state.
  func putHash(in transaction: inout StoreWriteTransaction) throws {
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

  private mutating func number(_ others: Set<ReplicaID>, in transaction: inout StoreWriteTransaction) throws {
    for replica in others.sorted() where numbers[replica] == nil {
      let number = (replicas.keys.max() ?? 0) + 1
      var key = ByteWriter()
      key.append(raw: SyncKey.replicas)
      key.append(number)
      try transaction.setSyncValue(replica.bytes, forKey: key.bytes)
      (replicas[number], numbers[replica]) = (replica, number)
    }
  }

  func stored(_ object: ObjectKey, in transaction: borrowing StoreWriteTransaction) throws -> StoredState? {
    guard let bytes = try transaction.syncValue(forKey: SyncKey.states + object.bytes) else { return nil }
    let replicas = replicas
    return try StoredState(decoding: bytes) { replicas[$0] }
  }
}

extension StoreWriteTransaction {
  /// The texts of the record of an object, also of a deleted one.
  fileprivate func texts(of object: ObjectKey) throws -> [ObjectState.Field: [UInt8]] {
    if object.isList {
      let list = try list(object.id) ?? deletedList(object.id)
      return list.map { [.title: Array($0.name.utf8)] } ?? [:]
    }
    guard object.isTask else { return [:] }
    let task = try task(object.id) ?? deletedTask(object.id)
    return task.map { [.title: Array($0.title.utf8), .notes: Array(($0.notes ?? "").utf8)] } ?? [:]
  }
}

extension ObjectState {
  /// Everybody who has written something in it.
  var replicas: Set<ReplicaID> {
    let elements = sets.values.flatMap(\.values)
    return Set(registers.values.map(\.replica)).union(elements.flatMap { Array($0.additions.keys) + $0.removals.keys })
  }
}
