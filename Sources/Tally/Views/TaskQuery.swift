/// A question to a store: which tasks, in which order, how many, and where to go on.
///
/// ```swift
/// var query = TaskQuery(try TaskFilter(text: "#home is:open"), by: .due, limit: 50)
/// repeat {
///   let page = try store.read { try $0.tasks(query) }
///   show(page.tasks)
///   query.position = page.next
/// } while query.position != nil
/// ```
public struct TaskQuery: Hashable, Codable, Sendable {
  /// Which tasks to look for.
  public var filter: TaskFilter
  /// Their order.
  public var order: TaskOrder
  /// How many tasks at most; all of them for `nil`.
  public var limit: Int?
  /// Where to go on: the end of an earlier page of the same filter and order.
  public var position: ViewPosition?

  /// Creates a query.
  ///
  /// - Parameters:
  ///   - filter: which tasks to look for.
  ///   - order: their order.
  ///   - limit: how many tasks at most; all of them for `nil`.
  ///   - position: where to go on; `nil` to begin.
  public init(
    _ filter: TaskFilter, by order: TaskOrder = .place, limit: Int? = nil, after position: ViewPosition? = nil
  ) {
    self.filter = filter
    self.order = order
    self.limit = limit
    self.position = position
  }
}
