import Tally

// Each returns the change; joining it with the state makes it.

extension ObjectState {
  /// Writes a field.
  func setting(_ field: Field, to value: [UInt8], at clock: Int64, by replica: ReplicaID) -> ObjectState {
    ObjectState(registers: [field: Register(time: time(by: clock), replica: replica, value: value)])
  }

  /// Writes a generated value: it is later than the value that it replaces here, and earlier than any write of a person.
  func generating(_ field: Field, to value: [UInt8], at time: Int64, by replica: ReplicaID) -> ObjectState {
    let time = max(time, Self.time(after: registers[field]?.time))
    return ObjectState(registers: [field: Register(time: time, replica: replica, value: value)])
  }

  /// Deletes the object, or brings it back, without the wish of a person: any write of a person is later.
  func generatingLife(toDeleted isDeleted: Bool, at clock: Int64, by replica: ReplicaID) -> ObjectState {
    let replaced = [registers[.life]?.time, isDeleted ? latestContentTime : nil].compactMap(\.self).max()
    let value = isDeleted ? LifeValue.deleted : LifeValue.alive
    let register = Register(time: replaced.map { Self.time(after: $0) } ?? clock, replica: replica, value: value)
    return ObjectState(registers: [.life: register])
  }

  /// The next later time; the earliest time if there was none.
  private static func time(after time: Int64?) -> Int64 {
    guard let time else { return .min }
    return time == .max ? time : time + 1
  }

  /// Writes another place for the same move of the user, to make room between neighbours; `nil` without a place.
  func renumbering(to value: [UInt8], by replica: ReplicaID) -> ObjectState? {
    guard let old = registers[.order], old.renumberingCount < .max else { return nil }
    let new = Register(
      time: old.time, renumberingCount: old.renumberingCount + 1, replica: replica, value: value)
    return ObjectState(registers: [.order: new])
  }

  /// Adds an element to a set.
  ///
  /// The first generated addition is the same on all replicas, so removing it on one removes it everywhere.
  func adding(_ element: [UInt8], to field: Field, at clock: Int64, by replica: ReplicaID) -> ObjectState {
    guard GeneratedTime.contains(clock) else {
      return ObjectState(sets: [field: [element: .adding([], at: time(by: clock), by: replica)]])
    }
    let latest = sets[field]?[element]?.latestTime
    return ObjectState(sets: [
      field: [
        element: .adding(
          [], at: latest.map { max(clock, Self.time(after: $0)) } ?? GeneratedTime.time(at: 0),
          by: latest == nil ? .program : replica)
      ]
    ])
  }

  /// Removes an element from a set, as far as it is known here.
  func removing(_ element: [UInt8], from field: Field) -> ObjectState {
    ObjectState(sets: [field: [element: sets[field]?[element]?.removing ?? ObservedElement()]])
  }

  /// Completes a task; if it is completed, at another time instead.
  func completing(with value: [UInt8], at clock: Int64, by replica: ReplicaID) -> ObjectState {
    var element = sets[.completions]?[[]]?.removing ?? ObservedElement()
    element.join(.adding(value, at: time(by: clock), by: replica))
    return ObjectState(sets: [.completions: [[]: element]])
  }

  /// Reopens a task, as far as its completions are known here.
  func reopening() -> ObjectState {
    removing([], from: .completions)
  }

  /// Deletes the object, or brings it back.
  func settingLife(toDeleted isDeleted: Bool, at clock: Int64, by replica: ReplicaID) -> ObjectState {
    setting(.life, to: isDeleted ? LifeValue.deleted : LifeValue.alive, at: clock, by: replica)
  }

  /// Restores a field to an earlier write's value, if it still has the value that another write gave it.
  ///
  /// - Parameters:
  ///   - write: the write to undo.
  ///   - field: a field with a register.
  ///   - old: what it replaced; `nil` if the field had no value.
  ///   - clock: the time now.
  ///   - replica: who undoes it.
  /// - Returns: the change, or `nil` if somebody has written the field since.
  func undoing(
    _ write: Register, of field: Field, to old: Register?, at clock: Int64, by replica: ReplicaID
  ) -> ObjectState? {
    guard registers[field] == write else { return nil }
    return setting(field, to: old?.value ?? [], at: clock, by: replica)
  }
}
