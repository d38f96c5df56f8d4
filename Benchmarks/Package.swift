// swift-tools-version: 6.2

import PackageDescription

// A package of its own, so that nobody who embeds Tally builds it. It needs nothing but Tally: what it times are calls
// of microseconds to seconds, for which a clock and sorted samples are enough.
let package = Package(
  name: "tally-benchmarks",
  platforms: [.macOS("26.0")],
  dependencies: [.package(name: "tally", path: "..")],
  targets: [
    .executableTarget(
      name: "TallyBenchmarks",
      dependencies: [.product(name: "Tally", package: "tally")],
      swiftSettings: [
        .swiftLanguageMode(.v6), .strictMemorySafety(), .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"), .enableUpcomingFeature("MemberImportVisibility"),
        .treatAllWarnings(as: .error),
      ]
    )
  ]
)
