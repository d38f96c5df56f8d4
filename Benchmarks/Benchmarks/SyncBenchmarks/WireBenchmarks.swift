import Benchmark
import BenchmarkData
import Tally
import TallySync

/// The bytes of changes as they are sent, sealed and padded.
enum WireBenchmarks {
  private static let edit = BenchmarkMetric.custom("editBytes")
  private static let create = BenchmarkMetric.custom("createBytesBesideText")
  private static let createCount = 1_000

  static func register() {
    figures("sync-wire", [edit, create], iterations: 1, measure)
  }

  /// The bytes of an edit and of creates in a space of two devices.
  ///
  /// A segment names the streams that its author has read since the last one, with 25 bytes each. The edit that is measured
  /// has none to name.
  @Sendable private static func measure(_ benchmark: Benchmark) async throws {
    let space = try await SyncedSpace("sync-wire")
    let other = try space.makeStore("other")
    try await StoreSync(other).join(space.setup.invitation, in: space.folder, deviceName: "other")
    try await other.write { _ = try $0.add("Water the plants", to: .inbox) }
    try await StoreSync(other).synchronize()
    try await StoreSync(space.store).synchronize()

    let ids = try space.store.read { try $0.view(.today).tasks.prefix(2).map(\.id) }
    try await space.store.write { _ = try $0.complete(ids[1]) }
    _ = try await space.byteCountOfSegments()
    try await space.store.write { _ = try $0.update(ids[0]) { $0.title = "Review the März invoice with Sam" } }
    benchmark.measurement(edit, try await space.byteCountOfSegments())

    let (titles, list) = (
      try dataSet.tasks().prefix(createCount).map(\.title), try space.store.read { try $0.lists()[0].id }
    )
    for title in titles { try await space.store.write { _ = try $0.add(title, to: .list(list)) } }
    let textByteCount = titles.map(\.utf8.count).reduce(0, +)
    benchmark.measurement(create, (try await space.byteCountOfSegments() - textByteCount) / titles.count)
    try await StoreSync(other).synchronize()
    try space.expectSameTasks(in: other)
    for store in [space.store, other] { try store.close() }
  }
}

extension SyncedSpace {
  /// Sends what waits, and counts its bytes.
  fileprivate func byteCountOfSegments() async throws -> Int {
    let transport = try transport(at: folder)
    try await StoreSync(store).synchronize(through: transport)
    let byteCount = transport.byteCount(.append)
    guard byteCount > 0 else { throw WrongAnswer(description: "nothing was sent") }
    return byteCount
  }
}
