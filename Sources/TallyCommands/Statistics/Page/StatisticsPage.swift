import Mustache
import Tally

/// The report as a self-contained page: no script, no network, no font of its own.
///
/// All text reaches the page through a template that escapes it; for programs, the figures are in it as JSON, too.
struct StatisticsPage {
  let report: StatisticsReport

  /// The page.
  var html: String {
    get throws {
      let library = MustacheLibrary(templates: [
        "page": try MustacheTemplate(string: StatisticsPageTemplate.page),
        "figure": try MustacheTemplate(string: StatisticsPageTemplate.figure),
        "drawing": try MustacheTemplate(string: StatisticsPageTemplate.drawing),
      ])
      return library.render(context, withTemplate: "page") ?? ""
    }
  }

  /// What the template names.
  private var context: [String: Any] {
    [
      "title": report.title, "asOf": report.asOfInWords, "conditions": report.conditions,
      "message": report.statistics.completed.todayMessage, "messages": Array(report.messages.dropFirst()),
      "tiles": tiles, "sentences": sentences,
      "trends": report.isEmpty ? [] : report.trendFigures,
      "figures": report.isEmpty ? report.openFigures : report.figuresOverTime,
      "profiles": report.isEmpty ? [] : report.profileFigures,
      "json": json, "style": StatisticsPageTemplate.style,
    ]
  }

  private var sentences: [String] {
    (report.isEmpty ? [report.statistics.weekTrend.message] : []) + report.goalInWords
      + [report.openInWords, report.cycleTimeInWords].compactMap(\.self)
  }

  private var tiles: [[String: String]] {
    let (completed, streak) = (report.statistics.completed, report.statistics.streak)
    func days(_ count: Int) -> String { count == 1 ? "day" : "days" }
    let tiles = [
      ("Today", completed.today, ""), ("This week", completed.thisWeek, ""), ("This month", completed.thisMonth, ""),
      ("This year", completed.thisYear, ""), ("All time", completed.allTime, ""),
      ("Streak", streak.current, days(streak.current)),
      ("Longest streak", streak.longest, days(streak.longest)),
      ("Open", report.statistics.open.total, ""),
    ]
    return tiles.map { ["name": $0, "value": $1.grouped, "unit": $2] }
  }

  /// The JSON of the report, in which nothing can end the script element around it.
  private var json: String {
    String(decoding: report.facts.json.dropLast(), as: UTF8.self).replacing("<", with: "\\u003c")
  }
}
