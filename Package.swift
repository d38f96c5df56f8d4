// swift-tools-version: 6.2

import PackageDescription

/// Settings of every Swift target, each with its reason.
var settings: [SwiftSetting] = [
  // Data races are compile errors.
  .swiftLanguageMode(.v6),
  // Every use of an unsafe construct is marked `unsafe`, so that a reader finds the boundary to C.
  .strictMemorySafety(),
  // `any` shows where a value is boxed.
  .enableUpcomingFeature("ExistentialAny"),
  // What a module imports is hidden from its clients unless it is a `public import`.
  .enableUpcomingFeature("InternalImportsByDefault"),
  // A member is visible only where its module is imported: no accidental dependencies.
  .enableUpcomingFeature("MemberImportVisibility"),
  // Spans of the memory map are tied to their transaction with `@_lifetime`.
  .enableExperimentalFeature("Lifetimes"),
]

// A warning that may be ignored is soon one of many. An embedder may have a newer compiler that warns of more, so only
// `make` and continuous integration set the variable.
if Context.environment["TALLY_STRICT"] == "1" { settings.append(.treatAllWarnings(as: .error)) }

/// Apple's platforms read the reasons for which Tally looks at files and disks from a resource; other platforms have no
/// use for it, nor for the code that finds resources.
#if os(macOS)
  let privacyManifest: (resources: [Resource], exclude: [String]) = ([.copy("PrivacyInfo.xcprivacy")], [])
#else
  let privacyManifest: (resources: [Resource], exclude: [String]) = ([], ["PrivacyInfo.xcprivacy"])
#endif

/// Whether SwiftPM has fetched the package for another one.
///
/// While it resolves versions it reads the manifest without a directory, afterwards in its own `checkouts`. A package
/// that another one uses by its path cannot be recognised: that one writes `traits: []`.
let isFetched =
  Context.packageDirectory == "/" || Context.packageDirectory.split(separator: "/").dropLast().last == "checkouts"

/// A product that only the command line needs; without the trait, its package is not even resolved.
func commandLine(_ product: String, of package: String) -> Target.Dependency {
  .product(name: product, package: package, condition: .when(traits: ["CommandLine"]))
}

/// A product that only synchronisation needs; without the trait, its package is not even resolved.
func synchronisation(_ product: String, of package: String) -> Target.Dependency {
  .product(name: product, package: package, condition: .when(traits: ["Synchronisation"]))
}

let package = Package(
  name: "tally",
  // What the libraries use, and the first versions that have it:
  // - macOS 26, iOS 26: `Array.span`, `String.UTF8View.span` and `UTF8Span`, which do not deploy to older systems. They
  //   alone keep the floor above the next line's; the span types themselves deploy to macOS 10.14.4 and iOS 12.2.
  // - macOS 15, iOS 18: `Synchronization.Atomic`, `String(validating:as:)`, `AsyncIteratorProtocol.next(isolation:)`.
  // - macOS 14, iOS 17: `URLComponents(string:encodingInvalidCharacters:)`.
  // - macOS 13, iOS 16: `ContinuousClock` and `Duration`, `Task.sleep(for:)`, `URL(filePath:)`, `TimeZone.gmt`.
  // From the availability that the standard library and Foundation declare; not yet tried on Apple's platforms.
  platforms: [.macOS("26.0"), .iOS("26.0")],
  products: [
    .library(name: "LMDB", targets: ["LMDB"]),
    .library(name: "Tally", targets: ["Tally"]),
    .library(name: "TallyFormats", targets: ["TallyFormats"]),
    .library(name: "TallySync", targets: ["TallySync"]),
    .library(name: "TallySyncConformance", targets: ["TallySyncConformance"]),
    // For programs that have the commands of `tally` and something more, such as a client for hubs.
    .library(name: "TallyCommands", targets: ["TallyCommands"]),
    .executable(name: "tally", targets: ["TallyMain"]),
  ],
  traits: [
    .trait(
      name: "CommandLine", description: "The program `tally`. The libraries do not need it.",
      enabledTraits: ["Synchronisation"]),
    .trait(name: "Synchronisation", description: "The library `TallySync`, which needs cryptography."),
    .default(enabledTraits: isFetched ? [] : ["CommandLine"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
    .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
  ],
  targets: [
    .systemLibrary(
      name: "CLMDB",
      pkgConfig: "lmdb",
      providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]
    ),
    // Three functions of the C library that Swift does not import.
    .systemLibrary(name: "CTallySystem"),
    // The ground floor, for this package only: locks, waiting, whole files. It does not depend on LMDB or on tasks.
    .target(
      name: "TallySystem",
      dependencies: ["CTallySystem", .product(name: "SystemPackage", package: "swift-system")],
      swiftSettings: settings
    ),
    .target(
      name: "LMDB",
      dependencies: ["CLMDB", "TallySystem", .product(name: "SystemPackage", package: "swift-system")],
      swiftSettings: settings
    ),
    .target(
      name: "Tally",
      dependencies: [
        "LMDB", "TallySystem",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      exclude: privacyManifest.exclude,
      resources: privacyManifest.resources,
      swiftSettings: settings
    ),
    // What moves tasks to and from other programs: no embedder of `Tally` builds it.
    .target(
      name: "TallyFormats",
      dependencies: ["Tally", .product(name: "SystemPackage", package: "swift-system")],
      swiftSettings: settings
    ),
    // What several copies of a store make of their changes: no embedder of `Tally` builds it.
    .target(
      name: "TallySync",
      dependencies: [
        "Tally", "TallySystem",
        synchronisation("Crypto", of: "swift-crypto"),
        synchronisation("CryptoExtras", of: "swift-crypto"),
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      swiftSettings: settings
    ),
    // What every place through which replicas exchange changes must do: for the tests of those outside, too.
    .target(
      name: "TallySyncConformance",
      dependencies: ["TallySync", synchronisation("Crypto", of: "swift-crypto")],
      swiftSettings: settings
    ),
    .target(
      name: "TallyCommands",
      dependencies: [
        "Tally", "TallyFormats", "TallySync", "TallySystem",
        commandLine("ArgumentParser", of: "swift-argument-parser"),
        commandLine("Mustache", of: "swift-mustache"),
        commandLine("Yams", of: "Yams"),
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      swiftSettings: settings
    ),
    // The directory is not `tally`: it would be the same as `Tally` where case does not count.
    .executableTarget(name: "TallyMain", dependencies: ["TallyCommands"], swiftSettings: settings),
    // What the tests of both libraries share: seeded random numbers, and helper processes.
    .target(
      name: "TestSupport",
      dependencies: [.product(name: "SystemPackage", package: "swift-system")],
      path: "Tests/TestSupport",
      swiftSettings: settings
    ),
    .target(
      name: "TallyTestSupport",
      dependencies: ["LMDB", "Tally", "TestSupport", .product(name: "SystemPackage", package: "swift-system")],
      path: "Tests/TallyTestSupport",
      swiftSettings: settings
    ),
    // A separate program for what one process cannot show: other processes, forks, resource limits, failing disks.
    .executableTarget(
      name: "LMDBTestHelper",
      dependencies: [
        "LMDB", "TallySystem", "TestSupport", .product(name: "SystemPackage", package: "swift-system"),
      ],
      path: "Tests/LMDBTestHelper",
      swiftSettings: settings
    ),
    .testTarget(
      name: "LMDBTests",
      dependencies: [
        "LMDB", "LMDBTestHelper", "TallySystem", "TestSupport",
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      swiftSettings: settings
    ),
    // A separate program for what one process cannot show: other users, other processes, a crash.
    .executableTarget(
      name: "TallyTestHelper",
      dependencies: ["Tally", "TestSupport", .product(name: "SystemPackage", package: "swift-system")],
      path: "Tests/TallyTestHelper",
      swiftSettings: settings
    ),
    .testTarget(
      name: "TallyTests",
      dependencies: [
        "LMDB", "Tally", "TallySystem", "TallyTestHelper", "TallyTestSupport",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      exclude: [
        "Storage/golden-store-v1.txt", "Storage/golden-store-v2.txt", "Capture/quick-entry-sentences.txt",
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "TallySyncTests",
      dependencies: [
        "Tally", "TallySync", "TallySyncConformance", "TallySystem", "TallyTestSupport", "TestSupport",
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      exclude: ["Engine/golden-space-v2.txt"],
      swiftSettings: settings
    ),
    .testTarget(
      name: "TallyFormatsTests",
      dependencies: [
        "Tally", "TallyFormats", "TallyTestSupport", .product(name: "SystemPackage", package: "swift-system"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "TallyCommandsTests",
      dependencies: ["TallyCommands", "TallyTestSupport", "TallyMain"],
      exclude: ["Snapshots"],
      swiftSettings: settings
    ),
    // Causes faults in processes of its own; too long for a test, so that `make test-faults` runs it.
    .executableTarget(
      name: "TallyFaults",
      dependencies: [
        "LMDB", "Tally", "TallySync", "TallySystem", "TallyTestSupport",
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      path: "Tests/TallyFaults",
      exclude: ["Preloads"],
      swiftSettings: settings
    ),
    .testTarget(name: "StyleTests", swiftSettings: settings),
  ]
)

/// What reads untrusted bytes: a test that replays inputs, or the program that looks for them (`Scripts/fuzz.sh`).
///
/// The program links only with libFuzzer, which is a flag of the compiler.
let fuzzing: [Target.Dependency] = [
  "LMDB", "Tally", "TallyCommands", "TallyFormats", "TallySync", "TallyTestSupport",
  commandLine("ArgumentParser", of: "swift-argument-parser"),
  .product(name: "SystemPackage", package: "swift-system"),
]
if Context.environment["TALLY_FUZZ"] == nil {
  package.targets.append(
    .testTarget(name: "FuzzTests", dependencies: fuzzing, exclude: ["Corpora", "main.swift"], swiftSettings: settings))
} else {
  package.targets.append(
    .executableTarget(
      name: "TallyFuzz",
      dependencies: fuzzing,
      path: "Tests/FuzzTests",
      exclude: ["Corpora", "CorpusTests.swift"],
      swiftSettings: settings,
      // The default linker of some systems fails over the sanitizers' sections.
      linkerSettings: [.unsafeFlags(["-use-ld=lld"])]
    ))
}

// Only the documentation needs it; `Scripts/check-docs.py` sets the variable.
if Context.environment["TALLY_DOCUMENTATION"] == "1" {
  package.dependencies.append(.package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0"))
}
