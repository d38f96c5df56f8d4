/// The page's templates: strings in the program, not files, so that the program can be copied alone.
///
/// Two braces escape what they write. Three do not: they write the style, and the JSON, in which `<` is escaped in
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
