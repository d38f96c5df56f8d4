// swift-tools-version: 6.2

import PackageDescription

// Applications like any others: they see only the public part of the engine, and `Contacts` only that of the binding.
let package = Package(
  name: "records",
  platforms: [.macOS("26.0")],
  // Without this name it would be that of the folder into which Tally was cloned.
  dependencies: [.package(name: "tally", path: "../..", traits: [])],
  targets: [
    ("Workouts", "TallyEngine"), ("Money", "TallyEngine"), ("PageViews", "TallyEngine"), ("Contacts", "LMDB"),
  ].map { name, library in
    .executableTarget(
      name: name, dependencies: [.product(name: library, package: "tally")],
      swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)])
  }
)
