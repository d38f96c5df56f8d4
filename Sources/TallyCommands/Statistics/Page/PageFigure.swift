/// A chart of the page: what it shows in words, drawn for two sizes of screen, and as a table.
struct PageFigure {
  struct Table {
    struct Row {
      let name: String
      let cells: [String]
    }

    let header: [String]
    let rows: [Row]
  }

  struct Drawn {
    let id: String
    let drawing: Drawing
  }

  struct LegendEntry {
    let role: String
    let text: String
  }

  /// The prefix of the ids of the figure's elements.
  let id: String
  let title: String
  /// What the chart covers, or says, in a sentence below the title.
  let note: String
  /// The chart in words, for readers who cannot see it.
  let description: String
  let legend: [LegendEntry]
  let hasLegend: Bool
  /// None if the chart would be empty.
  let drawings: [Drawn]
  let table: Table
  /// Whether the chart takes the whole width of a screen.
  let isWide: Bool

  init(
    _ id: String, _ title: String, note: String = "", description: String, legend: [LegendEntry] = [],
    isWide: Bool = false, table: Table, draw: (Canvas) -> Drawing
  ) {
    self.id = id
    self.title = title
    self.note = note
    self.description = description
    self.isWide = isWide
    self.table = table
    // An empty chart says nothing that its description does not.
    let isEmpty = !table.rows.contains { $0.cells.contains { $0 != "0" && !$0.isEmpty } }
    self.legend = legend
    hasLegend = !legend.isEmpty && !isEmpty
    drawings =
      isEmpty ? [] : [isWide ? Canvas.wide : .half, .narrow].map { Drawn(id: "\(id)-\($0.name)", drawing: draw($0)) }
  }
}

extension PageFigure.Table {
  /// A table with one number beside each name.
  init(_ header: [String], _ rows: [(String, Int)]) {
    self.init(header: header, rows: rows.map { Row(name: $0, cells: [$1.grouped]) })
  }
}
