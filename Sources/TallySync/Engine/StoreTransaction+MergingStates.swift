import Foundation
import Tally

extension StoreWriteTransaction {
  /// Joins changes of others with the states, and writes the result.
  ///
  /// Local changes are sealed first: what this replica had seen when it made them is then what their segments say.
  ///
  /// - Parameters:
  ///   - author: The replica that made the changes; `nil` if several did.
  ///   - join: Joins the changes.
  /// - Returns: What the closure returned, and the tasks that are not there any more.
  /// - Throws: ``CodingFault`` for values that no object can have; what the store throws.
  mutating func merging<R>(
    of author: ReplicaID? = nil,
    _ join: (inout StateMerge, inout SyncSettings, borrowing StoreWriteTransaction) throws -> R
  ) throws -> (result: R, deletedTaskIDs: [UUID]) {
    var (settings, merge) = (try requireSyncSettings(), try StateMerge(in: self))
    while try Outbox.seal(limit: Outbox.mostSealedAtOnce, with: &merge, &settings, in: &self) {}
    let result = try join(&merge, &settings, self)
    try Outbox.put(merge.revived, &settings, in: &self)
    let deleted = try merge.finish(in: &self, of: author)
    try setSyncSettings(settings)
    return (result, deleted)
  }
}
