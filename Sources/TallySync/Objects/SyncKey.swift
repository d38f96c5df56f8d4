import Foundation
import Tally

/// The keys of what synchronisation keeps in the store, each kind under a first byte of its own.
///
/// The bytes are stored: do not change them.
enum SyncKey {
  /// The state of an object: its key.
  static let states: [UInt8] = [1]
  /// The id of a replica: the number that it has in states.
  static let replicas: [UInt8] = [2]
  /// A task that is elsewhere than its state says: the list or parent that it names, then the task.
  static let displaced: [UInt8] = [3]
  /// The settings of this replica.
  static let settings: [UInt8] = [4]
  /// How far the stream of a replica has been read: its id.
  static let streams: [UInt8] = [5]
  /// A sealed segment that was not acknowledged: its number.
  static let outbox: [UInt8] = [6]
  /// A conflict: its number.
  static let conflicts: [UInt8] = [7]
  /// The sum of the hashes of all states.
  static let stateHash: [UInt8] = [8]
  /// The newest card of a replica: its id.
  static let cards: [UInt8] = [9]
  /// A snapshot that was looked at: its author, number and digest.
  static let snapshots: [UInt8] = [10]
  /// An object with a value that is too large to be sent: its key.
  static let tooLarge: [UInt8] = [11]
  // 12, 14, 15, 18 to 21 and 40 are in SyncNotes: completions of deleted tasks, saved filters, when deleted records were
  // kept, the last write that was handed over, filters that others have saved and that are deleted here, what was written
  // to an object that has come back, the first change that waits, and merged lists.
  /// The last segment that was acknowledged at a time: the time.
  static let ages: [UInt8] = [13]
  /// The record of the newest epoch: its number and the hash of its key.
  static let epochs: [UInt8] = [16]
  /// Up to where the segments of a revoked replica count: its id.
  static let revocations: [UInt8] = [17]
}

extension StoreTransaction where Base: ~Copyable {
  /// The keys and values under a first byte, up to a number of them.
  func syncValues(under prefix: [UInt8], limit: Int = .max) throws -> [(key: [UInt8], value: [UInt8])] {
    var found: [(key: [UInt8], value: [UInt8])] = []
    guard limit > 0 else { return [] }
    try forEachSyncValue(withPrefix: prefix) { key, value in
      found.append((Array(key.dropFirst(prefix.count)), value))
      return found.count < limit
    }
    return found
  }
}
