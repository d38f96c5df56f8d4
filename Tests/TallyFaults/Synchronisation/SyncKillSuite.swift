import Foundation
import SystemPackage
import Tally
import TallyTestSupport

/// Devices that change tasks and synchronise through one folder, killed at random moments.
enum SyncKillSuite {
  private static let roundsWithOneSpace = 10

  static func run(_ run: inout FaultRun) throws -> String {
    let roundCount = run.count("SYNC_KILL_ROUNDS", short: 4, long: 150)
    var generator = SeededGenerator(seed: run.seed)
    var (killCount, commitCount) = (0, 0)
    for first in stride(from: 0, to: roundCount, by: roundsWithOneSpace) {
      try withScratch { directory in
        let space = KilledSpace(directory: directory, seed: run.seed &+ UInt64(first))
        try space.setUp()
        var histories: [SyncHistory] = []
        for round in first..<min(first + roundsWithOneSpace, roundCount) {
          run.advance(to: round, of: roundCount)
          killCount += try kill(in: space, round, &run, using: &generator)
          let fault = try space.check(&histories)
          if let fault { run.fail("round \(round): \(fault)") }
        }
        commitCount += histories.reduce(0) { $0 + $1.count }
      }
    }
    run.note(killCount, .kills)
    run.require(killCount > roundCount, "only \(killCount) processes were killed: the suite proves nothing")
    run.require(commitCount > 0, "there were no commits: the suite proves nothing")
    return "\(killCount) processes killed in \(roundCount) rounds, over \(commitCount) commits"
  }

  /// Starts all devices and kills each after a while; returns how many had not ended by themselves.
  private static func kill(
    in space: KilledSpace, _ round: Int, _ run: inout FaultRun, using generator: inout SeededGenerator
  ) throws -> Int {
    let devices = try space.start()
    usleep(UInt32.random(in: 20_000...250_000, using: &generator))
    var killCount = 0
    for device in devices.shuffled(using: &generator) {
      killCount += device.kill() ? 1 : 0
      usleep(UInt32.random(in: 0...60_000, using: &generator))
    }
    for device in devices where !device.lines.isEmpty { run.fail("round \(round): \(device.lines)") }
    return killCount
  }
}

/// Devices with stores of their own that share one folder.
private struct KilledSpace {
  let directory: FilePath
  let seed: UInt64

  private static let numbers: [UInt8] = [1, 2, 3]

  private var folder: FilePath { directory.appending("folder") }

  private func device(_ number: UInt8) throws -> SyncDevice {
    try SyncDevice(at: directory.appending("device-\(number)"), folder: folder)
  }

  private func acknowledgements(_ number: UInt8) -> FilePath { directory.appending("device-\(number).acknowledged") }

  func setUp() throws {
    try FileManager.default.createDirectory(atPath: folder.string, withIntermediateDirectories: false)
    var invitation: String?
    for number in Self.numbers {
      let device = try device(number)
      if let invitation {
        try device.join(invitation)
      } else {
        invitation = try device.setUp()
        try SyncHistory.addShared(to: device.store)
      }
      try device.synchronize()
      try device.store.close()
    }
  }

  func start() throws -> [ChildProcess] {
    try Self.numbers.map { number in
      try ChildProcess.act(
        [
          "sync-device", directory.appending("device-\(number)").string, folder.string,
          acknowledgements(number).string, "\(number)", "\(seed)",
        ],
        output: directory.appending("device-\(number).out"))
    }
  }

  /// Lets all devices synchronise; each acknowledged commit must then be everywhere.
  func check(_ histories: inout [SyncHistory]) throws -> String? {
    let devices = try Self.numbers.map { try device($0) }
    histories = []
    for (number, device) in zip(Self.numbers, devices) {
      var history = SyncHistory(of: number, seed: seed)
      history.advance(to: try history.count(in: device.store))
      let acknowledged = ChildProcess.lines(of: acknowledgements(number)).compactMap { Int($0) }.last ?? 0
      guard (acknowledged...acknowledged + 1).contains(history.count) else {
        return "device \(number) acknowledged \(acknowledged) commits and has \(history.count)"
      }
      histories.append(history)
    }
    let fault = try SyncedDevices(devices).fault(after: histories)
    for device in devices { try device.store.close() }
    return fault
  }
}

/// A device that works until it is killed: `sync-device DIRECTORY FOLDER FILE NUMBER SEED`; it acknowledges its commits
/// in a file.
struct SyncDeviceAct {
  private let directory: FilePath
  private let folder: FilePath
  private let acknowledgements: FilePath
  private let number: UInt8
  private let seed: UInt64

  private static let exchangesPerOpening = 8

  init(_ act: Act) throws {
    directory = try act.path(0)
    folder = try act.path(1)
    acknowledgements = try act.path(2)
    number = try act.number(3)
    seed = try act.number(4)
  }

  func run() throws {
    let file = try FileDescriptor.open(
      acknowledgements, .writeOnly, options: [.create, .append, .closeOnExec], permissions: .ownerReadWrite)
    while true {
      let device = try SyncDevice(at: directory, folder: folder)
      var history = SyncHistory(of: number, seed: seed)
      history.advance(to: try history.count(in: device.store))
      // A predecessor may have died between its commit and its acknowledgement.
      try file.writeAll("\(history.count)\n".utf8)
      for _ in 0..<Self.exchangesPerOpening {
        for _ in 0..<Int.random(in: 0...2) {
          try history.commit(to: device.store)
          try file.writeAll("\(history.count)\n".utf8)
        }
        try device.synchronize()
      }
      try device.store.close()
    }
  }
}
