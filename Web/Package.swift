// swift-tools-version: 6.2

import PackageDescription

// A separate package, so that applications with Tally build no web server.

var settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"), .enableUpcomingFeature("MemberImportVisibility"),
]
if Context.environment["TALLY_STRICT"] == "1" { settings.append(.treatAllWarnings(as: .error)) }

let tally: Target.Dependency = .product(name: "Tally", package: "tally")
let tallyFormats: Target.Dependency = .product(name: "TallyFormats", package: "tally")
let tallySync: Target.Dependency = .product(name: "TallySync", package: "tally")
let asyncAlgorithms: Target.Dependency = .product(name: "AsyncAlgorithms", package: "swift-async-algorithms")
let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")
let hummingbird: Target.Dependency = .product(name: "Hummingbird", package: "hummingbird")
let lifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let nio: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let systemPackage: Target.Dependency = .product(name: "SystemPackage", package: "swift-system")

let package = Package(
  name: "tally-web",
  platforms: [.macOS("26.0")],
  products: [.executable(name: "tally-web", targets: ["TallyWeb"])],
  dependencies: [
    .package(name: "tally", path: "..", traits: ["Synchronisation"]),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.0.2"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: ["FullFoundation"]),
    .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
  ],
  targets: [
    // Templates, style and scripts, as bytes of the program. A target of its own, so that only a change of one compiles it.
    .target(
      name: "WebAssets",
      resources: [.embedInCode("Templates"), .embedInCode("Static")], swiftSettings: settings),
    .target(
      name: "WebService",
      dependencies: [
        "WebAssets", tally, tallyFormats, tallySync, asyncAlgorithms, httpTypes, hummingbird, lifecycle, logging, nio,
        systemPackage, .product(name: "Mustache", package: "swift-mustache"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "TallyWeb",
      dependencies: [
        "WebService", tally, hummingbird, lifecycle, logging, nio, systemPackage,
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "WebTests",
      dependencies: [
        "WebAssets", "WebService", tally, tallySync, httpTypes, hummingbird, lifecycle, logging, nio, systemPackage,
        .product(name: "NIOPosix", package: "swift-nio"),
      ],
      swiftSettings: settings),
  ]
)
