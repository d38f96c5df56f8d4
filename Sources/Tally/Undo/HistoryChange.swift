public import Foundation
public import TallyEngine

/// One write in the history: when it was made, by which action, and what it changed.
///
/// ```swift
/// for change in try store.read({ try $0.history(limit: 10) }) {
///   print(change.date, change.actionName ?? "change", change.tasks.count)
/// }
/// ```
public struct HistoryChange: Sendable, Identifiable {
  /// The kind of a write.
  public enum Kind: String, Sendable, CaseIterable {
    /// An ordinary write of a program.
    case change
    /// The undoing of a change or of a redo.
    case undo
    /// The undoing of an undo.
    case redo
    /// A write that was too large to record, or a purge: neither it nor anything before it can be undone.
    case cut
  }

  /// The write's id, for ``StoreTransaction/undo(_:)``.
  public let id: ChangeID
  /// The kind of the write.
  public let kind: Kind
  /// When the write was made.
  public let date: Timestamp
  /// The name that the program gave the write, see ``StoreTransaction/setActionName(_:)``; `nil` if it has none.
  public let actionName: String?
  /// Whether the write applied changes from other devices, which undo skips.
  public let isFromElsewhere: Bool
  /// The replica whose changes the write applied; `nil` for a write of this store, and if there were several.
  public let replica: UUID?
  /// The write that an undo or a redo reversed.
  public let target: ChangeID?
  /// Whether an undo has reversed the write and no redo has restored it.
  public let isUndone: Bool
  /// The tasks that changed, in the order of the changes.
  public let tasks: [Difference<TaskItem>]
  /// The lists that changed.
  public let lists: [Difference<TaskList>]
  /// The series that got another time zone, which none of their tasks shows.
  public let series: [Difference<TaskSeries>]
  /// The saved filters that changed.
  public let savedFilters: [Difference<SavedFilter>]
  /// The keys of the applications' values that changed.
  public let values: Set<ValueKey>
  /// The number of records of the application's collections that were written, by the collection's name.
  ///
  /// Those of collections that the store was opened without are counted under an empty name.
  public let records: [String: Int]

  /// A record before and after a write.
  public struct Difference<Record: Sendable>: Sendable {
    /// The record before; `nil` if it did not exist.
    public let before: Record?
    /// The record after; `nil` if it was deleted.
    public let after: Record?
  }
}

extension HistoryChange.Difference where Record == TaskItem {
  /// The task after the write, or before it if it was deleted.
  public var task: TaskItem? { after ?? before }

  /// The fields that differ, in the order of documents; empty if the task is new or was deleted.
  package var changedFields: [TaskField] {
    guard let before, let after else { return [] }
    return TaskField.all.filter { $0 != .updatedAt && before[$0] != after[$0] }
  }
}

extension HistoryChange.Kind {
  init(_ kind: HistoryKind) {
    switch kind {
    case .change: self = .change
    case .undo: self = .undo
    case .redo: self = .redo
    case .cut: self = .cut
    }
  }
}
