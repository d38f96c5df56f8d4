import Benchmark
import BenchmarkData
import Foundation
import Tally
import TallySync

/// The delivery of a change to another device, and the work of an idle device.
enum DeliveryBenchmarks {
  private static let total = BenchmarkMetric.custom("arrivedNanoseconds")
  private static let sending = BenchmarkMetric.custom("sentNanoseconds")
  private static let written = BenchmarkMetric.custom("writtenBytes")
  private static let opened = Opened<Devices>()

  static func register() {
    figures(
      "sync-delivery", [total, sending], iterations: 100, smokeIterations: 2, measureDelivery,
      setup: { opened.open(try await Devices("sync-delivery")) }, teardown: close)
    figures(
      "sync-idle", [written], iterations: 1, measureIdleWrites,
      setup: { opened.open(try await Devices("sync-idle")) }, teardown: close)
  }

  @Sendable private static func close() async throws {
    try await opened.next().0.close()
  }

  /// From before the write on one device until the other can read it, whose agent waits for the folder.
  ///
  /// The first one sends at once: its agent would wait for further writes.
  @Sendable private static func measureDelivery(_ benchmark: Benchmark) async throws {
    let (devices, number) = try opened.next()
    let store = devices.space.store
    let (id, title) = (devices.ids[number % devices.ids.count], "Changed \(number)")
    let changes = try devices.other.changes()
    let arrival = Task { [other = devices.other] in
      for try await _ in changes where try other.read({ try $0.task(id) })?.title == title { return Moment.now }
      throw WrongAnswer(description: "the change did not arrive")
    }
    // The agents rest meanwhile: that of the other device looks again after each change of its store.
    try await Task.sleep(for: .milliseconds(400))
    let start = Moment.now
    try await store.write { _ = try $0.update(id) { $0.title = title } }
    try await StoreSync(store).synchronize()
    let sent = Moment.now
    benchmark.measurement(total, try await arrival.value.nanoseconds(since: start))
    benchmark.measurement(sending, sent.nanoseconds(since: start))
  }

  /// The bytes that the process causes to be written while an agent waits, longer than the time between its looks.
  @Sendable private static func measureIdleWrites(_ benchmark: Benchmark) async throws {
    // The threads that the first exchange used end after some seconds, and give up their places among LMDB's readers.
    try await Task.sleep(for: BenchmarkFolder.isSmoke ? .milliseconds(100) : .seconds(15))
    let before = try writtenBytes()
    try await Task.sleep(for: BenchmarkFolder.isSmoke ? .milliseconds(100) : .seconds(70))
    benchmark.measurement(written, try writtenBytes() - before)
  }

  /// The bytes as the system counts them; 0 if it does not.
  private static func writtenBytes() throws -> Int {
    guard let counts = try? String(contentsOfFile: "/proc/self/io", encoding: .utf8) else { return 0 }
    let line = counts.split(separator: "\n").first { $0.hasPrefix("write_bytes:") }
    guard let count = line?.split(separator: " ").last.flatMap({ Int($0) }) else {
      throw WrongAnswer(description: "no count of written bytes")
    }
    return count
  }
}

/// Two devices with the same tasks; the agent of the second one runs.
private struct Devices: Sendable {
  let space: SyncedSpace
  let other: TaskStore
  let agent: Task<Void, any Error>
  let ids: [UUID]

  init(_ name: String) async throws {
    let space = try await SyncedSpace(name)
    let other = try space.makeStore("other")
    try await StoreSync(other).join(space.setup.invitation, in: space.folder, deviceName: "other")
    try await StoreSync(other).synchronize()
    try space.expectSameTasks(in: other)
    // The first device learns of the second one.
    try await StoreSync(space.store).synchronize()
    agent = Task { try await StoreSync(other).run { _ in } }
    ids = try other.read { try $0.view(.today).tasks.map(\.id) }
    (self.space, self.other) = (space, other)
  }

  func close() async throws {
    agent.cancel()
    _ = await agent.result
    try space.store.close()
    try other.close()
  }
}
