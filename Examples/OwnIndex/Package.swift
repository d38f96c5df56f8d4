// swift-tools-version: 6.2

import PackageDescription

// An application like any other: it sees only the public part of Tally.
let package = Package(
  name: "own-index",
  platforms: [.macOS("26.0")],
  // Without this name it would be that of the folder into which Tally was cloned.
  dependencies: [.package(name: "tally", path: "../..", traits: [])],
  targets: [
    .executableTarget(
      name: "OwnIndex",
      dependencies: [.product(name: "Tally", package: "tally")],
      swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]
    )
  ]
)
