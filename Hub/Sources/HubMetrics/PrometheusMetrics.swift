package import CoreMetrics
import Synchronization

/// Keeps measurements, and renders them as the text that Prometheus reads, in version 0.0.4 of its format.
///
///     let metrics = PrometheusMetrics(help: ["hub_requests_total": "Requests that were answered."])
///     Counter(label: "hub_requests_total", dimensions: [("status", "200")], factory: metrics).increment()
///     print(metrics.text())
///
/// A name has one kind: a metric of another kind under the same name counts, but is not shown.
package final class PrometheusMetrics: MetricsFactory {

  /// The metrics with one name.
  private struct Family {
    let kind: PrometheusKind
    var series: [String: PrometheusSeries] = [:]
  }

  private let help: [String: String]
  private let families = Mutex<[String: Family]>([:])

  /// The upper ends of the parts of a histogram of times, in seconds; the last part has no end.
  static let timeBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
  /// The same for other values.
  static let valueBounds = stride(from: 0, through: 24, by: 2).map { Double(1 << $0) }

  /// The media type of the text.
  package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  /// Creates a factory without metrics.
  ///
  /// - Parameter help: A sentence for each name.
  package init(help: [String: String] = [:]) { self.help = help }

  private func series(_ label: String, _ dimensions: [(String, String)], _ kind: PrometheusKind) -> PrometheusSeries {
    let name = PrometheusText.name(label)
    let labels = PrometheusText.labels(dimensions)
    return families.withLock { families in
      var family = families[name] ?? Family(kind: kind)
      guard family.kind == kind else { return PrometheusSeries(kind) }
      let series = family.series[labels] ?? PrometheusSeries(kind)
      family.series[labels] = series
      families[name] = family
      return series
    }
  }

  /// All that is measured, in the order of names and labels.
  ///
  /// - Returns: The text.
  package func text() -> String {
    let families = families.withLock { $0 }
    var text = ""
    for (name, family) in families.sorted(by: { $0.key < $1.key }) {
      if let help = help[name] { text += "# HELP \(name) \(PrometheusText.escapedHelp(help))\n" }
      text += "# TYPE \(name) \(family.kind.name)\n"
      for (labels, series) in family.series.sorted(by: { $0.key < $1.key }) {
        text += series.text(name: name, labels: labels)
      }
    }
    return text
  }
}

// MARK: - What swift-metrics asks for

extension PrometheusMetrics {
  package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    series(label, dimensions, .counter)
  }

  package func makeFloatingPointCounter(
    label: String, dimensions: [(String, String)]
  ) -> any FloatingPointCounterHandler {
    series(label, dimensions, .counter)
  }

  package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
    series(label, dimensions, .gauge)
  }

  package func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
    series(label, dimensions, aggregate ? .histogram(Self.valueBounds) : .gauge)
  }

  package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    series(label, dimensions, .histogram(Self.timeBounds))
  }

  // Counts stay, because a counter that goes back would look like a restart.
  package func destroyCounter(_ handler: any CounterHandler) {}
  package func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
  package func destroyMeter(_ handler: any MeterHandler) {}
  package func destroyRecorder(_ handler: any RecorderHandler) {}
  package func destroyTimer(_ handler: any TimerHandler) {}
}
