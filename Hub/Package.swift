// swift-tools-version: 6.2

import PackageDescription

// A separate package, so that applications with Tally build neither a server nor a client for HTTP.

var settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"), .enableUpcomingFeature("MemberImportVisibility"),
]
if Context.environment["TALLY_STRICT"] == "1" { settings.append(.treatAllWarnings(as: .error)) }

let lmdb: Target.Dependency = .product(name: "LMDB", package: "tally")
let tallySync: Target.Dependency = .product(name: "TallySync", package: "tally")
let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let systemPackage: Target.Dependency = .product(name: "SystemPackage", package: "swift-system")
let hummingbird: Target.Dependency = .product(name: "Hummingbird", package: "hummingbird")
let httpClient: Target.Dependency = .product(name: "AsyncHTTPClient", package: "async-http-client")
let nio: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let ssl: Target.Dependency = .product(name: "NIOSSL", package: "swift-nio-ssl")
let httpTypes: Target.Dependency = .product(name: "NIOHTTPTypes", package: "swift-nio-extras")
let metrics: Target.Dependency = .product(name: "CoreMetrics", package: "swift-metrics")

let package = Package(
  name: "tally-hub",
  platforms: [.macOS("26.0")],
  products: [
    .library(name: "HubClient", targets: ["HubClient"]),
    .executable(name: "tally-hub", targets: ["TallyHub"]),
    .executable(name: "tally-hub-client", targets: ["TallyHubClient"]),
  ],
  dependencies: [
    .package(name: "tally", path: "..", traits: ["CommandLine"]),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
    .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: ["FullFoundation"]),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
  ],
  targets: [
    .systemLibrary(name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
    // How glibc gives memory back.
    .systemLibrary(name: "CMalloc"),
    .target(
      name: "HubStorage", dependencies: ["CLibPQ", lmdb, tallySync, crypto, systemPackage],
      resources: [
        .embedInCode("PostgreSQL/Schema/Format1.sql"), .embedInCode("PostgreSQL/Schema/Format2.sql"),
        .embedInCode("PostgreSQL/Schema/Format3.sql"), .embedInCode("PostgreSQL/Schema/Format4.sql"),
        .embedInCode("PostgreSQL/Schema/AppendSegments.sql"),
      ],
      swiftSettings: settings),
    .target(
      name: "HubService",
      dependencies: [
        "HubMetrics", "HubStorage", "HubWire", hummingbird, tallySync, crypto, logging, nio, metrics,
        ssl, httpClient, httpTypes, systemPackage, .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "HummingbirdTLS", package: "hummingbird"), .product(name: "JWTKit", package: "jwt-kit"),
        .product(name: "Instrumentation", package: "swift-distributed-tracing"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
      ],
      swiftSettings: settings),
    .target(
      name: "HubClient",
      dependencies: [
        "HubWire", httpClient, tallySync, crypto, nio, ssl, systemPackage,
        .product(name: "NIOHTTP1", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
      ],
      swiftSettings: settings),
    // Measurements, as the text that Prometheus reads.
    .target(name: "HubMetrics", dependencies: [metrics], swiftSettings: settings),
    // What both sides say to each other.
    .target(name: "HubWire", dependencies: [tallySync], swiftSettings: settings),
    .executableTarget(
      name: "TallyHub",
      dependencies: [
        "CMalloc", "HubMetrics", "HubService", "HubStorage", "HubWire", hummingbird, logging, nio, systemPackage,
        tallySync, .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "TallyHubClient",
      dependencies: ["HubClient", tallySync, .product(name: "TallyCommands", package: "tally")],
      swiftSettings: settings),
    // Streams of segments that nobody can open, for tests and load.
    .target(name: "HubSamples", dependencies: [tallySync, crypto], swiftSettings: settings),
    .executableTarget(
      name: "HubLoad",
      dependencies: [
        "HubClient", "HubSamples", "HubWire", crypto, httpClient, nio, tallySync, systemPackage,
        .product(name: "Tally", package: "tally"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "HubTests",
      dependencies: [
        "HubClient", "HubMetrics", "HubSamples", "HubService", "HubStorage", "HubWire", hummingbird, httpClient,
        metrics,
        .product(name: "Tally", package: "tally"), tallySync, systemPackage, crypto, logging, nio,
        ssl, .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "NIOHTTP1", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "TallySyncConformance", package: "tally"),
      ],
      exclude: ["Fixtures"], swiftSettings: settings),
  ]
)
