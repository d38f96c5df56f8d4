import TallyEngine

/// One change of a record: the stored record and the new one.
struct RecordChange<Record: IndexedRecord>: Sendable {
  let old: Record?
  let new: Record?
  /// Whether the change only makes room between neighbours: the user has not moved the object.
  var isRenumbering = false
  /// The parts whose new values were set by a program: on a merge they lose to those that a person wrote on another
  /// device.
  var generatedFields: SyncFields = []

  init(old: Record?, new: Record?) {
    assert(old != nil || new != nil, "a change of nothing")
    self.old = old
    self.new = new
  }
}

extension RecordChange where Record: ObjectRecord {
  /// Creates the change of a task or list in a commit: an edit, a creation or a deletion.
  ///
  /// Fields that this version does not know are preserved.
  init(from old: Record?, to item: Record.Item?, at sequence: UInt64) {
    self.init(from: old, to: item, unknown: old?.unknown ?? UnknownFields(), at: sequence)
  }

  /// Creates the same change with the unknown fields of another record, such as an image that undo restores.
  init(from old: Record?, to item: Record.Item?, unknown: UnknownFields, at sequence: UInt64) {
    assert(old == nil || item == nil || old?.item.id == item?.id, "a change of one object into another")
    let stamp = ChangeStamp(replacing: old?.stamp, at: sequence)
    self.init(old: old, new: item.map { Record(item: $0, stamp: stamp, unknown: unknown) })
  }
}
