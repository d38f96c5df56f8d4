import LMDB

/// The indexes: tables of entries that follow from records, and can be made anew from them; the names are stored.
enum IndexTable: String, CaseIterable {
  case listsByOrder, byPlace, byDay, byDue, byReminder, byCreated, byActive, byTail, deletedByCreated
}

extension Tables {
  /// How many entries an index has.
  func count<T: Transaction & ~Copyable>(of index: IndexTable, in transaction: borrowing T) throws(LMDBError) -> Int {
    switch index {
    case .listsByOrder: try listsByOrder.count(in: transaction)
    case .byPlace: try byPlace.count(in: transaction)
    case .byDay: try byDay.count(in: transaction)
    case .byDue: try byDue.count(in: transaction)
    case .byReminder: try byReminder.count(in: transaction)
    case .byCreated: try byCreated.count(in: transaction)
    case .byActive: try byActive.count(in: transaction)
    case .byTail: try byTail.count(in: transaction)
    case .deletedByCreated: try deletedByCreated.count(in: transaction)
    }
  }
}
