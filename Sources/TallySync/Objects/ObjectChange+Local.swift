extension ObjectChange {
  /// A local change, which replaces the known writes.
  init(of object: ObjectKey, to state: ObjectState, replacing known: ObjectState) {
    let replaced = state.registers.keys.compactMap { field in known.registers[field].map { (field, $0.stamp) } }
    self.init(object: object, state: state, replaced: Dictionary(uniqueKeysWithValues: replaced))
  }
}

extension Register {
  /// What identifies the write.
  var stamp: Stamp { Stamp(time: time, replica: replica) }
}
