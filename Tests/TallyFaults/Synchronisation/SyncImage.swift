import Foundation
import SystemPackage
import Tally
import TallySync
import TallyTestSupport

/// The first device of a pair after a power cut, and the second one, which has an earlier state of the folder.
struct SyncImage {
  let pair: SyncedPair
  let store: CutDisk
  let folder: CutDisk
  let reports: SyncReports
  /// Whether the folder's disk ignores flushes: then a fault there is looked for, and the rest is left out.
  let isControl: Bool

  /// The fault of the image or of its use; `nil` if there is none.
  func fault(using generator: inout SeededGenerator) throws -> String? {
    let torn = try place(using: &generator)
    guard torn.isEmpty else { return "torn in the folder: \(torn)" }
    do {
      let (a, b) = (try SyncDevice(at: pair.a), try SyncDevice(at: pair.b))
      let fault = try fault(of: a, b, using: &generator)
      for device in [a, b] { try device.store.close() }
      return fault
    } catch {
      return "refused: \(error)"
    }
  }

  private func fault(of a: SyncDevice, _ b: SyncDevice, using generator: inout SeededGenerator) throws -> String? {
    var (history, other) = (pair.history(of: SyncedPair.first), pair.history(of: SyncedPair.second))
    let count = try history.count(in: a.store)
    guard ((pair.isRelaxed ? 0 : reports.committed)...reports.begun).contains(count) else {
      return "\(count) commits in the store; \(reports.committed) acknowledged, \(reports.begun) begun"
    }
    if let fault = try faultOfFolder() { return fault }
    if isControl { return nil }
    other.advance(to: try other.count(in: b.store))
    if generator.oneIn(2) { try FolderCopier.copy(from: b.folder, to: a.folder) }
    let devices = SyncedDevices([a, b])
    if let fault = try devices.fault(after: [other], exchanging: pair.exchange) { return fault }
    // Commits that the store had lost have come back from the folder.
    history.advance(to: max(count, try history.count(in: a.store)))
    guard history.count >= reports.published else { return "\(history.count) commits, \(reports.published) were sent" }
    try history.commit(to: a.store)
    return try devices.fault(after: [history, other], exchangeCount: 2, exchanging: pair.exchange)
  }

  /// Writes the image and the second device, and returns the files of the first device in the folder that are torn.
  private func place(using generator: inout SeededGenerator) throws -> [String] {
    try? FileManager.default.removeItem(atPath: pair.live.string)
    try FileManager.default.createDirectory(atPath: pair.a.string, withIntermediateDirectories: true)
    try FileManager.default.copyItem(atPath: pair.checkpoint(reports.checkpoint).string, toPath: pair.b.string)
    // In a quarter of the images each: both disks lose something, twice; the store's alone; the folder's alone.
    let loser = Int.random(in: 0..<4, using: &generator)
    let isNewest = generator.oneIn(4)
    try store.place(
      at: pair.a.appending("store"), newestNameOnly: isNewest && loser < 3, isIntact: loser == 3, using: &generator)
    let ofFolder = pair.a.appending("folder")
    if generator.oneIn(2) {
      // The program that copies the folder was quick: the other device has what the processes saw, flushed or not.
      try folder.place(at: ofFolder, isIntact: true, using: &generator)
      try pair.exchange()
      try FileManager.default.removeItem(atPath: ofFolder.string)
    }
    let torn = try folder.place(
      at: ofFolder, newestNameOnly: isNewest && loser != 2, isIntact: loser == 2, using: &generator)
    for device in [pair.a, pair.b] { try SyncDevice.keepIdentity(at: device) }
    let (isOfSecond, names) = (try pair.isOfSecond(), try Set(FolderCopier.files(in: ofFolder)))
    return torn.map { $0.string.replacing(ofFolder.string + "/", with: "") }
      .filter { names.contains($0) && !isOfSecond($0) }
  }

  /// The fault of the folder alone: a new device must find all there that the first one has reported as sent.
  private func faultOfFolder() throws -> String? {
    guard reports.published > 0 else { return nil }
    let directory = pair.live.appending("c")
    try FileManager.default.createDirectory(
      atPath: directory.appending("folder").string, withIntermediateDirectories: true)
    try FolderCopier.copy(from: pair.a.appending("folder"), to: directory.appending("folder"))
    let device = try SyncDevice(at: directory)
    try device.join(pair.readInvitation())
    try device.synchronize()
    var history = pair.history(of: SyncedPair.first)
    let count = try history.count(in: device.store)
    guard count >= reports.published else {
      return "\(count) commits in the folder, \(reports.published) reported as sent"
    }
    history.advance(to: count)
    let fault = try history.fault(of: device.store, besidesShared: true)
    try device.store.close()
    return fault.map { "in the folder: \($0)" }
  }
}

/// Devices that must agree.
struct SyncedDevices {
  private let devices: [SyncDevice]

  init(_ devices: [SyncDevice]) {
    self.devices = devices
  }

  /// Lets all synchronise, and returns the fault: a commit is missing, two differ, or one is unsound; `nil` if there is
  /// none.
  ///
  /// - Parameters:
  ///   - histories: The commits that all must have.
  ///   - exchangeCount: How often all synchronise.
  ///   - exchange: Brings the files of each folder to the others.
  /// - Returns: The fault.
  /// - Throws: An error of a store or of the system.
  func fault(
    after histories: [SyncHistory], exchangeCount: Int = 3, exchanging exchange: () throws -> Void = {}
  ) throws -> String? {
    for _ in 0..<exchangeCount {
      try exchange()
      for device in devices { try device.synchronize() }
    }
    var hashes: Set<String> = []
    for device in devices {
      for history in histories {
        if let fault = try history.fault(of: device.store) { return "\(device.name): \(fault)" }
      }
      let report = try device.store.verify()
      guard report.isSound else { return "\(device.name): \(report.faults)" }
      guard let status = try device.status() else { return "\(device.name) has left the space" }
      guard status.pending == 0, status.blocked.isEmpty else {
        return "\(device.name): \(status.pending) changes wait, and \(status.blocked) are blocked"
      }
      guard let hash = status.stateHash else { return "\(device.name): the hash of the state is not known" }
      hashes.insert(hash)
    }
    return hashes.count == 1 ? nil : "the states differ: \(hashes)"
  }
}

extension SyncDevice {
  fileprivate var name: String { directory.lastComponent?.string ?? "" }
}
