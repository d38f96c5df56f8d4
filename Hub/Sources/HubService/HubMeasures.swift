import CoreMetrics
import HTTPTypes
import HubStorage
import Hummingbird
import Synchronization

/// The counts and measurements of a hub.
///
/// No label has an id, a path or a text of a client: there are as many series as routes, statuses and reasons.
package final class HubMeasures: Sendable {
  private struct Request: Hashable {
    let route: String
    let method: String
    let status: Int
  }

  private let factory: any MetricsFactory
  private let segments: Counter
  private let bytes: Counter
  private let waiting: Gauge
  private let requests = Mutex<[Request: Counter]>([:])
  private let durations = Mutex<[String: CoreMetrics.Timer]>([:])
  private let gauges = Mutex<[String: Gauge]>([:])
  private let refusals = Mutex<[String: Counter]>([:])

  /// A sentence for each name.
  package static let help = [
    "tally_hub_requests_total": "Requests by route, method and status.",
    "tally_hub_request_seconds": "Time until a request was answered, by route.",
    "tally_hub_waiting_requests": "Requests that wait for a change now.",
    "tally_hub_appended_segments_total": "Segments that were stored.",
    "tally_hub_appended_bytes_total": "Bytes of segments that were stored.",
    "tally_hub_refusals_total": "Requests and segments that were refused, by reason.",
    "tally_hub_bytes_in_flight": "Bytes of requests and answers that are in memory now.",
    "tally_hub_store_bytes": "The size of the data file or of the databases.",
    "tally_hub_disk_free_bytes": "Free bytes on the disk that holds the directory.",
    "tally_hub_database_answers": "Databases that answered the last health check.",
    "tally_hub_database_connections": "Open connections to databases.",
    "tally_hub_database_connections_busy": "Connections that wait for an answer.",
    "tally_hub_database_connections_wanted": "Connections to databases that the hub tries to have.",
    "tally_hub_database_waiting": "Statements that wait for a connection.",
    "tally_hub_database_waiting_bytes": "Bytes of statements that wait for a connection.",
  ]

  init(_ factory: any MetricsFactory) {
    self.factory = factory
    segments = Counter(label: "tally_hub_appended_segments_total", factory: factory)
    bytes = Counter(label: "tally_hub_appended_bytes_total", factory: factory)
    waiting = Gauge(label: "tally_hub_waiting_requests", factory: factory)
  }

  func setWaiting(_ count: Int) { waiting.record(count) }

  /// Sets the gauges of the store and the connections.
  func set(_ values: [String: Double]) {
    gauges.withLock { gauges in
      for (name, value) in values {
        let gauge = gauges[name] ?? Gauge(label: name, factory: factory)
        gauges[name] = gauge
        gauge.record(value)
      }
    }
  }

  /// Counts the segments of a request by their answers.
  func noteAppended(_ sent: [[UInt8]], _ answers: [HubAppendAnswer]) {
    for (bytes, answer) in zip(sent, answers) {
      switch answer {
      case .stored:
        segments.increment()
        self.bytes.increment(by: bytes.count)
      case .known: continue
      case .fork: noteRefusal("fork")
      case .gap: noteRefusal("gap")
      case .quota: noteRefusal("quota")
      case .denied: noteRefusal("denied")
      }
    }
  }

  /// Counts a request that was answered.
  func noteRequest(_ method: HTTPRequest.Method, on route: String?, status: Int, took duration: Duration) {
    // A client may invent paths and methods; for an unknown path the router gives a word without a slash as the route.
    let isKnown = route?.hasPrefix("/") == true
    let request = Request(
      route: isKnown ? route ?? "" : "none", method: isKnown ? method.rawValue : "any", status: status)
    let counter = requests.withLock { known in
      if let counter = known[request] { return counter }
      let dimensions = [("route", request.route), ("method", request.method), ("status", "\(status)")]
      let counter = Counter(label: "tally_hub_requests_total", dimensions: dimensions, factory: factory)
      known[request] = counter
      return counter
    }
    counter.increment()
    let timer = durations.withLock { known in
      if let timer = known[request.route] { return timer }
      let timer = Timer(label: "tally_hub_request_seconds", dimensions: [("route", request.route)], factory: factory)
      known[request.route] = timer
      return timer
    }
    timer.recordNanoseconds(Int64(duration / .nanoseconds(1)))
  }

  func noteRefusal(_ reason: String) {
    refusals.withLock { known in
      let counter =
        known[reason] ?? Counter(label: "tally_hub_refusals_total", dimensions: [("reason", reason)], factory: factory)
      known[reason] = counter
      counter.increment()
    }
  }
}

/// Measures every request.
struct HubMeasuresMiddleware: RouterMiddleware {
  let measures: HubMeasures

  func handle(
    _ request: Request, context: HubContext,
    next: (Request, HubContext) async throws -> Response
  ) async throws -> Response {
    let start = ContinuousClock.now
    func note(_ status: HTTPResponse.Status) {
      measures.noteRequest(
        request.method, on: context.endpointPath, status: status.code, took: ContinuousClock.now - start)
    }
    do {
      let response = try await next(request, context)
      note(response.status)
      return response
    } catch {
      let status = (error as? any HTTPResponseError)?.status ?? .internalServerError
      note(status)
      measures.noteRefusal(status.reasonOfRefusal)
      throw error
    }
  }
}

extension HTTPResponse.Status {
  /// The label of a refusal.
  fileprivate var reasonOfRefusal: String {
    switch code {
    case 400: "malformed"
    case 401: "token"
    case 403: "denied"
    case 404: "missing"
    case 409: "conflict"
    case 413: "size"
    case 429: "rate"
    case 507: "quota"
    case 500...: "failure"
    default: "other"
    }
  }
}
