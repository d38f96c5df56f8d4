/// One change of a record: the stored one and the new one.
struct RecordChange<Record: IndexedRecord>: Sendable {
  let old: Record?
  let new: Record?
  /// Whether it only makes room between neighbours: the user has not moved the object.
  var isRenumbering = false
  /// The parts whose new values a program has made: what a person writes on another device beats them.
  var generatedFields: SyncFields = []

  init(old: Record?, new: Record?) {
    assert(old != nil || new != nil, "a change of nothing")
    self.old = old
    self.new = new
  }
}

extension RecordChange where Record: ObjectRecord {
  /// A change in a commit: of the contents of a task or list, its creation or its deletion.
  ///
  /// Fields that this version does not know are kept.
  init(from old: Record?, to item: Record.Item?, at sequence: UInt64) {
    self.init(from: old, to: item, unknown: old?.unknown ?? UnknownFields(), at: sequence)
  }

  /// The same with the unknown fields of another record, such as an image that undo restores.
  init(from old: Record?, to item: Record.Item?, unknown: UnknownFields, at sequence: UInt64) {
    assert(old == nil || item == nil || old?.item.id == item?.id, "a change of one object into another")
    let stamp = ChangeStamp(replacing: old?.stamp, at: sequence)
    self.init(old: old, new: item.map { Record(item: $0, stamp: stamp, unknown: unknown) })
  }
}
