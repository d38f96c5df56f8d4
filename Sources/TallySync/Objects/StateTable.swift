import Foundation
import Tally

/// The states of all objects, kept in the store.
///
/// Two kinds of rows: `1`, then the key of an object, holds its state; `2`, then a number, the id of the replica that has
/// this number in states.
struct StateTable {
  private static let (statePrefix, replicaPrefix) = ([UInt8(1)], [UInt8(2)])

  private var replicas: [UInt64: ReplicaID] = [:]
  private var numbers: [ReplicaID: UInt64] = [:]

  init(in transaction: borrowing StoreWriteTransaction) throws {
    var found: [UInt64: ReplicaID] = [:]
    try transaction.forEachSyncValue(withPrefix: Self.replicaPrefix) { key, value in
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
    guard let bytes = try transaction.syncValue(forKey: Self.statePrefix + object.bytes) else { return ObjectState() }
    return try decoded(bytes)
  }

  /// The states of all objects.
  func states(in transaction: borrowing StoreWriteTransaction) throws -> [ObjectKey: ObjectState] {
    var states: [ObjectKey: ObjectState] = [:]
    try transaction.forEachSyncValue(withPrefix: Self.statePrefix) { key, value in
      states[try ObjectKey(bytes: key.dropFirst())] = try decoded(value)
      return true
    }
    return states
  }

  /// Keeps the state of an object.
  mutating func put(
    _ state: ObjectState, of object: ObjectKey, in transaction: inout StoreWriteTransaction
  ) throws {
    for replica in state.replicas where numbers[replica] == nil {
      let number = UInt64(replicas.count)
      var key = ByteWriter()
      key.append(raw: Self.replicaPrefix)
      key.append(number)
      try transaction.setSyncValue(replica.bytes, forKey: key.bytes)
      (replicas[number], numbers[replica]) = (replica, number)
    }
    let numbers = numbers
    let bytes = state.encoded { numbers[$0] ?? 0 }
    try transaction.setSyncValue(bytes, forKey: Self.statePrefix + object.bytes)
  }

  private func decoded(_ bytes: [UInt8]) throws -> ObjectState {
    let replicas = replicas
    return try ObjectState(decoding: bytes) { replicas[$0] }
  }
}

extension ObjectState {
  /// Everybody who has written something in it.
  var replicas: Set<ReplicaID> {
    let elements = sets.values.flatMap(\.values)
    return Set(registers.values.map(\.replica)).union(elements.flatMap { Array($0.additions.keys) + $0.removals.keys })
  }
}
