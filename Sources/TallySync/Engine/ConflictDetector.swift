/// Finds the values that lose a race when changes of another replica are joined.
struct ConflictDetector {
  let own: ReplicaID
  /// The time now, in microseconds since 1970.
  let time: Int64

  /// The values that one of two concurrent writes replaces, as far as this replica is the author of one of them.
  ///
  /// The author of the change names the write that it has replaced. If that is not the one that is here, the author had not
  /// seen this one.
  func conflicts(of change: ObjectChange, with known: ObjectState) -> [StoredConflict] {
    change.state.registers.compactMap { field, new in
      guard field.isJournaled, let old = known.registers[field], old != new, old.value != new.value else { return nil }
      if new.wins(over: old) {
        guard old.replica == own, new.replica != own, isUnseen(old, replaced: change.replaced[field]) else {
          return nil
        }
        return StoredConflict(of: change.object, field, lost: old, to: new, at: time)
      }
      // What arrives for the first time was not seen by a write of this replica.
      guard old.replica == own, new.replica != own else { return nil }
      return StoredConflict(of: change.object, field, lost: new, to: old, at: time)
    }
  }

  /// Whether the author of a change had not seen a write that its change replaces here.
  private func isUnseen(_ old: Register, replaced: Stamp?) -> Bool {
    guard let replaced else { return true }
    // The write replaced there came after this one: this one was seen, or lost to that one.
    return (replaced.time, replaced.replica) < (old.time, old.replica)
  }
}

extension ObjectState.Field {
  /// Whether a value that loses is worth keeping: not places, life and what nobody writes.
  fileprivate var isJournaled: Bool { ![.life, .order, .created, .changed, .filterKey].contains(self) }
}
