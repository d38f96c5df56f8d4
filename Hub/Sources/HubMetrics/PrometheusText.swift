/// Names, labels and numbers in the text format of Prometheus.
enum PrometheusText {
  /// A name in which every character that is not allowed is replaced by `_`.
  static func name(_ label: String) -> String { clean(label, allowing: ["_", ":"]) }

  /// Labels between braces, in the order of their names.
  static func labels(_ dimensions: [(String, String)]) -> String {
    dimensions.sorted { $0.0 < $1.0 }.map { name, value in "\(clean(name, allowing: ["_"]))=\"\(escaped(value))\"" }
      .joined(separator: ",")
  }

  /// The help of a metric, escaped for one line.
  static func escapedHelp(_ text: String) -> String {
    text.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
  }

  /// One value.
  static func line(_ name: String, _ labels: String, _ value: Double) -> String {
    labels.isEmpty ? "\(name) \(number(value))\n" : "\(name){\(labels)} \(number(value))\n"
  }

  static func number(_ value: Double) -> String {
    switch value {
    case .infinity: "+Inf"
    case -.infinity: "-Inf"
    case _ where value.isNaN: "NaN"
    case _ where value == value.rounded() && abs(value) < 1e15: "\(Int64(value))"
    default: "\(value)"
    }
  }

  private static func escaped(_ value: String) -> String {
    escapedHelp(value).replacing("\"", with: "\\\"")
  }

  private static func clean(_ text: String, allowing extra: Set<Character>) -> String {
    let cleaned = String(
      text.map { $0.isASCII && ($0.isLetter || $0.isNumber) || extra.contains($0) ? $0 : "_" })
    return cleaned.first?.isNumber == false ? cleaned : "_" + cleaned
  }
}
