// swift-tools-version: 6.2

import PackageDescription

// A warning that may be ignored is soon one of many. An embedder may have a newer compiler that warns of more, so only
// `make` and continuous integration set the variable.
let strict: [SwiftSetting] = Context.environment["TALLY_STRICT"] == "1" ? [.treatAllWarnings(as: .error)] : []

/// Settings of every Swift target, each with its reason.
let settings: [SwiftSetting] =
  strict + [
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
    .library(name: "TallyEngine", targets: ["TallyEngine"]),
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
    // What a store of any records is made of.
    .target(
      name: "TallyEngine",
      dependencies: [
        "LMDB", "TallySystem",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "Tally",
      dependencies: [
        "LMDB", "TallyEngine", "TallySystem",
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
      dependencies: ["Tally", "TallyEngine", .product(name: "SystemPackage", package: "swift-system")],
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
        "Tally", "TallyEngine", "TallyFormats", "TallySync", "TallySystem",
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
      exclude: ["left-stores.tar.gz"],
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
    // A separate program for what one process cannot show: other processes with other schemas, and their end.
    .executableTarget(
      name: "TallyEngineTestHelper",
      dependencies: ["TallyEngine", "TestSupport", .product(name: "SystemPackage", package: "swift-system")],
      path: "Tests/TallyEngineTestHelper",
      swiftSettings: settings
    ),
    .testTarget(
      name: "TallyEngineTests",
      dependencies: [
        "LMDB", "TallyEngine", "TallyEngineTestHelper", "TallySystem", "TestSupport",
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      exclude: ["golden-collections.txt"],
      swiftSettings: settings
    ),
    .testTarget(
      name: "TallyTests",
      dependencies: [
        "LMDB", "Tally", "TallyEngine", "TallySystem", "TallyTestHelper", "TallyTestSupport",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      exclude: [
        "Storage/golden-store-v1.txt", "Storage/golden-store-v2.txt", "Capture/quick-entry-sentences.txt",
        "Storage/golden-described.json", "Storage/golden-described.txt", "Storage/golden-described-shown.txt",
        "Storage/golden-life.json", "Storage/golden-life.txt", "Storage/golden-life-shown.txt",
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
        "LMDB", "Tally", "TallyEngine", "TallySync", "TallySystem", "TallyTestSupport",
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
  "LMDB", "Tally", "TallyCommands", "TallyEngine", "TallyFormats", "TallySync", "TallyTestSupport",
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

// MARK: The hub and the screens

/// What `settings` has but the marks of unsafe code: no server calls C.
let serverSettings: [SwiftSetting] =
  strict + [
    .swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"), .enableUpcomingFeature("MemberImportVisibility"),
  ]

let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let httpClient: Target.Dependency = .product(name: "AsyncHTTPClient", package: "async-http-client")
let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")
let hummingbird: Target.Dependency = .product(name: "Hummingbird", package: "hummingbird")
let lifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let metrics: Target.Dependency = .product(name: "CoreMetrics", package: "swift-metrics")
let nio: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let nioHTTP1: Target.Dependency = .product(name: "NIOHTTP1", package: "swift-nio")
let nioHTTPTypes: Target.Dependency = .product(name: "NIOHTTPTypes", package: "swift-nio-extras")
let nioPosix: Target.Dependency = .product(name: "NIOPosix", package: "swift-nio")
let ssl: Target.Dependency = .product(name: "NIOSSL", package: "swift-nio-ssl")
let systemPackage: Target.Dependency = .product(name: "SystemPackage", package: "swift-system")
let unixSignals: Target.Dependency = .product(name: "UnixSignals", package: "swift-service-lifecycle")

// A variable instead of traits: who embeds Tally or builds its command line resolves none of these packages, and what is
// built with the variable is built once for all. `make` sets it where it needs a server.
if Context.environment["TALLY_SERVERS"] == "1" {
  package.dependencies += [
    .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.0.2"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: ["FullFoundation"]),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
  ]
  package.products += [
    .library(name: "HubClient", targets: ["HubClient"]),
    .executable(name: "tally-hub", targets: ["TallyHub"]),
    .executable(name: "tally-hub-client", targets: ["TallyHubClient"]),
    .executable(name: "tally-web", targets: ["TallyWeb"]),
  ]
  package.targets += hubTargets + webTargets
}

var hubTargets: [Target] {
  [
    .systemLibrary(
      name: "CLibPQ", path: "Hub/Sources/CLibPQ", pkgConfig: "libpq",
      providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
    // How glibc gives memory back.
    .systemLibrary(name: "CMalloc", path: "Hub/Sources/CMalloc"),
    .target(
      name: "HubStorage", dependencies: ["CLibPQ", "LMDB", "TallySync", crypto, systemPackage],
      path: "Hub/Sources/HubStorage",
      resources: [
        .embedInCode("PostgreSQL/Schema/Format1.sql"), .embedInCode("PostgreSQL/Schema/Format2.sql"),
        .embedInCode("PostgreSQL/Schema/Format3.sql"), .embedInCode("PostgreSQL/Schema/Format4.sql"),
        .embedInCode("PostgreSQL/Schema/AppendSegments.sql"),
      ],
      swiftSettings: serverSettings),
    .target(
      name: "HubService",
      dependencies: [
        "HubMetrics", "HubStorage", "HubWire", "TallySync", hummingbird, crypto, logging, nio, metrics, ssl, httpClient,
        nioHTTPTypes, systemPackage, httpTypes, nioHTTP1, lifecycle, unixSignals,
        .product(name: "HummingbirdTLS", package: "hummingbird"), .product(name: "JWTKit", package: "jwt-kit"),
        .product(name: "Instrumentation", package: "swift-distributed-tracing"),
      ],
      path: "Hub/Sources/HubService", swiftSettings: serverSettings),
    .target(
      name: "HubClient",
      dependencies: ["HubWire", "TallySync", httpClient, crypto, nio, ssl, systemPackage, nioHTTP1, nioPosix],
      path: "Hub/Sources/HubClient", swiftSettings: serverSettings),
    // Measurements, as the text that Prometheus reads.
    .target(
      name: "HubMetrics", dependencies: [metrics], path: "Hub/Sources/HubMetrics", swiftSettings: serverSettings),
    // What both sides say to each other.
    .target(name: "HubWire", dependencies: ["TallySync"], path: "Hub/Sources/HubWire", swiftSettings: serverSettings),
    .executableTarget(
      name: "TallyHub",
      dependencies: [
        "CMalloc", "HubMetrics", "HubService", "HubStorage", "HubWire", "TallySync", hummingbird, logging, nio,
        systemPackage, argumentParser, lifecycle, unixSignals,
      ],
      path: "Hub/Sources/TallyHub", swiftSettings: serverSettings),
    .executableTarget(
      name: "TallyHubClient", dependencies: ["HubClient", "TallyCommands", "TallySync"],
      path: "Hub/Sources/TallyHubClient", swiftSettings: serverSettings),
    // Streams of segments that nobody can open, for tests and load.
    .target(
      name: "HubSamples", dependencies: ["TallySync", crypto], path: "Hub/Sources/HubSamples",
      swiftSettings: serverSettings),
    .executableTarget(
      name: "HubLoad",
      dependencies: [
        "HubClient", "HubSamples", "HubWire", "Tally", "TallySync", crypto, httpClient, nio, systemPackage,
        argumentParser,
      ],
      path: "Hub/Sources/HubLoad", swiftSettings: serverSettings),
    .testTarget(
      name: "HubTests",
      dependencies: [
        "HubClient", "HubMetrics", "HubSamples", "HubService", "HubStorage", "HubWire", "Tally", "TallySync",
        "TallySyncConformance", hummingbird, httpClient, metrics, systemPackage, crypto, logging, nio, ssl, httpTypes,
        nioHTTP1, nioPosix, lifecycle,
      ],
      path: "Hub/Tests/HubTests", exclude: ["Fixtures"], swiftSettings: serverSettings),
  ]
}

var webTargets: [Target] {
  [
    // Templates, style and scripts, as bytes of the program: a target of its own, as only a change of one compiles it.
    .target(
      name: "WebAssets", path: "Web/Sources/WebAssets", resources: [.embedInCode("Templates"), .embedInCode("Static")],
      swiftSettings: serverSettings),
    .target(
      name: "WebService",
      dependencies: [
        "WebAssets", "Tally", "TallyFormats", "TallySync", httpTypes, hummingbird, lifecycle, logging, nio,
        systemPackage, .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
        .product(name: "Mustache", package: "swift-mustache"),
      ],
      path: "Web/Sources/WebService", swiftSettings: serverSettings),
    .executableTarget(
      name: "TallyWeb",
      dependencies: [
        "WebService", "Tally", hummingbird, lifecycle, logging, nio, systemPackage, argumentParser, unixSignals,
      ],
      path: "Web/Sources/TallyWeb", swiftSettings: serverSettings),
    .testTarget(
      name: "WebTests",
      dependencies: [
        "WebAssets", "WebService", "Tally", "TallySync", httpTypes, hummingbird, lifecycle, logging, nio, nioPosix,
        systemPackage,
      ],
      path: "Web/Tests/WebTests", swiftSettings: serverSettings),
  ]
}

// MARK: The benchmarks

let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")
let measuring: Target.Dependency = .product(name: "Benchmark", package: "benchmark")

// Who embeds Tally resolves neither its benchmarks nor the peers that they compare; Benchmarks/Scripts sets the variable.
if Context.environment["TALLY_BENCHMARKS"] == "1" {
  package.dependencies += [
    // Without its traits: their allocation counters are separate libraries, and these benchmarks measure time.
    .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ]
  package.targets += [
    .target(
      name: "BenchmarkData", dependencies: [measuring, "CRawLMDB", "Tally", systemPackage],
      path: "Benchmarks/Sources/BenchmarkData", swiftSettings: settings),
    .systemLibrary(
      name: "CPeerLMDB", path: "Benchmarks/Sources/CPeerLMDB", pkgConfig: "lmdb",
      providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
    // liblmdb called from C, without Tally in between: the limit.
    .target(name: "CRawLMDB", dependencies: ["CPeerLMDB"], path: "Benchmarks/Sources/CRawLMDB"),
    .target(
      name: "SQLitePeer", dependencies: ["BenchmarkData", "Tally", systemPackage, grdb],
      path: "Benchmarks/Sources/SQLitePeer", swiftSettings: settings),
    .executableTarget(
      name: "MakeDataSets", dependencies: ["BenchmarkData", "SQLitePeer", "Tally"],
      path: "Benchmarks/Sources/MakeDataSets", swiftSettings: settings),
    .executableTarget(
      name: "ObservationFigures", dependencies: ["Tally", systemPackage],
      path: "Benchmarks/Sources/ObservationFigures", swiftSettings: settings),
    .executableTarget(
      name: "WorkFigures", dependencies: ["BenchmarkData", "CRawLMDB", "Tally", systemPackage],
      path: "Benchmarks/Sources/WorkFigures", swiftSettings: settings),
    .executableTarget(
      name: "WriterProcess", dependencies: ["BenchmarkData", "SQLitePeer", "Tally", systemPackage],
      path: "Benchmarks/Sources/WriterProcess", swiftSettings: settings),
    benchmarks("EngineBenchmarks", dependencies: ["SQLitePeer", "TallyEngine", systemPackage, grdb]),
    benchmarks("FloorBenchmarks"),
    benchmarks("GrowthBenchmarks", dependencies: [systemPackage]),
    benchmarks("PeerBenchmarks", dependencies: ["SQLitePeer", systemPackage, grdb]),
    benchmarks("SyncBenchmarks", dependencies: ["TallySync", systemPackage]),
  ]
}

/// An executable whose benchmarks the program `BenchmarkTool` runs, each in a process of its own.
@MainActor func benchmarks(_ name: String, dependencies: [Target.Dependency] = []) -> Target {
  .executableTarget(
    name: name, dependencies: [measuring, "BenchmarkData", "Tally"] + dependencies,
    // The plugin works on targets in a folder of this name only.
    path: "Benchmarks/Benchmarks/\(name)", swiftSettings: settings,
    plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")])
}
