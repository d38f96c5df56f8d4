import Foundation
import Hummingbird
import Tally

extension WebService {
  /// Renders a page around a screen's own content.
  ///
  /// - Parameters:
  ///   - template: The screen's template.
  ///   - title: The page's title.
  ///   - request: Whose path, notice and appearance the page shows.
  ///   - capture: Where a captured task goes, as sent and as shown.
  ///   - content: What the screen's template names.
  /// - Returns: The page.
  /// - Throws: Errors of the storage.
  func page(
    _ template: String, title: String, for request: Request,
    capture: (place: String, name: String) = ("inbox", "Inbox"),
    _ content: [String: Any]
  ) throws -> Response {
    let query = try request.query()
    let path = request.uri.path
    // Where a notice leads back to: this screen with its query, which may be a tag's name.
    let back = content["path"] as? String ?? path
    var context = content
    try store.read { transaction in
      context.merge(try places(at: path, in: transaction)) { own, _ in own }
      if let change = try query.text("done").map({ try ChangeID(text: $0) }) {
        context["notice"] = try notice(of: change, back: back, in: transaction)
      }
    }
    context.merge([
      "title": title, "path": path, "version": assetVersion, "place": capture.place, "placeName": capture.name,
      "searched": query["q"] ?? "",
    ]) { own, _ in own }
    if let appearance = request.cookies[Self.appearanceCookie]?.value, ["light", "dark"].contains(appearance) {
      context["appearance"] = appearance
    }
    if request.cookies[Self.keysCookie]?.value == "off" { context["keysOff"] = true }
    return .html(try renderer.html(template, context))
  }

  /// The navigation, with counts.
  func places(at path: String, in transaction: borrowing StoreReadTransaction) throws -> [String: Any] {
    let counts = try placeCounts(transaction)
    func place(_ path: String, _ name: String, _ current: String, drop: String? = nil) -> [String: Any] {
      var place: [String: Any] = ["path": path, "name": name, "current": path == current]
      if let count = counts[path], count > 0 { place["openCount"] = count }
      place["drop"] = drop
      return place
    }
    let today = transaction.today
    let lists: [[String: Any]] = try transaction.lists().map { list in
      [
        "id": list.id.text, "name": list.name.shortened(to: 60), "color": list.colorHex,
        "count": try transaction.count(.list(list.id) && .is(.open)), "current": path == "/lists/\(list.id.text)",
      ]
    }
    let tomorrow = try today.adding(days: 1)
    let drops = [
      "/today": "day:\(today.iso8601)", "/inbox": "inbox", "/upcoming": "day:\(tomorrow.iso8601)", "/lists": "lists",
    ]
    let tabs = [
      ("/today", "Today"), ("/inbox", "Inbox"), ("/upcoming", "Upcoming"), ("/lists", "Lists"), ("/more", "More"),
    ]
    return [
      "places": [
        place("/today", "Today", path, drop: drops["/today"]), place("/inbox", "Inbox", path, drop: drops["/inbox"]),
        place("/upcoming", "Upcoming", path, drop: drops["/upcoming"]),
        place("/past", "Past", path), place("/overdue", "Overdue", path), place("/next", "Next", path),
      ],
      "navLists": lists, "lists": lists, "isLists": path == "/lists",
      "more": Self.morePlaces.map { place($0.path, $0.name, path) },
      "tabs": tabs.map { place($0.0, $0.1, path, drop: drops[$0.0]) },
    ]
  }

  private func placeCounts(_ transaction: borrowing StoreReadTransaction) throws -> [String: Int] {
    [
      "/today": try transaction.count(.day(on: .today) && .is(.open)),
      "/inbox": try transaction.count(.list(nil as UUID?) && !.has(.day) && .is(.open)),
      "/overdue": try transaction.count(.is(.overdue)),
    ]
  }

  /// What a change did, with the button that undoes it.
  func notice(
    of change: ChangeID, back: String, in transaction: borrowing StoreReadTransaction
  ) throws -> [String: Any]? {
    guard let entry = try transaction.historyChange(change) else { return nil }
    let sentences = ChangeSentences(clock: Clock(transaction))(entry, limit: 1)
    return ["words": sentences.joined(separator: " "), "change": change.text, "back": back]
  }

  private static let morePlaces: [(path: String, name: String)] = [
    ("/tags", "Tags"), ("/filters", "Filters"), ("/active", "Active"), ("/completed", "Completed"),
    ("/all", "All tasks"),
    ("/statistics", "Statistics"), ("/history", "History"), ("/transfer", "Export and import"),
    ("/sync", "Synchronisation"), ("/settings", "Settings"), ("/keyboard", "Keyboard"),
  ]
}
