import Foundation
import SystemPackage
import TestSupport
import Testing

/// Programs against the binding and the store that must not compile: what keeps them out is the types, so only a compiler can test it.
@Suite struct RefusedProgramsTests {
  struct Program: Sendable, CustomTestStringConvertible {
    let claim: String
    /// A part of what the compiler prints.
    let diagnostic: String
    /// The body of a function that has an environment, a database and a store.
    let body: String

    var testDescription: String { claim }
  }

  static let refused = [
    Program(
      claim: "bytes cannot be carried out of a read",
      diagnostic: "lifetime-dependent variable 'kept' escapes its scope",
      body: """
        var kept = RawSpan()
        try environment.read { transaction in
          if let bytes = try database.bytes(forKey: 1, in: transaction) { kept = bytes }
        }
        use(kept)
        """
    ),
    Program(
      claim: "bytes cannot outlive their transaction",
      diagnostic: "lifetime-dependent variable 'bytes' escapes its scope",
      body: """
        let bytes: RawSpan?
        do {
          let inner = try environment.beginRead()
          bytes = try database.bytes(forKey: 1, in: inner)
        }
        _ = bytes?.byteCount
        """
    ),
    Program(
      claim: "nothing changes while bytes are held",
      diagnostic: "overlapping accesses to 'transaction'",
      body: """
        var transaction = try environment.beginWrite()
        let bytes = try database.bytes(forKey: 1, in: transaction)
        try database.put([1], forKey: 1, in: &transaction)
        _ = bytes?.byteCount
        """
    ),
    Program(
      claim: "a committed transaction cannot be used",
      diagnostic: "'transaction' used after consume",
      body: """
        var transaction = try environment.beginWrite()
        try transaction.commit()
        try database.put([1], forKey: 1, in: &transaction)
        """
    ),
    Program(
      claim: "a transaction cannot be committed twice",
      diagnostic: "'transaction' consumed more than once",
      body: """
        let transaction = try environment.beginWrite()
        try transaction.commit()
        try transaction.commit()
        """
    ),
    Program(
      claim: "a read transaction cannot write",
      diagnostic: "cannot convert value of type 'ReadTransaction' to expected argument type 'WriteTransaction'",
      body: """
        var transaction = try environment.beginRead()
        try database.put([1], forKey: 1, in: &transaction)
        """
    ),
    Program(
      claim: "the transaction of a read cannot be kept",
      diagnostic: "missing reinitialization of inout parameter 'transaction' after consume",
      body: """
        func keep(_ transaction: consuming ReadTransaction) {}
        try environment.read { transaction in keep(transaction) }
        """
    ),
    Program(
      claim: "the transaction of a read cannot be used later",
      diagnostic: "escaping closure captures 'inout' parameter 'transaction'",
      body: """
        try environment.read { transaction in
          _ = Task { try database.count(in: transaction) }
        }
        """
    ),
    Program(
      claim: "a snapshot of a store cannot be used later",
      diagnostic: "escaping closure captures 'inout' parameter 'snapshot'",
      body: """
        try store.read { snapshot in
          _ = Task { try snapshot.lists() }
        }
        """
    ),
    Program(
      claim: "a snapshot of a store cannot be used by a lazy collection",
      diagnostic: "escaping closure captures 'inout' parameter 'snapshot'",
      body: """
        _ = try store.read { snapshot in
          let tasks = try snapshot.view(.all).tasks
          return tasks.lazy.map { try? snapshot.task($0.id) }.count
        }
        """
    ),
    Program(
      claim: "a snapshot of a store cannot be kept",
      diagnostic: "implicit conversion to 'StoreReadTransaction?'",
      body: """
        var kept: StoreReadTransaction?
        try store.read { snapshot in kept = snapshot }
        _ = kept
        """
    ),
    Program(
      claim: "the inside of a transaction cannot be kept",
      diagnostic: "lifetime-dependent variable 'inside' escapes its scope",
      body: """
        let inside: TransactionAccess
        do {
          let transaction = try environment.beginRead()
          inside = transaction.access
        }
        _ = consume inside
        """
    ),
    Program(
      claim: "a cursor cannot outlive its transaction",
      diagnostic: "lifetime-dependent variable 'cursor' escapes its scope",
      body: """
        func open() throws -> Int {
          var cursor: Cursor<UInt64, [UInt8]>
          do {
            let transaction = try environment.beginRead()
            cursor = try database.cursor(in: transaction)
          }
          return try cursor.next() ? 1 : 0
        }
        """
    ),
    Program(
      claim: "bytes at a cursor end when it moves",
      diagnostic: "overlapping accesses to 'cursor'",
      body: """
        let transaction = try environment.beginRead()
        var cursor = try database.cursor(in: transaction)
        _ = try cursor.next()
        let bytes = cursor.valueBytes
        _ = try cursor.next()
        use(bytes)
        """
    ),
    Program(
      claim: "nothing changes while a cursor is open",
      diagnostic: "overlapping accesses to 'transaction'",
      body: """
        var transaction = try environment.beginWrite()
        var cursor = try database.cursor(in: transaction)
        try database.remove(forKey: 1, in: &transaction)
        _ = try cursor.next()
        """
    ),
    Program(
      claim: "nothing else uses a transaction while a cursor may remove",
      diagnostic: "overlapping accesses to 'transaction'",
      body: """
        var transaction = try environment.beginWrite()
        var cursor = try database.writeCursor(in: &transaction)
        let bytes = try database.bytes(forKey: 1, in: transaction)
        _ = try cursor.remove()
        _ = bytes?.byteCount
        """
    ),
    Program(
      claim: "bytes at a cursor end when it removes",
      diagnostic: "overlapping accesses to 'cursor'",
      body: """
        var transaction = try environment.beginWrite()
        var cursor = try database.writeCursor(in: &transaction)
        _ = try cursor.next()
        let bytes = cursor.valueBytes
        _ = try cursor.remove()
        use(bytes)
        """
    ),
    Program(
      claim: "a cursor that only borrows its transaction removes nothing",
      diagnostic: "requires the types 'ReadAccess' and 'WriteAccess' be equivalent",
      body: """
        let transaction = try environment.beginWrite()
        var cursor = try database.cursor(in: transaction)
        _ = try cursor.remove()
        """
    ),
    Program(
      claim: "a parent cannot be used inside its nested transaction",
      diagnostic: "overlapping accesses to 'transaction'",
      body: """
        var transaction = try environment.beginWrite()
        try transaction.nested { nested in
          try database.put([1], forKey: 1, in: &transaction)
        }
        """
    ),
    Program(
      claim: "a write transaction does not begin where a thread may change",
      diagnostic: "unavailable from asynchronous contexts",
      body: """
        func later() async throws { _ = try environment.beginWrite() }
        """
    ),
  ]

  @Test(arguments: refused)
  func compilerRefuses(program: Program) throws {
    let output = try compile(program.body)
    #expect(output.contains("error:") && output.contains(program.diagnostic), "\(output)")
  }

  @Test func compilerAcceptsTheSameThingsInTheirPlace() throws {
    let output = try compile(
      """
      try environment.read { transaction in
        if let bytes = try database.bytes(forKey: 1, in: transaction) { use(bytes) }
        var cursor = try database.cursor(in: transaction)
        while try cursor.next() { use(cursor.valueBytes) }
      }
      _ = try store.read { snapshot in
        func place(of task: TaskItem) throws -> String {
          try task.listID.flatMap { try snapshot.list($0)?.name } ?? "inbox"
        }
        return try snapshot.view(.all).tasks.map(place)
      }
      var transaction = try environment.beginWrite()
      try database.put([1], forKey: 1, in: &transaction)
      try transaction.nested { try database.put([2], forKey: 2, in: &$0) }
      do {
        var cursor = try database.writeCursor(in: &transaction)
        while try cursor.next() { _ = try cursor.remove() }
      }
      try transaction.commit()
      """
    )
    #expect(output == "")
  }

  /// Returns what the compiler prints about a body.
  private func compile(_ body: String) throws -> String {
    let directory = try TemporaryDirectory()
    let file = directory.path.appending("Program.swift").string
    let program = """
      import LMDB
      import Tally
      func use(_ bytes: RawSpan) {}
      func run(_ environment: LMDBEnvironment, _ database: Database<UInt64, [UInt8]>, _ store: TaskStore) throws {
      \(body)
      }
      """
    try program.write(toFile: file, atomically: true, encoding: .utf8)
    let build = HelperProcess.directoryOfBuild
    let sources = URL(fileURLWithPath: "\(#filePath)/../../..").standardized
    // Beside the binding's module those of the C code it was compiled against.
    let moduleMaps = [
      sources.appendingPathComponent("Sources/CLMDB/module.modulemap"),
      sources.appendingPathComponent("Sources/CTallySystem/module.modulemap"),
      build.appendingPathComponent("../../checkouts/swift-system/Sources/CSystem/include/module.modulemap"),
    ]
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      // Lifetimes are checked after type checking, so the whole program is compiled, and the result is discarded.
      "swiftc", "-c", "-o", "/dev/null", "-swift-version", "6", "-parse-as-library",
      "-enable-experimental-feature", "Lifetimes", "-I", build.appendingPathComponent("Modules").path, file,
    ]
    for map in moduleMaps { process.arguments? += ["-Xcc", "-fmodule-map-file=\(map.standardized.path)"] }
    let output = Pipe()
    process.standardError = output
    process.standardOutput = output
    try process.run()
    let said = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: said, as: UTF8.self)
  }
}
