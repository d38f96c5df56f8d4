public import Foundation
import LMDB

extension StoreTransaction where Base: ~Copyable {
  /// The shortest tail of a task's identifier that fits no other task: at least four hexadecimal digits.
  ///
  /// A UUIDv7 begins with its time, which neighbours share; its end is random.
  ///
  /// - Throws: what the storage throws.
  /// - Complexity: two neighbours in an index, whatever the size of the store.
  public func handle(of id: UUID) throws -> String {
    let key = TailKey(id)
    var sharedDigitCount = 0
    var cursor = try tables.byTail.cursor(in: base)
    if try cursor.move(toLastBefore: key) {
      sharedDigitCount = try cursor.key().sharedDigitCount(with: key)
    }
    if try cursor.move(toFirstAtOrAfter: key) {
      var neighbor: TailKey? = try cursor.key()
      if neighbor == key { neighbor = try cursor.next() ? try cursor.key() : nil }
      if let neighbor { sharedDigitCount = max(sharedDigitCount, neighbor.sharedDigitCount(with: key)) }
    }
    let digitCount = min(max(sharedDigitCount + 1, minimumHandleDigitCount), TailKey.digitCount)
    return String(id.uuidString.lowercased().filter { $0 != "-" }.suffix(digitCount))
  }

  /// The tasks whose identifier ends in the given hexadecimal digits, at most `limit` of them.
  ///
  /// - Parameters:
  ///   - handle: at least four digits in either case; dashes are ignored, so a whole UUID works too.
  ///   - limit: how many to find at most.
  /// - Returns: the tasks; none if the text is not a handle.
  /// - Throws: what the storage throws.
  public func taskIDs(withHandle handle: String, limit: Int = 10) throws -> [UUID] {
    let digits = handle.filter { $0 != "-" }.map { $0.isASCII ? $0.hexDigitValue : nil }
    guard (minimumHandleDigitCount...TailKey.digitCount).contains(digits.count), !digits.contains(nil) else {
      return []
    }
    let first = TailKey(firstEndingIn: digits.compactMap { $0.map(UInt8.init) })
    var ids: [UUID] = []
    try scan(tables.byTail, from: first) { key in
      guard ids.count < limit, key.sharedDigitCount(with: first) >= digits.count else { return false }
      ids.append(key.id)
      return true
    }
    return ids
  }
}

/// Shorter handles would change their meaning with nearly every new task.
private let minimumHandleDigitCount = 4
