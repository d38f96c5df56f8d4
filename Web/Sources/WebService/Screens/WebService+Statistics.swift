import Foundation
import Hummingbird
import Tally

extension WebService {
  func addStatisticsRoutes(to router: Router<BasicRequestContext>) {
    router.get("statistics") { [self] request, _ in
      let query = try request.query()
      return try page("statistics", title: "Statistics", for: request, following: .store) { transaction in
        let selection = try StatisticsSelection(query, in: transaction)
        // A filter may name a list that does not exist: only reading shows that.
        let statistics =
          selection.options.filter == .all
          ? try transaction.statistics(selection.options)
          : try refusing("filter") { try transaction.statistics(selection.options) }
        var content = StatisticsContent(
          statistics, selection, transaction.dateReference, try transaction.lists()
        ).content
        let year = HeatMap.days(upTo: transaction.today, weekStart: statistics.weekStart)
        let counts = try transaction.heatMap(selection.options(from: year.lowerBound, to: year.upperBound))
        content["heat"] = HeatMap(counts, selection, transaction.dateReference).content
        return content
      }
    }
    router.get("done") { [self] request, _ in
      let query = try request.query()
      return try page("done", title: "Tasks", for: request, following: .store) { transaction in
        try TasksBehindBar(query, in: transaction).content(transaction)
      }
    }
  }
}

/// The events that a person asks for, as the address of a screen names them.
struct StatisticsSelection {
  let options: StatisticsOptions
  /// The name of the list, if one is selected.
  let listName: String?
  let query: Form

  /// The longest range, and the most bars of a chart: a chart of all years by day would take minutes.
  static let longestRangeInDays = 36_525
  static let largestBarCount = 1_000

  init(_ query: Form, in transaction: borrowing StoreReadTransaction) throws {
    var options = StatisticsOptions()
    let reference = transaction.dateReference
    func day(_ name: String) throws -> CalendarDay? {
      try query.text(name).map { text in
        try refusing(name) { try DateExpression(text, as: .day).day(against: reference) }
      }
    }
    (options.from, options.to) = (try day("from"), try day("to"))
    if let unit = query.text("by") {
      guard let known = Series.Unit(rawValue: unit) else {
        throw FieldRefusal(field: "by", cause: HTTPError(.badRequest, message: "The unit is unknown."))
      }
      options.unit = known
    }
    try refusing("from") { try Self.checkRange(of: options, today: transaction.today) }
    options.listID = try refusing("list") {
      let list = try query.id("list")
      if let list, try transaction.list(list) == nil { throw Self.noList }
      return list
    }
    if let filter = query.text("filter") {
      options.filter = try refusing("filter") { try TaskFilter(text: filter) }
    }
    if let goal = query.text("goal") { options.goal = try refusing("goal") { try Goal(text: goal) } }
    options.dayStartInMinutes = transaction.dayStartInMinutes
    listName = try options.listID.flatMap { try transaction.list($0)?.name }
    (self.options, self.query) = (options, query)
  }

  private static let noList = TallyError(
    .listNotFound, "This list does not exist any more", remedy: "Choose another one, or all lists")

  private static func checkRange(of options: StatisticsOptions, today: CalendarDay) throws {
    guard let from = options.from else { return }
    let last = options.to ?? max(today, from)
    let dayCount = Int(last.dayNumber) - Int(from.dayNumber) + 1
    let daysOfBar =
      switch options.unit {
      case .day: 1
      case .week: 7
      case .month: 28
      case .year: 365
      }
    guard dayCount <= longestRangeInDays else {
      throw HTTPError(.badRequest, message: "Statistics reach over a hundred years at most.")
    }
    guard dayCount <= daysOfBar * largestBarCount else {
      throw HTTPError(.badRequest, message: "A chart has \(largestBarCount) bars at most: choose a longer unit.")
    }
  }

  /// The same list and filter, on other days.
  func options(from: CalendarDay, to: CalendarDay) -> StatisticsOptions {
    var options = options
    (options.from, options.to, options.unit) = (from, to, .day)
    return options
  }

  /// The selection in words, one for each part.
  func words(_ clock: DateReference) -> [String] {
    [
      options.from.map { "from \(clock.name(of: $0))" }, options.to.map { "to \(clock.name(of: $0))" },
      listName.map { "in “\($0.shortened(to: 60))”" }, options.filter == .all ? nil : "matching \(options.filter.text)",
    ].compactMap(\.self)
  }

  /// The address of the tasks behind a bar: this selection, with some parts replaced.
  func address(_ parts: [String: String]) -> String {
    var all: [String: String] = [:]
    for name in ["from", "to", "list", "filter"] { all[name] = query.text(name) }
    all.merge(parts) { _, new in new }
    return "/done?" + all.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.inAddress)" }.joined(separator: "&")
  }
}
