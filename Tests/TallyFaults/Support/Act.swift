import Foundation
import SystemPackage
import Tally

/// What a process of its own does for a suite.
struct Act {
  let name: String
  let arguments: [String]

  init(_ arguments: [String]) throws {
    guard let name = arguments.first else { throw FaultProgram.Misuse() }
    self.name = name
    self.arguments = Array(arguments.dropFirst())
  }

  func run() throws {
    switch name {
    case "workload": try WorkloadAct(self).run()
    case "check-images": try CrashImageCheck(self).run()
    case "rival":
      var rival = try RivalAct(self)
      try rival.run()
    case "bulk": try BulkAct(self).run()
    case "session":
      var session = try SessionAct(self)
      try session.run()
    case "small-disk": try SmallDiskAct(self).run()
    case "narrow-disk": try NarrowDiskAct(self).run()
    case "history": try HistoryAct(self).run()
    case "check-damage": try DamageCheck(self).run()
    default: throw FaultProgram.Misuse()
    }
  }

  func text(_ index: Int) throws -> String {
    guard arguments.indices.contains(index) else { throw FaultProgram.Misuse() }
    return arguments[index]
  }

  func path(_ index: Int) throws -> FilePath {
    FilePath(try text(index))
  }

  func number<Number: FixedWidthInteger>(_ index: Int) throws -> Number {
    guard let number = Number(try text(index)) else { throw FaultProgram.Misuse() }
    return number
  }
}

/// Writes a line at once: whoever reads it may be waiting, and a killed process has no buffer left.
func say(_ line: String) {
  // Without a reader there is nobody to tell of the failure.
  _ = try? FileDescriptor.standardOutput.writeAll("\(line)\n".utf8)
}
