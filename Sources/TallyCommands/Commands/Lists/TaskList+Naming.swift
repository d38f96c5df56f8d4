import Tally

extension TaskList {
  /// The words that commands read as places or views where a list's name could stand.
  static let reservedNames = [
    "inbox", "none", "agenda", "today", "tomorrow", "upcoming", "past", "overdue", "due", "active", "next", "completed",
    "all",
  ]

  /// The reserved names in a sentence.
  static let reservedNamesInWords = reservedNames.dropLast().joined(separator: ", ") + " and all"

  /// Refuses a name that commands read as a place or a view.
  ///
  /// - Throws: ``CommandFailure``.
  static func checkNotReserved(_ name: String) throws {
    guard reservedNames.contains(name.lowercased()) else { return }
    throw CommandFailure.usage(
      "\(name.quotedForMessage) cannot be the name of a list", code: "reservedName",
      remedy: "Choose another one; these words name views and places: \(reservedNames.joined(separator: ", "))")
  }

  /// Refuses a second list of a name, in any case, unless that is wanted: from then on names must be exact, or ids.
  ///
  /// - Throws: ``CommandFailure``.
  static func check(_ name: String, isNotAmong others: [String], unless isForced: Bool) throws {
    let isExact = others.contains(name)
    guard !isForced, let other = isExact ? name : others.first(where: { $0.lowercased() == name.lowercased() }) else {
      return
    }
    let consequence = isExact ? "can then be named only by their ids" : "must then be typed exactly"
    throw CommandFailure.usage(
      "There is already a list \(other.quotedForMessage)", code: "listExists",
      remedy: "Choose another name, or add --force; the two \(consequence)")
  }
}
