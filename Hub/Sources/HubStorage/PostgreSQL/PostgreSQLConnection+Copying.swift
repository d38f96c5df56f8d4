import CLibPQ

extension PostgreSQLConnection {
  /// Copies rows from one database to another as they arrive.
  ///
  /// - Parameters:
  ///   - reading: A `COPY … TO STDOUT` here.
  ///   - writing: A `COPY … FROM STDIN` of the same format there.
  ///   - target: The other connection.
  /// - Throws: ``PostgreSQLFault``.
  func copy(_ reading: String, into writing: String, of target: PostgreSQLConnection) throws(PostgreSQLFault) {
    try begin(reading, expecting: PGRES_COPY_OUT)
    try target.begin(writing, expecting: PGRES_COPY_IN)
    while true {
      var bytes: UnsafeMutablePointer<CChar>?
      let count = PQgetCopyData(connection, &bytes, 0)
      defer { PQfreemem(bytes) }
      guard count > 0 else {
        guard count == -1 else { throw .disconnected(message) }
        break
      }
      guard PQputCopyData(target.connection, bytes, count) == 1 else { throw .disconnected(target.message) }
    }
    guard PQputCopyEnd(target.connection, nil) == 1 else { throw .disconnected(target.message) }
    try end()
    try target.end()
  }

  private func begin(_ text: String, expecting status: ExecStatusType) throws(PostgreSQLFault) {
    let result = PQexec(connection, text)
    defer { PQclear(result) }
    guard PQresultStatus(result) == status else { throw .refused(code: "", message: message) }
  }

  private func end() throws(PostgreSQLFault) {
    while let result = PQgetResult(connection) {
      defer { PQclear(result) }
      guard PQresultStatus(result) == PGRES_COMMAND_OK else { throw .refused(code: "", message: message) }
    }
  }
}
