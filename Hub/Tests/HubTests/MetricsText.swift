import Testing

/// The text of metrics, read as Prometheus reads it in version 0.0.4.
struct MetricsText {
  struct Sample: Hashable {
    let name: String
    let labels: [String: String]
  }

  struct Invalid: Error { let line: Substring }

  private(set) var samples: [Sample: Double] = [:]
  private(set) var kinds: [String: String] = [:]
  private(set) var help: [String: String] = [:]

  /// Reads a text; each sample must stand behind the type of its family, and once.
  init(_ text: String) throws {
    guard text.isEmpty || text.hasSuffix("\n") else { throw Invalid(line: text[...]) }
    var family = ""
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ", maxSplits: 3)
      if line.hasPrefix("# HELP ") {
        help[String(words[2])] = words.count > 3 ? String(words[3]) : ""
      } else if line.hasPrefix("# TYPE ") {
        family = String(words[2])
        guard words.count == 4, kinds.updateValue(String(words[3]), forKey: family) == nil else {
          throw Invalid(line: line)
        }
      } else {
        let (sample, value) = try Self.sample(line)
        let isOfFamily = [family, family + "_bucket", family + "_sum", family + "_count"].contains(sample.name)
        guard isOfFamily, samples.updateValue(value, forKey: sample) == nil else { throw Invalid(line: line) }
      }
    }
  }

  /// The value of a sample.
  subscript(_ name: String, _ labels: [String: String] = [:]) -> Double? { samples[Sample(name: name, labels: labels)] }

  /// The sum of all samples with a name.
  func sum(_ name: String) -> Double { samples.filter { $0.key.name == name }.values.reduce(0, +) }

  private static func sample(_ line: Substring) throws -> (Sample, Double) {
    var rest = line
    let name = Self.name(&rest)
    var labels: [String: String] = [:]
    if rest.first == "{" {
      repeat {
        rest = rest.dropFirst()
        let label = Self.name(&rest)
        guard rest.hasPrefix("=\""), !label.contains(":") else { throw Invalid(line: line) }
        rest = rest.dropFirst(2)
        guard let value = Self.value(&rest), labels.updateValue(value, forKey: label) == nil else {
          throw Invalid(line: line)
        }
      } while rest.first == ","
      guard rest.first == "}" else { throw Invalid(line: line) }
      rest = rest.dropFirst()
    }
    guard !name.isEmpty, rest.first == " ", let value = Double(rest.dropFirst().replacing("Inf", with: "infinity"))
    else { throw Invalid(line: line) }
    return (Sample(name: name, labels: labels), value)
  }

  private static func name(_ rest: inout Substring) -> String {
    let name = rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == ":") }
    rest = rest.dropFirst(name.count)
    return name.first?.isNumber == false ? String(name) : ""
  }

  /// What stands up to the closing quotation mark; `nil` for an escape that the format does not have.
  private static func value(_ rest: inout Substring) -> String? {
    var value = ""
    while let character = rest.popFirst(), character != "\"" {
      guard character == "\\" else {
        value.append(character)
        continue
      }
      switch rest.popFirst() {
      case "n": value.append("\n")
      case "\\": value.append("\\")
      case "\"": value.append("\"")
      default: return nil
      }
    }
    return value
  }
}
