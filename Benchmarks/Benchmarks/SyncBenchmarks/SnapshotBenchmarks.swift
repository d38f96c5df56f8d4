import Benchmark
import BenchmarkData
import SystemPackage
import Tally
import TallySync

/// A snapshot of all tasks, made and merged; and a new device that joins.
enum SnapshotBenchmarks {
  private static let made = BenchmarkMetric.custom("madeNanoseconds")
  private static let applied = BenchmarkMetric.custom("appliedNanoseconds")
  private static let madeOnProcessor = BenchmarkMetric.custom("madeProcessorNanoseconds")
  private static let appliedOnProcessor = BenchmarkMetric.custom("appliedProcessorNanoseconds")
  private static let joinedOnProcessor = BenchmarkMetric.custom("joinedProcessorNanoseconds")
  private static let size = BenchmarkMetric.custom("bytes")
  private static let joined = BenchmarkMetric.custom("joinedNanoseconds")
  private static let opened = Opened<SyncedSpace>()

  static func register() {
    figures(
      "sync-snapshot", [made, madeOnProcessor, applied, appliedOnProcessor, size], iterations: 5, measureSnapshot,
      setup: { opened.open(try await SyncedSpace("sync-snapshot")) }, teardown: close)
    figures(
      "sync-join", [joined, joinedOnProcessor], iterations: 3, measureJoining,
      setup: { opened.open(try await SyncedSpace("sync-join")) }, teardown: close)
  }

  @Sendable private static func close() async throws {
    try opened.next().0.store.close()
  }

  /// Publishes a snapshot in an empty folder, which fills the space again after its folder was lost.
  ///
  /// A new store then finds only the snapshot there.
  @Sendable private static func measureSnapshot(_ benchmark: Benchmark) async throws {
    let (space, number) = try opened.next()
    let folder = try space.makeFolder("folder-\(number)")
    let writer = try space.transport(at: folder)
    try await StoreSync(space.store).synchronize(through: writer)
    let (reader, store) = (try space.transport(at: folder), try space.makeStore("store-\(number)"))
    let sync = StoreSync(store)
    try await sync.join(space.setup.invitation, in: folder, deviceName: "device \(number)")
    try await sync.synchronize(through: reader)
    try space.expectSameTasks(in: store)
    let (making, merging) = (try writer.work(before: .putPart), try reader.work(after: .part))
    benchmark.measurement(made, making.end.nanoseconds(since: making.start))
    benchmark.measurement(madeOnProcessor, making.end.processorNanoseconds(since: making.start))
    benchmark.measurement(applied, merging.end.nanoseconds(since: merging.start))
    benchmark.measurement(appliedOnProcessor, merging.end.processorNanoseconds(since: merging.start))
    benchmark.measurement(size, writer.byteCount(.putPart))
    try store.close()
    // Only a replica that misses a segment of its own notices that a folder is gone.
    try await space.store.write { _ = try $0.add("Water the plants", to: .inbox) }
    try await StoreSync(space.store).synchronize(through: writer)
  }

  /// Joins a space with an empty store until it has all tasks.
  @Sendable private static func measureJoining(_ benchmark: Benchmark) async throws {
    let (space, number) = try opened.next()
    let store = try space.makeStore("store-\(number)")
    let sync = StoreSync(store)
    let start = Moment.now
    try await sync.join(space.setup.invitation, in: space.folder, deviceName: "device \(number)")
    try await sync.synchronize()
    let end = Moment.now
    benchmark.measurement(joined, end.nanoseconds(since: start))
    benchmark.measurement(joinedOnProcessor, end.processorNanoseconds(since: start))
    try space.expectSameTasks(in: store)
    try store.close()
  }
}

extension MeasuredTransport {
  /// From the call before the first one of a kind to the end of the last one.
  fileprivate func work(before kind: Kind) throws -> (start: Moment, end: Moment) {
    guard let first = calls.firstIndex(where: { $0.kind == kind }), let last = calls.last(where: { $0.kind == kind }),
      first > 0
    else { throw WrongAnswer(description: "no snapshot was made") }
    return (calls[first - 1].end, last.end)
  }

  /// From the start of the first call of a kind to the call after the last one.
  fileprivate func work(after kind: Kind) throws -> (start: Moment, end: Moment) {
    guard let first = calls.first(where: { $0.kind == kind }), let last = calls.lastIndex(where: { $0.kind == kind }),
      last + 1 < calls.count
    else { throw WrongAnswer(description: "no snapshot was merged") }
    return (first.start, calls[last + 1].start)
  }
}
