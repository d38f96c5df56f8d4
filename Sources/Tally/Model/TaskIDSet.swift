public import Foundation
import TallyEngine

/// The ids of other tasks, without duplicates, ascending by their bytes.
///
/// ```swift
/// let (paint, dry) = (UUID(), UUID())
/// var ids: TaskIDSet = [paint]
/// print(ids.insert(dry), ids.contains(paint))    // true true
/// ```
public struct TaskIDSet: Hashable, Sendable {
  /// Ascending, so that equal sets have equal bytes.
  private var ids: [UUID]

  /// The maximum number of tasks on which a task can depend.
  public static let maximumCount = 64

  /// Creates an empty set.
  public init() {
    ids = []
  }

  /// Creates a set of ids; of equal ids, one is kept.
  public init(_ ids: some Sequence<UUID>) {
    self.init()
    for id in ids { insert(id) }
  }

  /// Inserts an id.
  ///
  /// - Returns: false if the set already has it.
  @discardableResult
  public mutating func insert(_ id: UUID) -> Bool {
    let index = firstIndex(notBefore: id)
    if index < ids.count, ids[index] == id { return false }
    ids.insert(id, at: index)
    return true
  }

  /// Removes an id.
  ///
  /// - Returns: false if the set does not have it.
  @discardableResult
  public mutating func remove(_ id: UUID) -> Bool {
    let index = firstIndex(notBefore: id)
    guard index < ids.count, ids[index] == id else { return false }
    ids.remove(at: index)
    return true
  }

  /// Whether the set has an id.
  public func contains(_ id: UUID) -> Bool {
    let index = firstIndex(notBefore: id)
    return index < ids.count && ids[index] == id
  }

  private func firstIndex(notBefore id: UUID) -> Int {
    // Tasks depend on few others.
    ids.firstIndex { $0.words >= id.words } ?? ids.count
  }
}

extension TaskIDSet: RandomAccessCollection {
  /// The position of the first id.
  public var startIndex: Int { ids.startIndex }
  /// The position after the last id.
  public var endIndex: Int { ids.endIndex }
  /// The id at a position.
  public subscript(position: Int) -> UUID { ids[position] }
}

extension TaskIDSet: ExpressibleByArrayLiteral {
  /// Creates a set of ids; of equal ids, one is kept.
  public init(arrayLiteral elements: UUID...) {
    self.init(elements)
  }
}

extension TaskIDSet {
  /// Checks that a task may depend on these, as far as the task alone can tell.
  func validate(of id: UUID) throws(TallyError) {
    guard count <= Self.maximumCount else {
      throw TallyError(
        .invalidDependency, "The task depends on \(count) others", remedy: "Keep at most \(Self.maximumCount)")
    }
    guard !contains(id) else { throw TallyError.dependencyCycle([id]) }
  }
}
