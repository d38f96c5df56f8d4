import Tally

extension StoreWriteTransaction {
  /// Keeps of objects that were deleted long ago, here or elsewhere, only who has written what and when.
  mutating func forgetDeletedRecords(before time: Int64) throws {
    var (table, forgotten) = (try StateTable(in: self), [ObjectKey: TouchedObject]())
    for (isList, id) in try deletedKeys() {
      guard try timeOfKeeping(isList: isList, id: id)?.microsecondsSince1970 ?? .min < time,
        try !isPending(isList: isList, id: id)
      else { continue }
      let object = ObjectKey(isList: isList, id: id)
      let state = try table.state(of: object, in: self)
      try forgetDeleted(isList: isList, id: id)
      if state.isDeleted { forgotten[object] = TouchedObject(before: state, state: state.withoutValues) }
    }
    try table.put(forgotten, in: &self)
  }
}
