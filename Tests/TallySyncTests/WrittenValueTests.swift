import Foundation
import SystemPackage
import Tally
import TallyTestSupport
import TestSupport
import Testing

@testable import TallySync

/// Nothing that a person wrote is lost without a trace.
///
/// `TALLY_SYNC_WRITTEN` sets how many histories, 6 without it.
struct WrittenValueTests {
  private static let historyCount =
    ProcessInfo.processInfo.environment["TALLY_SYNC_WRITTEN"].flatMap(Int.init) ?? 6

  @Test func everyWrittenValueIsInAFieldOrKept() async throws {
    let seed = SeededGenerator.chooseSeed(for: "everyWrittenValueIsInAFieldOrKept")
    var (random, count, missing) = (SeededGenerator(seed: seed), 0, 0)
    for number in 0..<Self.historyCount {
      let own = Self.historyCount == 1 ? seed : random.next() % 1_000_000_000
      try await withTemporaryDirectory { directory in
        let history = try await Self.run(in: directory, seed: own)
        let found = try await WrittenValues(of: history).missing()
        #expect(found == [], "history \(number), TALLY_SYNC_WRITTEN=1 TALLY_SEED=\(own)")
        if !found.isEmpty, Self.historyCount == 1 { print(history.trace.joined(separator: "\n")) }
        count += history.writes.count
        missing += found.count
        try history.close()
      }
    }
    // About 27 in each; fewer mean that the stores refuse what they should not.
    #expect(Self.historyCount < 6 || count >= 12 * Self.historyCount, "TALLY_SEED=\(seed)")
    print(
      "written values: \(count) in \(Self.historyCount) histories of 3 to 5 devices, \(missing) missing, TALLY_SEED=\(seed)"
    )
  }

  private static func run(in directory: FilePath, seed: UInt64) async throws -> WrittenHistory {
    let history = WrittenHistory(in: directory, seed: seed)
    let deviceCount = Int.random(in: 3...5, using: &history.random)
    for _ in 0..<deviceCount - 1 { try await history.addDevice() }
    let stepCount = 60
    for step in 0..<stepCount {
      // A device that joins later reads a snapshot.
      if step == (history.hasSnapshots ? stepCount / 2 : 0) { try await history.addDevice() }
      try await history.act()
      if history.random.oneIn(4) {
        try await history.synchronize(Int.random(in: history.stores.indices, using: &history.random))
      }
    }
    try await history.synchronizeAll()
    return history
  }
}

/// What became of the written values of a history.
private struct WrittenValues {
  let history: WrittenHistory
  private let shown: [WrittenHistory.Values]
  private var trash: [WrittenHistory.Values] = []
  private var conflicts: [[String]] = []
  private var past: [Set<String>] = []

  init(of history: WrittenHistory) async throws {
    self.history = history
    shown = try history.stores.indices.map { try history.values(of: $0) }
    for store in history.stores {
      var kept: WrittenHistory.Values = [:]
      for object in try await store.write({ try $0.deletedObjects() }) {
        switch object {
        case .task(let task): kept.merge(WrittenHistory.values(of: task)) { $1 }
        case .list(let list): kept[.init(object: "\(list.id)", field: "name")] = list.name
        }
      }
      trash.append(kept)
      conflicts.append(try await StoreSync(store).conflicts().map { "\($0.objectID) \($0.lost)" })
      past.append(try Self.past(of: store))
    }
  }

  /// Every value that the history of a store has.
  private static func past(of store: TaskStore) throws -> Set<String> {
    var past: Set<String> = []
    for change in try store.read({ try $0.history() }) {
      for difference in change.tasks {
        for task in [difference.before, difference.after].compactMap(\.self) {
          past.formUnion(WrittenHistory.values(of: task).values)
        }
      }
      for difference in change.lists { past.formUnion([difference.before, difference.after].compactMap { $0?.name }) }
      for difference in change.savedFilters {
        past.formUnion(
          [difference.before, difference.after].compactMap { $0.map { String($0.text.drop { $0 != "v" }) } })
      }
    }
    return past
  }

  /// The values that are lost, and the fields whose value is not one that somebody wrote last.
  func missing() async throws -> [String] {
    var found: [String] = []
    for device in shown.indices.dropFirst() where shown[device] != shown[0] { found.append("device \(device) differs") }
    for store in history.stores {
      if try await StoreSync(store).verify() != [] { found.append("verify") }
      try checkInvariants(of: store)
    }
    for (number, write) in history.writes.enumerated() {
      let isShown = shown.allSatisfy { $0[write.place] ?? "" == write.value }
      let device = write.device
      let isKept =
        trash[device][write.place] == write.value || conflicts[device].contains { $0.contains(write.value) }
      guard !isShown, !isKept, !write.value.isEmpty else { continue }
      let isPurged = number < history.purgedWrites[device] ?? 0
      if !isPurged, !past[device].contains(write.value) {
        found.append("\(write.value) of \(device) at \(write.place)")
      }
      // The write was replaced by somebody who saw it, or taken back, or another device has kept the value.
      let isReplaced = write.isTakenBack || write.replacers.contains { !history.writes[$0].isTakenBack }
      let isKeptElsewhere =
        trash.contains { $0[write.place] == write.value }
        || conflicts.contains { $0.contains { $0.contains(write.value) } }
      if !isReplaced, !isKeptElsewhere, !history.hasSnapshots, !history.importedObjects.contains(write.place.object) {
        found.append("unseen \(number) \(write.value) of \(device) at \(write.place)")
      }
    }
    return found + wrongFields()
  }

  /// The fields whose value is not one of the writes that nobody has replaced.
  private func wrongFields() -> [String] {
    var found: [String] = []
    for (place, writes) in Dictionary(grouping: history.writes, by: \.place) {
      let last = writes.filter { write in
        !write.isTakenBack && !write.replacers.contains { !history.writes[$0].isTakenBack }
      }
      // An imported document does not say what its author had seen, so the clocks decide.
      guard !last.isEmpty, !history.importedObjects.contains(place.object) else { continue }
      for device in shown.indices {
        guard let value = shown[device][place] ?? trash[device][place] ?? (place.field == "filter" ? "" : nil) else {
          continue
        }
        if !last.contains(where: { $0.value == value }) {
          found.append("\(place) is \(value) on \(device), not \(last.map { "\($0.value) of \($0.device)" })")
        }
      }
    }
    return found
  }
}
