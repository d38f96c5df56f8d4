// swift-tools-version: 6.2

import PackageDescription

// An application like any other: it sees only the public part of Tally.
let package = Package(
  name: "service",
  platforms: [.macOS("26.0")],
  dependencies: [
    // Without this name it would be that of the folder into which Tally was cloned.
    .package(name: "tally", path: "../..", traits: []),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    // Hummingbird brings these, too.
    .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.0.2"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.0.0"),
  ],
  targets: [
    .executableTarget(
      name: "Service",
      dependencies: [
        .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "Tally", package: "tally"),
      ],
      swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]
    )
  ]
)
