import Foundation
import Hummingbird
import Tally

extension WebService {
  func addQueryRoutes(to router: Router<BasicRequestContext>) {
    router.get("search") { [self] request, _ in try search(request) }
    router.get("find") { [self] request, _ in
      let text = try request.query().text("q") ?? ""
      // A filter may name a list that does not exist: only reading shows that.
      do {
        return try await show(try Screen.query(text, title: "Found", path: "/find?q=\(text.inAddress)"), for: request)
      } catch { throw FieldRefusal(field: "q", cause: error) }
    }
    router.get("tags") { [self] request, _ in
      try page("tags", title: "Tags", for: request, following: .store) { transaction in
        let tags: [[String: Any]] = try transaction.tags().map { use in
          ["name": use.tag, "address": use.tag.inAddress, "open": use.openCount, "completed": use.completedCount]
        }
        return ["tags": tags]
      }
    }
    router.get("tag") { [self] request, _ in
      let name = try request.query()["name"] ?? ""
      return try await show(
        try Screen.tag(name), for: request,
        ["tag": ["name": name, "newName": RefusedForm.typed("tag")?["new"] ?? name]])
    }
    router.post("tag") { [self] request, _ in
      let form = try await request.form()
      let (name, newName) = (form["name"] ?? "", form.text("new"))
      let isDeletion = form["action"] == "delete"
      let path = isDeletion ? "/tags" : "/tag?name=\((newName ?? name).inAddress)"
      return try await change(form, request, to: path) { transaction in
        if isDeletion {
          try transaction.deleteTag(name)
        } else if let newName {
          try refusing("new") { try transaction.renameTag(name, to: newName) }
        }
      }
    }
    addFilterRoutes(to: router)
  }

  private func addFilterRoutes(to router: Router<BasicRequestContext>) {
    router.get("filters") { [self] request, _ in
      try page("filters", title: "Filters", for: request, following: .store) { transaction in
        let filters = try transaction.savedFilters().map {
          ["name": $0.name, "address": $0.name.inAddress, "text": $0.text]
        }
        return ["filters": filters]
      }
    }
    router.get("filter") { [self] request, _ in
      let name = try request.query()["name"] ?? ""
      guard let filter = try store.read({ try $0.savedFilter(named: name) }) else {
        throw TallyError(.filterNotFound, "No filter has this name", remedy: "See the filters for those that exist")
      }
      let screen = try Screen.query(filter.text, title: filter.name, path: "/filter?name=\(name.inAddress)")
      return try await show(screen, for: request, ["filter": ["name": filter.name, "text": filter.text]])
    }
    router.post("filters") { [self] request, _ in
      let form = try await request.form()
      let (name, text) = (form["name"] ?? "", form["text"] ?? "")
      if form["action"] == "delete" {
        return try await change(form, request, to: "/filters") { try $0.deleteFilter(named: name) }
      }
      return try await change(form, request, to: "/filters") { transaction in
        let filter = try refusing("text") { try TaskFilter(text: text) }
        do {
          try transaction.saveFilter(filter, as: name)
        } catch let error as TallyError {
          let isOfFilter = [.listNotFound, .unknownList, .valueOutOfRange].contains(error.code)
          throw FieldRefusal(field: isOfFilter ? "text" : "name", cause: error)
        }
      }
    }
  }

  /// The tasks with the words that were typed, best first.
  private func search(_ request: Request) throws -> Response {
    let query = SearchQuery(try request.query()["q"] ?? "")
    return try page("search", title: "Search", for: request, following: .store) { transaction in
      let matches = query.isEmpty ? [] : try transaction.search(query, limit: Self.longestSearchInRows)
      let frame = try RowFrame(transaction)
      let rows = matches.map { match in
        var row = frame.row(match.task)
        row["marks"] = Marks.parts(of: match.task.title, match.titleRanges)
        return row
      }
      return [
        "rows": rows, "isEmpty": query.isEmpty, "hasResults": !rows.isEmpty,
        "path": "/search?q=\(query.text.inAddress)",
        "found": rows.count == Self.longestSearchInRows ? "The best \(rows.count) tasks" : rows.count.counted("task"),
      ]
    }
  }

  private static let longestSearchInRows = 50
}

extension Screen {
  /// The screen of a filter's text.
  static func query(_ text: String, title: String, path: String) throws -> Screen {
    Screen(
      path: path, title: title.shortened(to: 100), view: .matching(try TaskFilter(text: text), by: .place),
      emptyWords: "No task matches. Words, #tags, due<=today+3d, is:open and priority:high can be combined.")
  }

  /// The screen of a tag; a task that is captured there gets it.
  static func tag(_ name: String) throws -> Screen {
    // Refuses a text that cannot be a tag.
    try TaskFilter.tag(name).validate()
    return Screen(
      path: "/tag?name=\(name.inAddress)", title: "#\(name.shortened(to: 64))", view: .matching(.tag(name), by: .place),
      place: "tag:\(name)", placeName: "#\(name.shortened(to: 40))", emptyWords: "No task has this tag.")
  }
}

extension String {
  /// The text in an address.
  var inAddress: String {
    addingPercentEncoding(withAllowedCharacters: .alphanumerics.intersection(.urlPathAllowed)) ?? ""
  }
}

/// The parts of a text that a search has matched, and those between them.
enum Marks {
  static func parts(of text: String, _ ranges: [Range<String.Index>]) -> [[String: Any]] {
    var (parts, position): ([[String: Any]], String.Index) = ([], text.startIndex)
    func add(_ range: Range<String.Index>, isMatch: Bool) {
      if !range.isEmpty { parts.append(["isMatch": isMatch, "part": text[range].description.shortened(to: 400)]) }
    }
    for range in ranges where range.lowerBound >= position {
      add(position..<range.lowerBound, isMatch: false)
      add(range, isMatch: true)
      position = range.upperBound
    }
    add(position..<text.endIndex, isMatch: false)
    return parts
  }
}
