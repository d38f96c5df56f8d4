import Foundation
import Hummingbird
import Tally

/// The changes that a page follows besides the counts of the navigation.
enum Following {
  case nothing
  /// Any change: the screen is read again. The version is that of the content, if it is from an earlier snapshot.
  case store(version: String?)

  /// Any change after the page's snapshot.
  static var store: Following { .store(version: nil) }
  /// The rows of a view, from a version on.
  case view(TaskView, version: String)
}

extension WebService {
  /// Renders a page around a screen's own content, from one snapshot.
  ///
  /// - Parameters:
  ///   - template: The screen's template.
  ///   - title: The page's title, unless the content has another one.
  ///   - request: The request, whose path, notice, appearance and days the page shows.
  ///   - capture: The place of a captured task, as sent and as shown.
  ///   - following: The changes that the page's event stream reports.
  ///   - content: The content of the screen's template.
  /// - Returns: The page.
  /// - Throws: What the content throws; errors of the storage.
  func page(
    _ template: String, title: String, for request: Request,
    capture: (place: String, name: String) = ("inbox", "Inbox"), following: Following = .nothing,
    _ content: (inout StoreReadTransaction) throws -> [String: Any] = { _ in [:] }
  ) throws -> Response {
    let query = try request.query()
    let path = request.uri.path
    var context = try store.read(by: DayRules(request)) { transaction in
      var context = try content(&transaction)
      // The screen to which a notice leads back: this one with its query, which may be a tag's name.
      let back = context["path"] as? String ?? path
      let places = try Places(transaction)
      context.merge(places.content(at: path)) { own, _ in own }
      context["events"] = try Self.eventsAddress(
        following, places, agenda: context["agendaVersion"] as? String, transaction)
      if let change = try query.text("done").map({ try ChangeID(text: $0) }) {
        context["notice"] = try notice(of: change, back: back, in: transaction)
      }
      return context
    }
    context.merge([
      "title": title, "path": path, "version": assetVersion, "place": capture.place, "placeName": capture.name,
      "searched": query["q"] ?? "",
    ]) { own, _ in own }
    if let appearance = request.cookies[Self.appearanceCookie]?.value, ["light", "dark"].contains(appearance) {
      context["appearance"] = appearance
    }
    if request.cookies[Self.keysCookie]?.value == "off" { context["keysOff"] = true }
    // A new key for each page, so that each of its forms is accepted once.
    context["key"] = UUIDv7.next().text
    // `path` has other meanings inside rows, lists and bars.
    context["here"] = context["path"]
    RefusedForm.current?.fill(&context, template, renderer)
    return .html(try renderer.html(template, context))
  }

  /// The address of a page's event stream, with the versions of what the page shows.
  private static func eventsAddress(
    _ following: Following, _ places: Places, agenda: String?, _ transaction: borrowing StoreReadTransaction
  ) throws -> String {
    var parts = [("places", places.version)]
    switch following {
    case .nothing: break
    case .store(let version): parts.append(("store", try version ?? Surroundings.version(transaction)))
    case .view(let view, let version): parts += [("view", view.text), ("after", version)]
    }
    if let agenda { parts.append(("agenda", agenda)) }
    return "/events?" + parts.map { "\($0.0)=\($0.1.inAddress)" }.joined(separator: "&")
  }

  /// The notice of a change, with the button that undoes it.
  func notice(
    of change: ChangeID, back: String, in transaction: borrowing StoreReadTransaction
  ) throws -> [String: Any]? {
    guard let entry = try transaction.historyChange(change) else { return nil }
    let sentences = try ChangeSentences(clock: transaction.dateReference)(entry, limit: 1, in: transaction)
    var notice: [String: Any] = ["words": sentences.joined(separator: " "), "back": back]
    if entry.kind != .cut { notice["change"] = change.text }
    return notice
  }
}
