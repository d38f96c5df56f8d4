public import Foundation
public import LMDB
import TallyEngine

extension StoreTransaction where Base == WriteTransaction {
  /// Moves a task to the end of a list, or out of its list.
  ///
  /// - Throws: `taskNotFound` or `listNotFound`.
  @discardableResult
  public mutating func move(_ id: UUID, toList listID: UUID?) throws -> TaskItem {
    try update(id) { $0.listID = listID }
  }

  /// Moves a task directly before another one in the same place.
  ///
  /// The place is the list both belong to, else the inbox, else the day both are scheduled for. A view groups tasks by
  /// state: a task in another state than the anchor gets the position that it would have among the tasks in the
  /// anchor's state.
  ///
  /// - Throws: `taskNotFound`, or `differentPlaces` if the two share no place.
  /// - Complexity: rewrites one task, and some around it if no number is left between the two neighbours.
  @discardableResult
  public mutating func move(_ id: UUID, before anchorID: UUID) throws -> TaskItem {
    try move(id, to: .before, of: anchorID)
  }

  /// Moves a task directly after another one in the same place.
  ///
  /// - Throws: `taskNotFound`, or `differentPlaces` if the two share no place.
  /// - Complexity: as `move(_:before:)`.
  @discardableResult
  public mutating func move(_ id: UUID, after anchorID: UUID) throws -> TaskItem {
    try move(id, to: .after, of: anchorID)
  }

  private mutating func move(_ id: UUID, to side: Side, of anchorID: UUID) throws -> TaskItem {
    let task = try require(TaskRecord.self, id).item
    let anchor = try require(TaskRecord.self, anchorID).item
    guard id != anchorID else { return task.shown(in: calendar.timeZone) }
    let place = task.listID == anchor.listID && PlaceKey(of: task) != nil ? PlaceKey(of: anchor) : nil
    let day = task.scheduledDate == anchor.scheduledDate ? DayKey(of: anchor) : nil
    let byPlace = place.map { Neighborhood(index: tables.byPlace, anchor: $0) }
    let byDay = day.map { Neighborhood(index: tables.byDay, anchor: $0) }
    guard byPlace != nil || byDay != nil else { throw TallyError.differentPlaces }

    let placeGap = try byPlace?.gap(on: side, excluding: id, in: base)
    let dayGap = try byDay?.gap(on: side, excluding: id, in: base)
    // Next to the anchor in both its list and its day, if one number allows that; else only in its list.
    let both = placeGap.flatMap { place in dayGap.map { place.intersection(with: $0) } }
    if let sortOrder = both?.middle ?? (placeGap ?? dayGap)?.middle {
      return try update(id) { $0.sortOrder = sortOrder }
    }
    let spread = try byPlace?.spread(in: base) ?? byDay?.spread(in: base) ?? []
    for (neighborID, sortOrder) in spread { try renumber(neighborID, to: sortOrder) }
    return try move(id, to: side, of: anchorID)
  }

  /// Changes only a sort order: for the user the task has not changed, so its time of change stays.
  private mutating func renumber(_ id: UUID, to sortOrder: Int64) throws {
    let old = try require(TaskRecord.self, id)
    var task = old.item
    task.sortOrder = sortOrder
    var change = RecordChange<TaskRecord>(from: old, to: task, at: commitSequence)
    change.isRenumbering = true
    try write(change)
  }
}
