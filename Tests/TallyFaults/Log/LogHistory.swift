import Foundation
import SystemPackage

/// What programs have said about their commits to a bank, in order, and what of that must be there later.
struct LogHistory {
  /// What a program says; each is one line of a file.
  enum Line {
    /// The accounts are there.
    case prepared
    /// A commit begins, which may not take place.
    case begun(LogBank.Move, isDurable: Bool)
    case acknowledged(LogBank.Move, isDurable: Bool)
    /// A snapshot has been read.
    case seen([Int])
    /// All commits up to a number have been flushed.
    case flushed(Int)

    var text: String {
      switch self {
      case .prepared: "prepared"
      case .begun(let move, let isDurable): "begun \(move.program) \(move.count) \(move.number) \(isDurable ? 1 : 0)"
      case .acknowledged(let move, let isDurable):
        "acknowledged \(move.program) \(move.count) \(move.number) \(isDurable ? 1 : 0)"
      case .seen(let counts): "seen " + counts.map(String.init).joined(separator: " ")
      case .flushed(let number): "flushed \(number)"
      }
    }

    /// Reads a line; `nil` for one that was cut off.
    init?(_ text: some StringProtocol) {
      let words = text.split(separator: " ")
      let numbers = words.dropFirst().compactMap { Int($0) }
      func move() -> LogBank.Move { LogBank.Move(program: numbers[0], count: numbers[1], number: numbers[2]) }
      switch (words.first, numbers.count) {
      case ("prepared", 0): self = .prepared
      case ("begun", 4): self = .begun(move(), isDurable: numbers[3] == 1)
      case ("acknowledged", 4): self = .acknowledged(move(), isDurable: numbers[3] == 1)
      case ("seen", LogBank.programCount): self = .seen(numbers)
      case ("flushed", 1): self = .flushed(numbers[0])
      default: return nil
      }
    }
  }

  /// The number of commits that must be there after a power cut.
  private(set) var floor = 0
  /// How many commits each program has begun, and acknowledged.
  private(set) var begun = [Int](repeating: 0, count: LogBank.programCount)
  private(set) var acknowledged = [Int](repeating: 0, count: LogBank.programCount)
  /// The newest state that anybody has seen.
  private(set) var seen = [Int](repeating: 0, count: LogBank.programCount)
  /// For each program the numbers of its durable commits, by its count; one that was begun twice has the last number.
  private var durable = [[Int: Int]](repeating: [:], count: LogBank.programCount)

  mutating func add(_ line: Line) {
    switch line {
    case .prepared: break
    case .begun(let move, let isDurable):
      begun[move.program] = max(begun[move.program], move.count)
      // A commit that a power cut has undone may be made again by a program that does not wait for the disk.
      durable[move.program][move.count] = isDurable ? move.number : nil
    case .acknowledged(let move, let isDurable):
      acknowledged[move.program] = max(acknowledged[move.program], move.count)
      if isDurable { floor = max(floor, move.number) }
    case .seen(let counts):
      for (program, count) in counts.enumerated() where count > seen[program] {
        // What is seen of a durable commit has been flushed.
        for later in seen[program] + 1...count { floor = max(floor, durable[program][later] ?? 0) }
        seen[program] = count
      }
    case .flushed(let number): floor = max(floor, number)
    }
  }

  /// What is wrong with a state after a power cut; `nil` if it may be there.
  func fault(ofCut state: LogBank.State, order: [LogBank.Move]) -> String? {
    if state.number < floor { return "\(state.counts) are there, of at least \(floor) commits" }
    if let fault = faultOfBegun(state) { return fault }
    // The auditor's commits come after all others.
    let number = state.number - state.counts[LogBank.auditor]
    let stray = order.first { ($0.number <= number) != ($0.count <= state.counts[$0.program]) }
    return stray.map { "\(state.counts) are there, which is no beginning of what was made: \($0)" }
  }

  /// What is wrong with a state after kills.
  func fault(ofKilled state: LogBank.State) -> String? {
    let least = zip(acknowledged, seen).map { max($0, $1) }
    guard zip(state.counts, least).allSatisfy({ $0 >= $1 }) else { return "\(state.counts) are there, of \(least)" }
    return faultOfBegun(state)
  }

  /// The same without any promise: what the tree has may be any beginning of the commits.
  var withoutPromises: LogHistory {
    var history = self
    history.floor = 0
    return history
  }

  private func faultOfBegun(_ state: LogBank.State) -> String? {
    guard zip(state.counts, begun).allSatisfy({ $0 <= $1 }) else {
      return "\(state.counts) are there, and \(begun) were begun"
    }
    return nil
  }
}

extension LogHistory {
  /// Reads what programs have said in a file.
  init(_ file: FilePath) {
    for text in ChildProcess.lines(of: file) { if let line = Line(text) { add(line) } }
  }
}

extension FileLog {
  /// What was said in a file, with the events that said so.
  func lines(in file: UInt64) -> [(event: Int, line: LogHistory.Line)] {
    events.enumerated().compactMap { index, event in
      guard case .write(file, _, let bytes, _) = event else { return nil }
      return LogHistory.Line(String(decoding: bytes.dropLast(), as: UTF8.self)).map { (index, $0) }
    }
  }
}
