import Foundation
import Tally

/// The navigation: the places and the lists, with the numbers of their open tasks.
struct Places: Hashable {
  private struct List: Hashable {
    let id: UUID
    let name: String
    let color: String
    let openCount: Int
  }

  private let today: CalendarDay
  private let tomorrow: CalendarDay
  /// The numbers of open tasks, by the address of the place.
  private let openCounts: [String: Int]
  private let lists: [List]

  init(_ transaction: borrowing StoreReadTransaction) throws {
    today = transaction.today
    tomorrow = try transaction.today.adding(days: 1)
    openCounts = [
      // Each half has an index; an `or` would look at every task.
      "/today": try transaction.count(.day(on: .today) && .is(.open))
        + transaction.count(.due(on: .today) && .is(.open) && !.day(on: .today)),
      "/inbox": try transaction.count(.inInbox && .is(.open)), "/overdue": try transaction.count(.is(.overdue)),
    ]
    lists = try transaction.lists().map { list in
      List(
        id: list.id, name: list.name.shortened(to: 60), color: list.colorHex,
        openCount: try transaction.count(.list(list.id) && .is(.open)))
    }
  }

  /// The content of `places.mustache` on the screen with an address.
  func content(at path: String) -> [String: Any] {
    func place(_ address: String, _ name: String, drop: String? = nil) -> [String: Any] {
      var place: [String: Any] = ["path": address, "name": name, "current": address == path]
      if let count = openCounts[address], count > 0 { place["openCount"] = count }
      place["drop"] = drop
      return place
    }
    let names = Dictionary(grouping: lists) { $0.name.lowercased() }
    let lists: [[String: Any]] = lists.map { list in
      [
        "id": list.id.text, "name": list.name, "color": list.color, "count": list.openCount,
        "current": path == "/lists/\(list.id.text)",
        "hasTwin": names[list.name.lowercased()].map { $0.count > 1 } ?? false,
      ]
    }
    let drops = [
      "/today": "day:\(today.iso8601)", "/inbox": "inbox", "/upcoming": "day:\(tomorrow.iso8601)", "/lists": "lists",
    ]
    return [
      "places": Self.views.map { place($0.path, $0.name, drop: drops[$0.path]) },
      "navLists": lists, "lists": lists, "isLists": path == "/lists", "more": Self.more.map { place($0.path, $0.name) },
      "tabs": Self.tabs.map { place($0.path, $0.name, drop: drops[$0.path]) },
    ]
  }

  private static let views: [(path: String, name: String)] = [
    ("/today", "Today"), ("/inbox", "Inbox"), ("/upcoming", "Upcoming"), ("/past", "Past"), ("/overdue", "Overdue"),
    ("/next", "Next"),
  ]

  private static let tabs: [(path: String, name: String)] = [
    ("/today", "Today"), ("/inbox", "Inbox"), ("/upcoming", "Upcoming"), ("/lists", "Lists"), ("/more", "More"),
  ]

  private static let more: [(path: String, name: String)] = [
    ("/tags", "Tags"), ("/filters", "Filters"), ("/waiting", "Waiting"), ("/active", "Active"),
    ("/completed", "Completed"),
    ("/all", "All tasks"), ("/statistics", "Statistics"), ("/history", "History"), ("/transfer", "Export and import"),
    ("/sync", "Synchronisation"), ("/settings", "Settings"), ("/keyboard", "Keyboard"),
  ]
}
