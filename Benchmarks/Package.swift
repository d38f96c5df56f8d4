// swift-tools-version: 6.2

import PackageDescription

// A package of its own, so that nobody who embeds Tally builds its benchmarks.

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6), .strictMemorySafety(), .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"), .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]

let tally: Target.Dependency = .product(name: "Tally", package: "tally")
let systemPackage: Target.Dependency = .product(name: "SystemPackage", package: "swift-system")

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
    // Without its traits: their allocation counters come as libraries of their own, and time is what is measured here.
    .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
  ],
  targets: [
    .target(name: "BenchmarkData", dependencies: [tally, systemPackage], swiftSettings: settings),
    .executableTarget(
      name: "MakeDataSets",
      dependencies: ["BenchmarkData", tally],
      swiftSettings: settings
    ),
    benchmarks("FloorBenchmarks"),
  ]
)
