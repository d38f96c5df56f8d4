import Mustache
import Tally

/// The report as a self-contained page: no script, no network, no font of its own.
///
/// All text reaches the page through a template that escapes it; for programs, the figures are in it as JSON, too.
struct StatisticsPage {
  struct Tile {
    let name: String
    let value: String
    let unit: String
  }

  let title: String
  let asOf: String
  let conditions: [String]
  let message: String
  let tiles: [Tile]
  let sentences: [String]
  let trends: [PageFigure]
  let figures: [PageFigure]
  let profiles: [PageFigure]
  let json: String
  let style = StatisticsPageTemplate.style

  init(_ report: StatisticsReport) {
    title = report.list.map { "Statistics of \($0.name.escapedForDisplay())" } ?? "Statistics"
    asOf = report.asOfInWords
    conditions = report.conditions
    message = report.isEmpty ? "No data available yet" : report.statistics.completed.todayMessage
    tiles = Self.tiles(report.statistics)
    sentences = [report.openInWords, report.cycleTimeInWords].compactMap { $0 }
    trends = report.isEmpty ? [] : report.trendFigures
    figures = report.isEmpty ? [] : report.figuresOverTime
    profiles = report.isEmpty ? [] : report.profileFigures
    json = Self.json(report)
  }

  /// The page.
  var html: String {
    get throws {
      let library = MustacheLibrary(templates: [
        "page": try MustacheTemplate(string: StatisticsPageTemplate.page),
        "figure": try MustacheTemplate(string: StatisticsPageTemplate.figure),
        "drawing": try MustacheTemplate(string: StatisticsPageTemplate.drawing),
      ])
      return library.render(self, withTemplate: "page") ?? ""
    }
  }

  private static func tiles(_ statistics: Statistics) -> [Tile] {
    let (completed, streak) = (statistics.completed, statistics.streak)
    func days(_ count: Int) -> String { count == 1 ? "day" : "days" }
    return [
      Tile(name: "Today", value: completed.today.grouped, unit: ""),
      Tile(name: "This week", value: completed.thisWeek.grouped, unit: ""),
      Tile(name: "This month", value: completed.thisMonth.grouped, unit: ""),
      Tile(name: "This year", value: completed.thisYear.grouped, unit: ""),
      Tile(name: "All time", value: completed.allTime.grouped, unit: ""),
      Tile(name: "Streak", value: streak.current.grouped, unit: days(streak.current)),
      Tile(name: "Longest streak", value: streak.longest.grouped, unit: days(streak.longest)),
      Tile(name: "Open", value: statistics.open.total.grouped, unit: ""),
    ]
  }

  /// The JSON of the report, in which nothing can end the script element around it.
  private static func json(_ report: StatisticsReport) -> String {
    String(decoding: report.facts.json.dropLast(), as: UTF8.self).replacing("<", with: "\\u003c")
  }
}
