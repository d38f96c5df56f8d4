import CoreMetrics
import Synchronization

/// The type of a metric, as Prometheus calls it.
enum PrometheusKind: Equatable {
  case counter
  case gauge
  /// A histogram, with the upper ends of its buckets.
  case histogram([Double])

  var name: String {
    switch self {
    case .counter: "counter"
    case .gauge: "gauge"
    case .histogram: "histogram"
    }
  }

  var bounds: [Double] { if case .histogram(let bounds) = self { bounds } else { [] } }
}

/// The values under one name with one set of labels.
final class PrometheusSeries: Sendable {
  private struct State {
    /// The value of a counter or gauge, or the sum of a histogram.
    var value = 0.0
    /// The number of values in each bucket of a histogram; the last one has no upper end.
    var counts: [Int]
  }

  private let kind: PrometheusKind
  private let state: Mutex<State>

  init(_ kind: PrometheusKind) {
    self.kind = kind
    state = Mutex(State(counts: Array(repeating: 0, count: kind.bounds.count + 1)))
  }

  private func add(_ value: Double) { state.withLock { $0.value += value } }

  private func replace(by value: Double) { state.withLock { $0.value = value } }

  private func observe(_ value: Double) {
    let part = kind.bounds.firstIndex { value <= $0 } ?? kind.bounds.count
    state.withLock { state in
      state.value += value
      state.counts[part] += 1
    }
  }

  /// The lines of the values.
  func text(name: String, labels: String) -> String {
    let state = state.withLock { $0 }
    guard case .histogram(let bounds) = kind else { return PrometheusText.line(name, labels, state.value) }
    var (text, count) = ("", 0)
    for (bound, partCount) in zip(bounds + [.infinity], state.counts) {
      count += partCount
      let bound = "le=\"\(PrometheusText.number(bound))\""
      text += PrometheusText.line("\(name)_bucket", labels.isEmpty ? bound : "\(labels),\(bound)", Double(count))
    }
    return text + PrometheusText.line("\(name)_sum", labels, state.value)
      + PrometheusText.line("\(name)_count", labels, Double(count))
  }
}

// MARK: - What swift-metrics calls

extension PrometheusSeries: CounterHandler, FloatingPointCounterHandler {
  func increment(by amount: Int64) { increment(by: Double(amount)) }

  // A counter that goes down would look like a restart.
  func increment(by amount: Double) { if kind != .counter || amount > 0 { add(amount) } }

  func reset() {}
}

extension PrometheusSeries: MeterHandler {
  func set(_ value: Int64) { set(Double(value)) }

  func set(_ value: Double) { replace(by: value) }

  func decrement(by amount: Double) { add(-amount) }
}

extension PrometheusSeries: RecorderHandler, TimerHandler {
  func record(_ value: Int64) { record(Double(value)) }

  func record(_ value: Double) { if kind == .gauge { replace(by: value) } else { observe(value) } }

  func recordNanoseconds(_ duration: Int64) { observe(Double(duration) / 1e9) }
}
