import Foundation

extension TaskView: TextCodable {
  /// The view's name, then what it is about: `today`, `list/7f3a…`, `due/2026-11-21`, `completed/START/END`,
  /// `matching/ORDER/FILTER`.
  public var text: String {
    switch self {
    case .list(let id): "\(name)/\(IDText(id).text)"
    case .due(let day): "\(name)/\(day.text)"
    case .matching(let filter, let order): "\(name)/\(order.text)/\(filter.text)"
    case .completed(let interval?): "\(name)/\(interval.lowerBound.text)/\(interval.upperBound.text)"
    default: name
    }
  }

  /// Reads a view; throws `invalidToken` for a text that names none.
  public init(text: String) throws(TallyError) {
    // A filter may have slashes of its own.
    let query = text.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
    if query.count == 3, query[0] == "matching" {
      self = .matching(try TaskFilter(text: query[2]), by: try TaskOrder(text: query[1]))
      return
    }
    let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    switch (parts[0], parts.count) {
    case ("list", 2): self = .list(try IDText(text: parts[1]).id)
    case ("due", 2): self = .due(on: try CalendarDay(text: parts[1]))
    case ("completed", 3):
      let (start, end) = (try Timestamp(text: parts[1]), try Timestamp(text: parts[2]))
      guard start <= end else { throw .invalidToken("view") }
      self = .completed(start..<end)
    case (let name, 1):
      guard let view = TaskView(name: name) else { throw .invalidToken("view") }
      self = view
    default: throw .invalidToken("view")
    }
  }

  /// The view with a ``name``; `nil` for a name that says too little, as that of a list's view, or nothing.
  public init?(name: String) {
    guard let view = Self.named.first(where: { $0.name == name }) else { return nil }
    self = view
  }

  private static let named: [TaskView] = [
    .inbox, .today, .upcoming, .past, .overdue, .active, .completed(nil), .all, .next,
  ]
}
