import Foundation
import SystemPackage
import Tally

/// The work of a separate process for a suite.
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
    case "check-left-stores": try LeftStoreCheck(self).run()
    case "recover-left-store": try RecoverLeftStoreAct(self).run()
    case "power-cut": try PowerCutAct(self).run()
    case "copy-environment": try CopyAct(self).run()
    case "log-bank":
      var bank = try LogBankAct(self)
      try bank.run()
    case "log-disk": try LogDiskAct(self).run()
    case "check-log-images": try LogImageCheck(self).run()
    case "rival":
      var rival = try RivalAct(self)
      try rival.run()
    case "verify": try VerifyAct(self).run()
    case "busy": try BusyAct(self).run()
    case "copy-itself": try CopyItselfAct(self).run()
    case "read-on": try ReadOnAct(self).run()
    case "write-and-read": try WriteAndReadAct(self).run()
    case "bulk": try BulkAct(self).run()
    case "session":
      var session = try SessionAct(self)
      try session.run()
    case "maintain": try MaintenanceAct(self).run()
    case "small-disk": try SmallDiskAct(self).run()
    case "narrow-disk": try NarrowDiskAct(self).run()
    case "history": try HistoryAct(self).run()
    case "clock": try ClockAct(self).run()
    case "synchronise": try SynchronizeAct(self).run()
    case "check-sync-images": try SyncImageCheck(self).run()
    case "sync-device": try SyncDeviceAct(self).run()
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

/// Writes a line at once: its reader may be waiting, and the buffer of a killed process is lost.
func say(_ line: String) {
  // Without a reader the failure cannot be reported.
  _ = try? FileDescriptor.standardOutput.writeAll("\(line)\n".utf8)
}
