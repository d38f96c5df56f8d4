// swift-tools-version: 6.2

import PackageDescription

// A separate package, so that applications with Tally build neither its benchmarks nor the peers that they compare.

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6), .strictMemorySafety(), .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"), .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]

let tally: Target.Dependency = .product(name: "Tally", package: "tally")
let tallySync: Target.Dependency = .product(name: "TallySync", package: "tally")
let systemPackage: Target.Dependency = .product(name: "SystemPackage", package: "swift-system")
let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")

/// An executable whose benchmarks the `benchmark` command runs, each in a process of its own.
func benchmarks(_ name: String, dependencies: [Target.Dependency] = []) -> Target {
  .executableTarget(
    name: name,
    dependencies: [.product(name: "Benchmark", package: "benchmark"), "BenchmarkData", tally] + dependencies,
    // The plugin works on targets in a folder of this name only.
    path: "Benchmarks/\(name)",
    swiftSettings: settings,
    plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]
  )
}

let package = Package(
  name: "tally-benchmarks",
  platforms: [.macOS("26.0")],
  dependencies: [
    .package(name: "tally", path: ".."),
    .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
    // Without its traits: their allocation counters are separate libraries, and these benchmarks measure time.
    .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ],
  targets: [
    .target(
      name: "BenchmarkData",
      dependencies: [.product(name: "Benchmark", package: "benchmark"), "CRawLMDB", tally, systemPackage],
      swiftSettings: settings
    ),
    .systemLibrary(
      name: "CPeerLMDB",
      pkgConfig: "lmdb",
      providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]
    ),
    // liblmdb called from C, without Tally in between: the limit.
    .target(name: "CRawLMDB", dependencies: ["CPeerLMDB"]),
    .target(
      name: "SQLitePeer",
      dependencies: ["BenchmarkData", tally, systemPackage, grdb],
      swiftSettings: settings
    ),
    .executableTarget(
      name: "MakeDataSets",
      dependencies: ["BenchmarkData", "SQLitePeer", tally],
      swiftSettings: settings
    ),
    .executableTarget(name: "ObservationFigures", dependencies: [tally, systemPackage], swiftSettings: settings),
    .executableTarget(
      name: "WorkFigures",
      dependencies: ["BenchmarkData", "CRawLMDB", tally, systemPackage],
      swiftSettings: settings
    ),
    benchmarks("FloorBenchmarks"),
    benchmarks("GrowthBenchmarks", dependencies: [systemPackage]),
    benchmarks("PeerBenchmarks", dependencies: ["SQLitePeer", systemPackage, grdb]),
    benchmarks("SyncBenchmarks", dependencies: [tallySync, systemPackage]),
  ]
)
