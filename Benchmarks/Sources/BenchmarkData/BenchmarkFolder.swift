import Foundation
package import SystemPackage

/// The folder of the benchmarks' data sets, scratch stores and results: on the disk of the checkout, as on a
/// filesystem in memory a durable write would cost nothing.
package enum BenchmarkFolder {
  /// `TALLY_BENCH_FOLDER`, set by `Benchmarks/Scripts/bench.py`; else `.build/bench` of the current directory.
  package static let path: FilePath = {
    let environment = ProcessInfo.processInfo.environment
    return FilePath(environment["TALLY_BENCH_FOLDER"] ?? FileManager.default.currentDirectoryPath + "/.build/bench")
  }()

  /// Whether only the answers count: stores are small, and each benchmark runs only a few times.
  package static let isSmoke = ProcessInfo.processInfo.environment["TALLY_BENCH_SMOKE"] != nil

  /// An empty directory for one benchmark, without the files of an earlier run.
  package static func makeScratch(_ name: String) throws -> FilePath {
    let scratch = path.appending("scratch").appending(name)
    try? FileManager.default.removeItem(atPath: scratch.string)
    try FileManager.default.createDirectory(atPath: scratch.string, withIntermediateDirectories: true)
    return scratch
  }

  /// Copies a file or directory.
  package static func copy(_ source: FilePath, to target: FilePath) throws {
    try FileManager.default.copyItem(atPath: source.string, toPath: target.string)
  }

  package static func sizeInBytes(of file: FilePath) throws -> Int {
    try FileManager.default.attributesOfItem(atPath: file.string)[.size] as? Int ?? 0
  }
}
