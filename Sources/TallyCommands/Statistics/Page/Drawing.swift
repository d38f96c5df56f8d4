/// A chart as marks in a coordinate system of pixels, which the page's template writes as SVG.
///
/// Everything is text here: what the template gets is what it writes, escaped.
struct Drawing {
  /// The attributes of a mark by the template's names for them.
  typealias Mark = [String: String]

  enum Anchor: String {
    case start, middle, end
  }

  /// The name of the style that shows the drawing on screens of its size.
  let size: String
  let width: Int
  let height: Int
  private(set) var rectangles: [Mark] = []
  private(set) var lines: [Mark] = []
  /// Lines in front of the rectangles.
  private(set) var ticks: [Mark] = []
  private(set) var paths: [Mark] = []
  private(set) var dots: [Mark] = []
  private(set) var labels: [Mark] = []

  init(_ canvas: Canvas, height: Int) {
    size = canvas.name
    width = canvas.width
    self.height = height
  }
}

/// Where a chart is drawn: it is drawn separately for a phone, as scaling it down would make its labels illegible.
struct Canvas {
  let name: String
  let width: Int

  /// The whole width of a screen.
  static let wide = Canvas(name: "wide", width: 1_080)
  /// Half the width of a screen.
  static let half = Canvas(name: "wide", width: 500)
  /// A phone.
  static let narrow = Canvas(name: "narrow", width: 322)

  var isNarrow: Bool { name == Self.narrow.name }

  /// Approximately the width of a column of text in the charts' font, which is the reader's.
  static let textWidthOfColumn = 7.3

  /// Approximately the width of a text.
  static func textWidth(_ text: String) -> Double {
    textWidthOfColumn * Double(text.displayWidth)
  }
}

extension Drawing {
  mutating func addRectangle(_ x: Double, _ y: Double, _ width: Double, _ height: Double, role: String, note: String) {
    rectangles.append([
      "x": x.inDrawing, "y": y.inDrawing, "width": width.inDrawing, "height": height.inDrawing, "role": role,
      "note": note,
    ])
  }

  mutating func addLine(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, role: String) {
    lines.append(["x1": x1.inDrawing, "y1": y1.inDrawing, "x2": x2.inDrawing, "y2": y2.inDrawing, "role": role])
  }

  mutating func addTick(from x1: Double, to x2: Double, _ y: Double) {
    ticks.append(["x1": x1.inDrawing, "y1": y.inDrawing, "x2": x2.inDrawing, "y2": y.inDrawing])
  }

  mutating func addPath(_ points: [(x: Double, y: Double)], isClosed: Bool = false, role: String) {
    let text = points.enumerated().map { "\($0 == 0 ? "M" : "L")\($1.x.inDrawing) \($1.y.inDrawing)" }.joined()
    paths.append(["points": text + (isClosed ? "Z" : ""), "role": role])
  }

  mutating func addDot(_ x: Double, _ y: Double, note: String) {
    dots.append(["x": x.inDrawing, "y": y.inDrawing, "note": note])
  }

  mutating func addLabel(_ text: String, _ x: Double, _ y: Double, _ anchor: Anchor = .start, role: String = "axis") {
    labels.append(["x": x.inDrawing, "y": y.inDrawing, "anchor": anchor.rawValue, "role": role, "text": text])
  }
}

extension Double {
  /// The number with one decimal, as less than a tenth of a pixel is invisible.
  fileprivate var inDrawing: String {
    let tenths = Int((self * 10).rounded())
    let sign = tenths < 0 ? "-" : ""
    let digit = tenths.magnitude % 10
    return "\(sign)\(tenths.magnitude / 10)" + (digit == 0 ? "" : ".\(digit)")
  }
}
