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

  /// The content of the template.
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

/// The page's templates: strings in the program, not files, so that the program can be copied alone.
///
/// Two braces escape their value. Three do not: they write the style, and the JSON, in which `<` is escaped in
/// JSON's own way, as a browser reads no entities inside a script element.
enum StatisticsPageTemplate {
  static let page = """
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="referrer" content="no-referrer">
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
    <link rel="icon" href="data:,">
    <title>{{title}}</title>
    <style>
    {{{style}}}
    </style>
    </head>
    <body>
    <main>
    <header>
    <h1>{{title}}</h1>
    <p class="quiet">{{asOf}}{{#conditions}}<br>{{.}}{{/conditions}}</p>
    <p class="message">{{message}}</p>
    {{#messages}}<p>{{.}}</p>
    {{/messages}}
    </header>
    <dl class="tiles">
    {{#tiles}}
    <div><dt>{{name}}</dt><dd>{{value}}{{#unit}} <small>{{.}}</small>{{/unit}}</dd></div>
    {{/tiles}}
    </dl>
    <div class="grid">
    {{#trends}}{{> figure}}{{/trends}}
    {{#figures}}{{> figure}}{{/figures}}
    {{#profiles}}{{> figure}}{{/profiles}}
    <section class="card words">
    <h2>In words</h2>
    {{#sentences}}
    <p>{{.}}.</p>
    {{/sentences}}
    <p class="quiet">A completion counts where and when it happened, even after its task was moved or deleted. \
    <code>tally completed</code> shows the tasks behind every number.</p>
    </section>
    </div>
    </main>
    <script type="application/json" id="tally-statistics">{{{json}}}</script>
    </body>
    </html>

    """

  /// A chart with its title, its two drawings, of which the style shows one, and its table.
  static let figure = """
    <section class="card{{#isWide}} whole{{/isWide}}" id="{{id}}">
    <h2>{{title}}</h2>
    {{#note}}<p class="quiet">{{.}}</p>{{/note}}
    {{^drawings}}<p class="nothing">None.</p>{{/drawings}}
    {{#drawings}}{{> drawing}}{{/drawings}}
    {{#hasLegend}}
    <ul class="legend">
    {{#legend}}<li><span class="key {{role}}"></span>{{text}}</li>{{/legend}}
    </ul>
    {{/hasLegend}}
    <details>
    <summary>As a table</summary>
    <div class="scroll"><table>
    {{#table}}
    <thead><tr>{{#header}}<th scope="col">{{.}}</th>{{/header}}</tr></thead>
    <tbody>
    {{#rows}}
    <tr><th scope="row">{{name}}</th>{{#cells}}<td>{{.}}</td>{{/cells}}</tr>
    {{/rows}}
    </tbody>
    {{/table}}
    </table></div>
    </details>
    </section>

    """

  static let drawing = """
    {{#drawing}}
    <svg class="{{size}}" role="img" viewBox="0 0 {{width}} {{height}}" aria-labelledby="{{id}}-title {{id}}-words">
    <title id="{{id}}-title">{{title}}</title>
    <desc id="{{id}}-words">{{description}}</desc>
    {{#lines}}<line class="{{role}}" x1="{{x1}}" y1="{{y1}}" x2="{{x2}}" y2="{{y2}}"/>{{/lines}}
    {{#paths}}<path class="{{role}}" d="{{points}}"/>{{/paths}}
    {{#rectangles}}
    <rect class="{{role}}" x="{{x}}" y="{{y}}" width="{{width}}" height="{{height}}"><title>{{note}}</title></rect>
    {{/rectangles}}
    {{#ticks}}<line class="tick" x1="{{x1}}" y1="{{y1}}" x2="{{x2}}" y2="{{y2}}"/>{{/ticks}}
    {{#dots}}<circle cx="{{x}}" cy="{{y}}" r="4"><title>{{note}}</title></circle>{{/dots}}
    {{#labels}}<text class="{{role}}" x="{{x}}" y="{{y}}" text-anchor="{{anchor}}">{{text}}</text>{{/labels}}
    </svg>
    {{/drawing}}

    """
}

extension StatisticsPageTemplate {
  /// The page's style: light or dark by the reader's setting, one column on a phone, two on a screen, none of it needed
  /// to read the figures.
  ///
  /// The shades of the heat map differ in lightness by even steps, so that they are distinct without their hue.
  static let style = """
    :root {
      --ground: #f4f5f7; --card: #fff; --edge: #dde1e6; --ink: #1b222c; --quiet: #566172; --grid: #e3e7ec;
      --bar: #2a8a52; --past: #a9b8af; --tick: #1b222c; --curve: #2a5f9e; --area: #2a5f9e26;
      --shade0: #e8ebef; --shade1: #b9dfc4; --shade2: #74bd8c; --shade3: #348a55; --shade4: #0f4a2a;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --ground: #12161c; --card: #1b2129; --edge: #2d3641; --ink: #e9edf2; --quiet: #9ca8b8; --grid: #2c3540;
        --bar: #4fb87a; --past: #55645b; --tick: #f2f5f8; --curve: #7db2ee; --area: #7db2ee33;
        --shade0: #29313b; --shade1: #215539; --shade2: #2f8353; --shade3: #58ba80; --shade4: #b4f3cd;
      }
    }
    * { box-sizing: border-box; }
    body {
      margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.45 system-ui, sans-serif;
      -webkit-text-size-adjust: 100%;
    }
    main { max-width: 1176px; margin: 0 auto; padding: 24px 16px 48px; }
    h1 { font-size: 1.5rem; line-height: 1.25; margin: 0; overflow-wrap: anywhere; }
    h2 { font-size: 1.05rem; line-height: 1.3; margin: 0; overflow-wrap: anywhere; }
    p { margin: 0; }
    .quiet { color: var(--quiet); font-size: .9rem; }
    .message { font-size: 1.25rem; font-weight: 600; margin-top: 12px; }
    .tiles {
      display: grid; grid-template-columns: repeat(auto-fit, minmax(130px, 1fr)); gap: 12px; margin: 20px 0 16px;
    }
    .tiles > div, .card {
      background: var(--card); border: 1px solid var(--edge); border-radius: 12px; min-width: 0;
    }
    .tiles > div { padding: 10px 14px; }
    dt { color: var(--quiet); font-size: .85rem; }
    dd { margin: 0; font-size: 1.6rem; font-weight: 650; line-height: 1.2; font-variant-numeric: tabular-nums; }
    dd small { font-size: .9rem; font-weight: 400; color: var(--quiet); }
    .grid { display: grid; grid-template-columns: minmax(0, 1fr); gap: 16px; }
    .card { padding: 16px; }
    svg { display: block; width: 100%; height: auto; margin-top: 12px; overflow: visible; }
    svg.wide { display: none; }
    svg.narrow { max-width: 560px; }
    @media (min-width: 900px) {
      .grid { grid-template-columns: repeat(2, minmax(0, 1fr)); }
      .whole { grid-column: 1 / -1; }
      .card { padding: 20px 24px; }
      svg.wide { display: block; }
      svg.narrow { display: none; }
    }
    text { fill: var(--ink); font: 12px system-ui, sans-serif; font-variant-numeric: tabular-nums; }
    text.axis { fill: var(--quiet); }
    text.value { font-weight: 600; }
    line { stroke-width: 1; }
    line.grid { stroke: var(--grid); }
    line.foot { stroke: var(--quiet); }
    line.tick { stroke: var(--tick); stroke-width: 2; }
    rect.bar { fill: var(--bar); }
    rect.past { fill: var(--past); }
    path.curve { fill: none; stroke: var(--curve); stroke-width: 2.5; stroke-linejoin: round; }
    path.area { fill: var(--area); }
    circle { fill: var(--curve); stroke: var(--card); stroke-width: 1.5; }
    rect.shade0 { fill: var(--shade0); } rect.shade1 { fill: var(--shade1); } rect.shade2 { fill: var(--shade2); }
    rect.shade3 { fill: var(--shade3); } rect.shade4 { fill: var(--shade4); }
    .legend { display: flex; flex-wrap: wrap; gap: 4px 16px; list-style: none; margin: 10px 0 0; padding: 0; }
    .legend li { display: flex; align-items: center; gap: 6px; color: var(--quiet); font-size: .85rem; }
    .key { width: 14px; height: 14px; border-radius: 2px; }
    .key.bar { background: var(--bar); }
    .key.tick { height: 2px; background: var(--tick); }
    .key.shade0 { background: var(--shade0); } .key.shade1 { background: var(--shade1); }
    .key.shade2 { background: var(--shade2); } .key.shade3 { background: var(--shade3); }
    .key.shade4 { background: var(--shade4); }
    details { margin-top: 12px; font-size: .9rem; }
    summary { color: var(--quiet); cursor: pointer; width: fit-content; }
    .scroll { overflow: auto; max-height: 420px; margin-top: 8px; }
    table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
    th, td { padding: 3px 12px 3px 0; text-align: right; border-bottom: 1px solid var(--grid); }
    th:first-child { text-align: left; font-weight: 400; overflow-wrap: anywhere; min-width: 6.5em; }
    thead th { font-weight: 600; color: var(--quiet); }
    .words p, .nothing { margin-top: 8px; }
    code { font-size: .95em; }
    @media print {
      :root { --ground: #fff; --card: #fff; --edge: #999; }
      body { font-size: 11pt; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
      main { padding: 0; max-width: none; }
      .card, .tiles > div { break-inside: avoid; }
      svg.wide { display: block; } svg.narrow { display: none; }
      .whole { grid-column: 1 / -1; }
      details { display: none; }
    }
    """
}
