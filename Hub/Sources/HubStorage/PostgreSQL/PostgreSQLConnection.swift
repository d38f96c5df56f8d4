import CLibPQ
import Foundation

/// A statement with parameters.
struct PostgreSQLQuery: Sendable {
  /// The text, by which a connection finds the prepared statement.
  let text: String
  let parameters: [PostgreSQLValue]

  init(_ text: String, _ parameters: [PostgreSQLValue] = []) { (self.text, self.parameters) = (text, parameters) }
}

/// The reason why a statement has no answer.
enum PostgreSQLFault: Error, Hashable {
  /// The connection is missing or has ended; whether the statement took effect is unknown.
  case disconnected(String)
  /// The server refuses the statement, with the code of the error (SQLSTATE).
  case refused(code: String, message: String)
}

/// A connection to a PostgreSQL server (libpq), used by one thread at a time.
///
/// It waits with `poll`, so that it notices a server that no longer answers.
final class PostgreSQLConnection {
  typealias Answer = Result<[PostgreSQLRow], PostgreSQLFault>

  let connection: OpaquePointer
  /// The names of prepared statements, by their text.
  private var prepared: [String: String] = [:]
  private var preparedCount = 0

  private let answerTimeoutInMilliseconds: Int32

  /// The limit for requests; a migration or a move may take as long as it needs.
  static let requestTimeoutInMilliseconds: Int32 = 10_000
  static let noTimeout: Int32 = -1

  /// Connects.
  ///
  /// - Parameters:
  ///   - text: A connection string of libpq, as pairs or as an address.
  ///   - timeout: How long to wait for each answer.
  /// - Throws: ``PostgreSQLFault/disconnected(_:)``.
  init(to text: String, timeoutInMilliseconds timeout: Int32 = requestTimeoutInMilliseconds) throws(PostgreSQLFault) {
    answerTimeoutInMilliseconds = timeout
    // The pairs of the text come last, because the last value counts.
    let pairs = [
      ("connect_timeout", "3"), ("tcp_user_timeout", "10000"), ("application_name", "tally-hub"), ("dbname", text),
    ]
    guard let connection = Self.connect(pairs) else {
      throw .disconnected("The memory is not enough for a connection.")
    }
    self.connection = connection
    // An error ends the connection in `deinit`.
    guard PQstatus(connection) == CONNECTION_OK else { throw .disconnected(message) }
    for statement in [
      "SET client_min_messages = warning", "SET search_path = tally_hub",
      "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'",
    ] { try execute(statement) }
  }

  deinit { PQfinish(connection) }

  private static func connect(_ pairs: [(String, String)]) -> OpaquePointer? {
    let texts = pairs.flatMap { [strdup($0.0), strdup($0.1)] }
    defer { for text in texts { free(text) } }
    var keys = stride(from: 0, to: texts.count, by: 2).map { UnsafePointer(texts[$0]) } + [nil]
    var values = stride(from: 1, to: texts.count, by: 2).map { UnsafePointer(texts[$0]) } + [nil]
    return PQconnectdbParams(&keys, &values, 1)
  }

  /// The message of the last error.
  var message: String {
    String(cString: PQerrorMessage(connection)).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// The descriptor to `poll`.
  var socket: Int32 { PQsocket(connection) }

  /// Runs one or several statements without parameters and without an answer, as one transaction.
  func execute(_ text: String) throws(PostgreSQLFault) {
    guard PQsendQuery(connection, text) == 1 else { throw .disconnected(message) }
    var fault: PostgreSQLFault?
    while let result = try nextResult() {
      defer { PQclear(result) }
      if case .failure(let refusal) = Self.answer(in: result), fault == nil { fault = refusal }
    }
    if let fault { throw fault }
  }

  /// Sends statements at once, each as a transaction of its own, and waits for all answers (pipeline mode).
  ///
  /// - Returns: An answer for each; after the connection has ended, the rest are ``PostgreSQLFault/disconnected(_:)``.
  func run(_ queries: [PostgreSQLQuery]) -> [Answer] {
    var answers: [Answer] = []
    do throws(PostgreSQLFault) {
      guard PQenterPipelineMode(connection) == 1 else { throw .disconnected(message) }
      var isNew: [Bool] = []
      for query in queries { isNew.append(try send(query)) }
      for (query, isNew) in zip(queries, isNew) { answers.append(try answer(to: query, isNew: isNew)) }
      PQexitPipelineMode(connection)
    } catch {
      answers += Array(repeating: .failure(error), count: queries.count - answers.count)
    }
    return answers
  }

  /// - Returns: Whether the statement is prepared with it, which has an answer of its own.
  private func send(_ query: PostgreSQLQuery) throws(PostgreSQLFault) -> Bool {
    var isNew = false
    if prepared[query.text] == nil {
      preparedCount += 1
      let name = "s\(preparedCount)"
      guard PQsendPrepare(connection, name, query.text, 0, nil) == 1 else { throw .disconnected(message) }
      (prepared[query.text], isNew) = (name, true)
    }
    guard Self.send(query.parameters, to: prepared[query.text] ?? "", on: connection),
      PQpipelineSync(connection) == 1
    else { throw .disconnected(message) }
    return isNew
  }

  private static func send(_ parameters: [PostgreSQLValue], to name: String, on connection: OpaquePointer) -> Bool {
    let encoded = parameters.map(\.encoded)
    let lengths = encoded.map { Int32($0?.count ?? 0) }
    let formats = [Int32](repeating: 1, count: encoded.count)
    // All parameters are in one buffer, so that their addresses are valid as long as it is.
    return encoded.flatMap { $0 ?? [] }.withUnsafeBytes { buffer in
      // An empty value must not become a missing one.
      var offset = 0
      let empty = UnsafeRawPointer(bitPattern: 1)
      let values = encoded.map { bytes -> UnsafePointer<CChar>? in
        defer { offset += bytes?.count ?? 0 }
        guard bytes != nil else { return nil }
        return (buffer.baseAddress.map { $0 + offset } ?? empty)?.assumingMemoryBound(to: CChar.self)
      }
      return PQsendQueryPrepared(connection, name, Int32(values.count), values, lengths, formats, 1) == 1
    }
  }

  private func answer(to query: PostgreSQLQuery, isNew: Bool) throws(PostgreSQLFault) -> Answer {
    var answers: [Answer] = []
    for _ in 0..<(isNew ? 2 : 1) {
      while let result = try nextResult() {
        defer { PQclear(result) }
        answers.append(Self.answer(in: result))
      }
    }
    // The commit comes last: without it the statement may have done nothing, and later answers cannot be distinguished.
    let end = try nextResult()
    defer { PQclear(end) }
    guard PQresultStatus(end) == PGRES_PIPELINE_SYNC else { throw .disconnected(message) }
    if isNew, case .failure(let fault) = answers.first {
      prepared[query.text] = nil
      return .failure(fault)
    }
    guard let last = answers.last else { throw .disconnected("The server gave no answer.") }
    return last
  }

  /// Waits for the next result; `nil` at the end of a statement.
  private func nextResult() throws(PostgreSQLFault) -> OpaquePointer? {
    while true {
      guard PQflush(connection) >= 0 else { throw .disconnected(message) }
      if PQisBusy(connection) == 0 { break }
      guard try waitForInput(milliseconds: answerTimeoutInMilliseconds) else {
        throw .disconnected("The server does not answer.")
      }
    }
    guard PQstatus(connection) == CONNECTION_OK else { throw .disconnected(message) }
    return PQgetResult(connection)
  }

  /// Whether the server has ended the connection while nothing was sent, as after a restart.
  var hasEnded: Bool {
    var descriptor = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    guard poll(&descriptor, 1, 0) != 0 else { return false }
    return PQconsumeInput(connection) == 0 || PQstatus(connection) != CONNECTION_OK
  }

  private func waitForInput(milliseconds: Int32) throws(PostgreSQLFault) -> Bool {
    var descriptor = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    guard poll(&descriptor, 1, milliseconds) > 0 else { return false }
    guard PQconsumeInput(connection) == 1 else { throw .disconnected(message) }
    return true
  }

  private static func answer(in result: OpaquePointer) -> Answer {
    switch PQresultStatus(result) {
    case PGRES_TUPLES_OK: return .success((0..<PQntuples(result)).map { row(Int($0), of: result) })
    case PGRES_COMMAND_OK: return .success([])
    default:
      let code = PQresultErrorField(result, Int32(Character("C").asciiValue ?? 0)).map { String(cString: $0) } ?? ""
      let message = String(cString: PQresultErrorMessage(result)).trimmingCharacters(in: .whitespacesAndNewlines)
      return .failure(.refused(code: code, message: message))
    }
  }

  private static func row(_ number: Int, of result: OpaquePointer) -> PostgreSQLRow {
    PostgreSQLRow(
      (0..<PQnfields(result)).map { column in
        guard PQgetisnull(result, Int32(number), column) == 0 else { return nil }
        let count = Int(PQgetlength(result, Int32(number), column))
        return PQgetvalue(result, Int32(number), column).map {
          Array(UnsafeRawBufferPointer(start: $0, count: count))
        }
      })
  }
}

// MARK: - Notifications

extension PostgreSQLConnection {
  /// The texts of notifications that have arrived; reads what the socket has.
  func notifications() throws(PostgreSQLFault) -> [String] {
    guard PQconsumeInput(connection) == 1, PQstatus(connection) == CONNECTION_OK else { throw .disconnected(message) }
    var texts: [String] = []
    while let notification = PQnotifies(connection) {
      defer { PQfreemem(notification) }
      // The connection also gets its own notifications.
      if notification.pointee.be_pid != PQbackendPID(connection) {
        texts.append(String(cString: notification.pointee.extra))
      }
    }
    return texts
  }
}
