public import Foundation
import LMDB
import TallyEngine

extension StoreTransaction where Base: ~Copyable {
  /// The shortest tail of a task's identifier that no other task shares: at least four hexadecimal digits.
  ///
  /// A UUIDv7 begins with its time, which neighbours share, but ends in random digits.
  ///
  /// - Throws: what the storage throws.
  /// - Complexity: reads two neighbours in an index, whatever the size of the store.
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
    return id.lastDigits(digitCount)
  }

  /// The length of the longest handle of any task.
  ///
  /// - Complexity: scans the index of the identifiers' ends.
  package func longestHandleLength() throws -> Int {
    var sharedDigitCount = 0
    var cursor = try tables.byTail.cursor(in: base)
    guard try cursor.moveToFirst() else { return minimumHandleDigitCount }
    var last = try cursor.key()
    while try cursor.next() {
      let key = try cursor.key()
      sharedDigitCount = max(sharedDigitCount, key.sharedDigitCount(with: last))
      last = key
    }
    return min(max(sharedDigitCount + 1, minimumHandleDigitCount), TailKey.digitCount)
  }

  /// The tasks whose identifier ends in the given hexadecimal digits.
  ///
  /// - Parameters:
  ///   - handle: at least four digits in either case; dashes are ignored, so a whole UUID works too.
  ///   - limit: the most tasks to return.
  /// - Returns: the ids of the tasks; empty if the text is not a handle.
  /// - Throws: what the storage throws.
  public func taskIDs(withHandle handle: String, limit: Int = 10) throws -> [UUID] {
    guard let tail = HandleTail(handle) else { return [] }
    var ids: [UUID] = []
    try scan(tables.byTail, from: tail.first) { key in
      guard ids.count < limit, tail.fits(key) else { return false }
      ids.append(key.id)
      return true
    }
    return ids
  }
}

/// The last digits of a task's identifier, as a person enters them.
package struct HandleTail {
  fileprivate let first: TailKey
  private let digitCount: Int

  /// Parses at least four hexadecimal digits in either case, ignoring dashes; `nil` for any other text.
  package init?(_ handle: String) {
    let digits = handle.filter { $0 != "-" }.map { $0.isASCII ? $0.hexDigitValue : nil }
    guard (minimumHandleDigitCount...TailKey.digitCount).contains(digits.count), !digits.contains(nil) else {
      return nil
    }
    first = TailKey(firstEndingIn: digits.compactMap { $0.map(UInt8.init) })
    digitCount = digits.count
  }

  /// Whether an identifier ends in these digits.
  package func fits(_ id: UUID) -> Bool { fits(TailKey(id)) }

  fileprivate func fits(_ key: TailKey) -> Bool { key.sharedDigitCount(with: first) >= digitCount }
}

/// The fewest digits of a handle: shorter ones would become ambiguous with nearly every new task.
private let minimumHandleDigitCount = 4
