import Synchronization

/// Which tasks to look for.
///
/// Filters compose in Swift and have one text form, which the command line and saved filters use as well:
///
/// ```swift
/// let filter: TaskFilter = .tag("home") && .due(before: .tomorrow) && !.has(.notes)
/// filter.text                                          // "#home due<tomorrow -has:notes"
/// try TaskFilter(text: "#home (priority>=medium or is:overdue) -list:Work")
/// ```
///
/// Dates stay relative: `due<=today` means another day tomorrow. A comparison with a field that a task lacks is false, and
/// `!` is always the opposite, so `due!=today`, which is the same as `!due=today`, also finds tasks without a due date.
/// <doc:Filters> has the grammar.
///
/// Filters are equal if they are built alike: `a && b` and `b && a` are not.
public struct TaskFilter: Hashable, Sendable {
  let root: FilterNode
  /// What is known about the filter; shared by its copies.
  let knowledge = Knowledge()

  /// Whether a filter has been found to be valid, so that a query need not check it again.
  final class Knowledge: Sendable {
    let isValid = Atomic(false)
  }

  /// Takes a tree; one that nests too deeply becomes ``FilterNode/tooDeep``.
  init(_ root: FilterNode) {
    self.root = root.nesting > Self.maximumNesting ? .tooDeep : root
  }

  init(_ condition: FilterCondition) {
    root = .condition(condition)
  }

  /// The greatest number of parentheses and negations around a condition; reading, printing and evaluation recurse.
  static let maximumNesting = 64
  /// The greatest length of a text in Unicode scalars.
  static let maximumLength = 10_000

  /// Every task.
  public static let all = TaskFilter(.constant(true))

  /// Whether both were built alike.
  public static func == (left: TaskFilter, right: TaskFilter) -> Bool { left.root == right.root }

  /// Hashes how the filter was built.
  public func hash(into hasher: inout Hasher) { hasher.combine(root) }

  /// The tasks that both filters find.
  public static func && (left: TaskFilter, right: TaskFilter) -> TaskFilter {
    TaskFilter(.conjunction([left.root, right.root]))
  }

  /// The tasks that either filter finds.
  public static func || (left: TaskFilter, right: TaskFilter) -> TaskFilter {
    TaskFilter(.disjunction([left.root, right.root]))
  }

  /// The tasks that a filter does not find.
  public static prefix func ! (filter: TaskFilter) -> TaskFilter {
    TaskFilter(.negation(filter.root))
  }
}
