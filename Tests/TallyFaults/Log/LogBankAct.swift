import Foundation
import LMDB
import SystemPackage
import TallyTestSupport

/// A program that uses a bank: `log-bank DIRECTORY FILE PROGRAM SEED COUNT ROLE`.
///
/// It says in the file what it does, and on its output what is wrong. It ends after as many commits or snapshots as given,
/// or when a file `FILE.end` is there.
struct LogBankAct {
  enum Role: String {
    /// Makes the accounts.
    case prepare
    /// Writes, and waits for the disk or not.
    case durable, relaxed
    /// Reads slowly.
    case reader
    /// Opens, writes once and closes.
    case opener
    /// Opens for reading only, and closes.
    case visitor
  }

  private let directory: FilePath
  private let file: FilePath
  private let program: Int
  private let count: Int
  private let role: Role
  private let notebook: FileDescriptor
  private let watchdog: Watchdog
  private var random: SeededGenerator
  private var last = LogBank.State()

  init(_ act: Act) throws {
    (directory, file, program, count) = (try act.path(0), try act.path(1), try act.number(2), try act.number(4))
    guard let role = Role(rawValue: try act.text(5)) else { throw FaultProgram.Misuse() }
    self.role = role
    random = SeededGenerator(seed: try act.number(3))
    notebook = try FileDescriptor.open(
      file, .writeOnly, options: [.create, .append, .closeOnExec], permissions: .ownerReadWrite)
    watchdog = Watchdog(limitInSeconds: 90, directory: directory)
  }

  private func note(_ line: LogHistory.Line) throws { try Self.note(line, in: notebook) }

  private static func note(_ line: LogHistory.Line, in notebook: FileDescriptor) throws {
    try notebook.writeAll("\(line.text)\n".utf8)
  }

  private var isEnding: Bool { FileManager.default.fileExists(atPath: file.string + ".end") }

  mutating func run() throws {
    watchdog.begin("\(role) \(program)")
    switch role {
    case .prepare:
      try LogBank.create(in: directory)
      try note(.prepared)
    case .durable, .relaxed: try write(isDurable: role == .durable)
    case .reader: try readSlowly()
    case .opener: try open()
    case .visitor: try visit()
    }
  }

  /// Commits, reads, and opens again from time to time.
  private mutating func write(isDurable: Bool) throws {
    var bank = try LogBank(in: directory, isDurable: isDurable)
    var left = count
    while left > 0, !isEnding {
      watchdog.begin("a commit of \(program)")
      try write(in: bank, isDurable: isDurable)
      left -= 1
      if random.oneIn(3) { try look(at: bank) }
      if !isDurable, random.oneIn(12) {
        let number = try bank.state().number
        try bank.environment.sync()
        try note(.flushed(number))
      }
      guard random.oneIn(25) else { continue }
      try close(bank, isDurable)
      bank = try LogBank(in: directory, isDurable: isDurable)
    }
    try close(bank, isDurable)
  }

  private mutating func write(in bank: LogBank, isDurable: Bool) throws {
    struct Stop: Error {}
    let (isGivenUp, notebook) = (random.oneIn(15), notebook)
    do {
      let move = try bank.move(as: program, using: &random) { move in
        if isGivenUp { throw Stop() }
        try Self.note(.begun(move, isDurable: isDurable), in: notebook)
      }
      try note(.acknowledged(move, isDurable: isDurable))
    } catch is Stop {}
  }

  /// Relaxed commits are flushed by then.
  private func close(_ bank: LogBank, _ isDurable: Bool) throws {
    let number = isDurable ? 0 : try bank.state().number
    try bank.close()
    if number > 0 { try note(.flushed(number)) }
  }

  /// Reads a snapshot, which must not be older than the last one.
  private mutating func look(at bank: LogBank, pausing microseconds: UInt32 = 0) throws {
    let state = try bank.state(pausing: microseconds)
    guard zip(state.counts, last.counts).allSatisfy({ $0 >= $1 }) else {
      throw Failure(description: "\(state.counts) after \(last.counts)")
    }
    last = state
    try note(.seen(state.counts))
  }

  private mutating func readSlowly() throws {
    let bank = try LogBank(in: directory)
    for _ in 0..<count where !isEnding {
      watchdog.begin("a snapshot")
      try look(at: bank, pausing: UInt32.random(in: 0...20_000, using: &random))
    }
    try bank.close()
  }

  private mutating func open() throws {
    for _ in 0..<count where !isEnding {
      watchdog.begin("an opening")
      let bank = try LogBank(in: directory)
      try look(at: bank)
      try write(in: bank, isDurable: true)
      try bank.close()
    }
  }

  private mutating func visit() throws {
    for _ in 0..<count where !isEnding {
      watchdog.begin("a visit")
      let bank = try LogBank(in: directory, isReadOnly: true)
      try look(at: bank, pausing: 1_000)
      try bank.close()
      usleep(2_000)
    }
  }
}
