import Foundation
import SystemPackage
import Tally
import TallyTestSupport
import Testing

/// Two devices with stores of their own, which synchronise through a folder by the program.
struct SyncTests {
  @Test func theAnswersHaveTheKeysOfTheContract() throws {
    try withDevices { devices in
      let setup = try devices.answer("first", "setup", devices.folder)
      #expect(Set(setup.keys) == ["space", "replica", "invitation", "recoveryCode"])
      let invitation = try #require(setup["invitation"] as? String)
      let invited = try devices.answer("first", "invite")
      #expect(Set(invited.keys) == ["invitation"])
      let joined = try devices.answer("second", "join", invitation, "--at", devices.folder, "--name", "phone")
      #expect(Set(joined.keys) == ["space", "replica"] && joined["space"] as? String == setup["space"] as? String)
      _ = try devices.run("first", "add", "one")
      let sent = try devices.answer("first", "now")
      #expect(Set(sent.keys) == ["sent", "received", "pending", "conflicts", "blocked"] && sent["sent"] as? Int == 1)
      try devices.expect("received", is: 1, "second", "now")
      let status = try devices.answer("first", "status")
      #expect(
        Set(status.keys).isSuperset(of: [
          "space", "replica", "at", "lastSent", "lastReceived", "refused", "pending", "oldestPending", "replicas",
          "blocked", "conflicts", "tooLarge", "needsUpgrade", "stateHash",
          "isRecoveryCodeOutdated",
        ]))
      try devices.expect("stateHash", is: try #require(status["stateHash"] as? String), "second", "status")
    }
  }

  /// A commit of a command beside it is one append, too.
  @Test func whoSynchronisesForDaysKeepsALog() throws {
    try withTwoDevices { devices in
      let log = devices.store("first") + "/log"
      let (process, output) = try devices.program.start(["--store", devices.store("first"), "sync", "run"])
      try waitUntil("it has a log") { FileManager.default.fileExists(atPath: log) }
      _ = try devices.run("first", "add", "beside it")
      try waitUntil("it has sent that") {
        try String(contentsOfFile: output.string, encoding: .utf8).contains("Sent 1 change")
      }
      #expect(FileManager.default.fileExists(atPath: log))
      process.interrupt()
      process.waitUntilExit()
      #expect(!FileManager.default.fileExists(atPath: log))
      try devices.expect("received", is: 1, "second", "now")
    }
  }

  @Test func theSixDigitsOfEachDeviceAreTheSameOnBoth() throws {
    try withTwoDevices { devices in
      let codes = try ["first", "second"].map { name in
        let members = try #require(try devices.answer(name, "members")["replicas"] as? [[String: Any]])
        return Set(
          members.compactMap { member in (member["code"] as? String).map { "\(member["replica"] ?? "") \($0)" } })
      }
      #expect(codes[0].count == 2 && codes[0] == codes[1])
    }
  }

  @Test func aFolderThatIsNotThereIsSaidWithStatus75AndNothingIsLost() throws {
    try withTwoDevices { devices in
      _ = try devices.run("first", "add", "waits")
      let path = FilePath(devices.folder)
      try FileManager.default.moveItem(atPath: path.string, toPath: path.string + "-away")
      let outcome = try devices.program.run(["--store", devices.store("first"), "sync", "now", "--json"])
      #expect(outcome.status == 75)
      try devices.expect("pending", is: 1, "first", "status")
      try FileManager.default.moveItem(atPath: path.string + "-away", toPath: path.string)
      try devices.expect("sent", is: 1, "first", "now")
    }
  }

  @Test func aStoreThatBelongsToASpaceIsNotSetUpAgain() throws {
    try withTwoDevices { devices in
      let again = try devices.program.run(["--store", devices.store("first"), "sync", "setup", devices.folder])
      #expect(again.status == 64 || again.status == 73, "\(again)")
      #expect(again.errors.contains("belongs to a space already"))
      let joined = try devices.program.run(
        ["--store", devices.directory("third"), "sync", "join", "tally-invite-xx", "--at", devices.folder])
      #expect(joined.status != 0 && !joined.errors.isEmpty)
      try devices.expect("left", is: true, "first", "leave")
      let left = try devices.program.run(["--store", devices.store("first"), "sync", "status"])
      #expect(left.status == 1, "\(left)")
    }
  }

  @Test func aPassphraseWithALineEndOfWindowsOpensTheSpace() throws {
    try withDevices { devices in
      let file = devices.directory("passphrase")
      try Data("correct horse\r\n".utf8).write(to: URL(filePath: file))
      _ = try devices.answer("first", "setup", devices.folder, "--passphrase-file", file)
      try Data("correct horse\n".utf8).write(to: URL(filePath: file))
      _ = try devices.answer("second", "join", "--at", devices.folder, "--passphrase-file", file)
      try Data("wrong\n".utf8).write(to: URL(filePath: file))
      let wrong = try devices.program.run(
        ["--store", devices.store("third"), "sync", "join", "--at", devices.folder, "--passphrase-file", file])
      #expect(wrong.status != 0 && wrong.errors.contains("passphrase"))
    }
  }

  @Test func mostTasksDeletedElsewhereAreRestoredInOneStep() throws {
    try withTwoDevices { devices in
      let lines = (0..<60).map { "task \($0)" }.joined(separator: "\n")
      _ = try devices.program.run(["--store", devices.store("first"), "add", "-"], input: lines)
      _ = try devices.answer("first", "now")
      try devices.expect("received", is: 60, "second", "now")
      _ = try devices.run("second", "delete", "--where", "is:open")
      _ = try devices.answer("second", "now")
      let report = try devices.program.run(["--store", devices.store("first"), "sync", "now"])
      #expect(report.errors.contains("60 tasks were deleted on another device"), "\(report)")
      let command = try #require(report.errors.split(separator: " trash restore --since ").last)
      let time = String(command.prefix { !$0.isWhitespace })
      _ = try devices.run("first", "trash", "restore", "--since", time)
      let count = try devices.run("first", "count")
      #expect(count.output.contains("60"))
    }
  }

  @Test func aRevokedDeviceIsShutOutOfAFolder() throws {
    try withTwoDevices { devices in
      let invitation = try #require(try devices.answer("first", "invite")["invitation"] as? String)
      let replica = try #require(try devices.answer("second", "status")["replica"] as? String)
      let answer = try devices.answer("first", "revoke", replica)
      #expect(Set(answer.keys) == ["revoked", "recoveryCode"] && answer["revoked"] as? String == replica)
      _ = try devices.run("second", "add", "late")
      let late = try devices.program.run(["--store", devices.store("second"), "sync", "now"])
      #expect(late.status == 1 && late.errors.contains("This device was revoked"), "\(late)")
      try devices.expect("isRevoked", is: true, "second", "status")
      try devices.expect("pending", is: 1, "second", "status")
      let members = try #require(try devices.answer("first", "members")["replicas"] as? [[String: Any]])
      #expect(members.map { $0["isRevoked"] as? Bool } == [false, true])
      let shown = try devices.run("first", "sync", "members")
      #expect(shown.output.contains("revoked"))
      let refused = try devices.program.run(
        ["--store", devices.store("third"), "sync", "join", invitation, "--at", devices.folder])
      #expect(refused.status != 0 && refused.errors.contains("new key"), "\(refused)")
      let code = try #require(answer["recoveryCode"] as? String)
      _ = try devices.answer("third", "join", code, "--at", devices.folder)
    }
  }

  @Test func storesThatShareNoFolderExchangeFiles() throws {
    try withTwoDevices { devices in
      let (file, answer) = (devices.directory("first.tally"), devices.directory("second.tally"))
      _ = try devices.run("first", "add", "from the first")
      _ = try devices.run("second", "add", "from the second")
      try devices.expect("objects", is: 1, "first", "diff", file)
      try devices.expect("objects", is: 1, "second", "apply", file)
      try devices.expect("objects", is: 1, "second", "diff", answer, "--from", file)
      for _ in 0..<2 { _ = try devices.answer("first", "apply", answer) }
      let hashes = try ["first", "second"].map { try devices.answer($0, "status")["stateHash"] as? String }
      #expect(hashes[0] == hashes[1])
      var bytes = try Data(contentsOf: URL(filePath: answer))
      bytes[bytes.count - 100] ^= 1
      try bytes.write(to: URL(filePath: answer))
      let damaged = try devices.program.run(["--store", devices.store("first"), "sync", "apply", answer])
      #expect(damaged.status == 65 && damaged.errors.contains("cannot be read"), "\(damaged)")
    }
  }

  /// Commands that only read answer while another process holds the lock of all writers.
  @Test func whatOnlyReadsWaitsForNoWriter() throws {
    try withTwoDevices { devices in
      _ = try devices.run("first", "add", "waits")
      let store = try TaskStore(at: FilePath(devices.store("first")))
      try store.writeAndWait { _ in
        let status = try devices.answer("first", "status")
        #expect(status["pending"] as? Int == 1 && status["stateHash"] is NSNull)
        #expect(try (devices.answer("first", "members")["replicas"] as? [Any])?.count == 2)
        _ = try devices.answer("first", "invite")
        for command in ["conflicts", "trash"] { _ = try devices.run("first", command) }
      }
      try store.close()
    }
  }

  /// A process that opened the store before another one sets up a space can read the space all the same.
  @Test func aSpaceThatAnotherProcessSetsUpIsKnown() throws {
    try withDevices { devices in
      _ = try devices.run("first", "add", "one")
      let store = try TaskStore(at: FilePath(devices.store("first")))
      _ = try devices.answer("first", "setup", devices.folder)
      #expect(try store.readSynchronization { try $0.hasPending() } == false)
      _ = try devices.run("first", "add", "two")
      #expect(try store.readSynchronization { try $0.pendingSummary().count } == 1)
      try devices.expect("left", is: true, "first", "leave")
      #expect(try store.readSynchronization { try $0.pendingSummary().count } == 0)
      try store.close()
    }
  }

  /// Sends three tasks from the first device, each in a segment of its own; returns the file of the second segment.
  private func sendThreeSegments(_ devices: Devices) throws -> String {
    for title in ["one", "two", "three"] {
      _ = try devices.run("first", "add", title)
      _ = try devices.answer("first", "now")
    }
    let paths = try FileManager.default.subpathsOfDirectory(atPath: devices.folder).sorted()
    return devices.folder + "/" + (try #require(paths.first { $0.contains("/0000000002-") }))
  }

  @Test func changesThatHaveNotArrivedAreSaidWithStatus75() throws {
    try withTwoDevices { devices in
      let file = try sendThreeSegments(devices)
      try FileManager.default.moveItem(atPath: file, toPath: file + ".away")
      let answer = try devices.program.run(["--store", devices.store("second"), "--json", "sync", "now"])
      #expect(answer.status == 75, "\(answer)")
      let report = try #require(try JSONSerialization.jsonObject(with: Data(answer.output.utf8)) as? [String: Any])
      let blocked = try #require((report["blocked"] as? [[String: Any]])?.first)
      #expect(blocked["name"] as? String == "laptop" && blocked["isIncomplete"] as? Bool == true)
      #expect((blocked["missing"] as? [[String: Int]]) == [["first": 2, "last": 2]])
      #expect(report["received"] as? Int == 1 && answer.errors.contains("syncIncomplete"))
      let shown = try devices.program.run(["--store", devices.store("second"), "sync", "now"])
      #expect(shown.status == 75 && !shown.errors.contains("Up to date"), "\(shown)")
      #expect(shown.errors.contains("laptop") && shown.errors.contains("Segment 2 has not arrived"), "\(shown)")
      let status = try devices.run("second", "sync", "status")
      #expect(status.output.contains("Incomplete: laptop, since "), "\(status)")
      #expect(try devices.run("second", "sync", "status", "--plain").output.hasSuffix("\t1\n"))
      try devices.expect("incomplete", is: 1, "second", "status")
      // A newcomer has joined, and is told the same.
      let invitation = try #require(try devices.answer("first", "invite")["invitation"] as? String)
      let joined = try devices.program.run(
        ["--store", devices.store("third"), "sync", "join", invitation, "--at", devices.folder])
      #expect(joined.status == 75 && joined.errors.contains("Joined the space."), "\(joined)")
      #expect(joined.errors.contains("Segment 2 has not arrived"), "\(joined)")
      try FileManager.default.moveItem(atPath: file + ".away", toPath: file)
      try devices.expect("received", is: 2, "second", "now")
      try devices.expect("incomplete", is: 0, "second", "status")
      try devices.expect("received", is: 2, "third", "now")
    }
  }

  @Test func aMoveSaysWhatStaysAtTheOldPlace() throws {
    try withTwoDevices { devices in
      let file = try sendThreeSegments(devices)
      let bytes = try Data(contentsOf: URL(filePath: file))
      try bytes.dropLast().write(to: URL(filePath: file))
      for name in ["new", "newer"] {
        try FileManager.default.createDirectory(atPath: devices.directory(name), withIntermediateDirectories: true)
      }
      let moved = try devices.answer("second", "move", devices.directory("new"))
      #expect(moved["notCopied"] as? Int == 1 && moved["exchanged"] as? Bool == true, "\(moved)")
      #expect((moved["blocked"] as? [[String: Any]])?.map { $0["name"] as? String } == ["laptop"], "\(moved)")
      let again = try devices.run("second", "sync", "move", devices.directory("newer"))
      #expect(again.errors.contains("Changes of 1 device are missing"), "\(again)")
      try FileManager.default.removeItem(atPath: devices.folder)
      let alone = try devices.run("first", "sync", "move", devices.directory("newer"))
      #expect(alone.errors.contains("The old place could not be reached or read"), "\(alone)")
    }
  }

  /// A private mask stays private, except in a folder that a group shares.
  @Test(arguments: [
    ("077", "0755", 0o700, 0o600), ("022", "0755", 0o755, 0o644), ("077", "1777", 0o700, 0o600),
    ("022", "1777", 0o755, 0o644), ("027", "0711", 0o750, 0o640), ("077", "2770", 0o2770, 0o660),
    ("022", "3775", 0o2775, 0o664), ("077", "0775", 0o775, 0o664),
  ])
  func filesInTheFolderObeyTheMask(mask: String, mode: String, directories: Int, files: Int) throws {
    try withDevices { devices in
      let script =
        "umask \(mask); chmod \(mode) folder; tally sync setup folder --no-encryption --quiet && tally add x --quiet && tally sync now --quiet"
      let outcome = try FailureTests.shell(devices.program, script)
      #expect(outcome.status == 0, "\(outcome)")
      let paths = try FileManager.default.subpathsOfDirectory(atPath: devices.folder)
      #expect(paths.count > 5)
      for path in paths {
        let status = try FilePath(devices.folder).appending(path).stat()
        let isDirectory = status.type == .directory
        let permissions = Int(status.permissions.rawValue)
        // Whether the group may also write a file is up to the mask of its author.
        let ignored = isDirectory ? 0 : 0o022
        #expect(permissions & ~ignored == (isDirectory ? directories : files) & ~ignored, "\(path)")
      }
    }
  }

  @Test func verificationLooksAtTheRowsOfSynchronisation() throws {
    try withTwoDevices { devices in
      let report = try devices.run("first", "verify")
      #expect(report.output.hasPrefix("Sound"))
      _ = try devices.run("first", "verify", "--repair")
      try devices.expect("blocked", is: [String](), "first", "now")
    }
  }
}

/// Stores in a directory, and a folder between them.
struct Devices {
  let program: Program

  var folder: String { directory("folder") }

  func directory(_ name: String) -> String { program.directory.appending(name).string }
  func store(_ name: String) -> String { directory("store-" + name) }

  func run(_ device: String, _ arguments: String...) throws -> Outcome {
    let outcome = try program.run(["--store", store(device)] + arguments)
    #expect(outcome.status == 0, "\(arguments): \(outcome)")
    return outcome
  }

  /// Expects one value of the JSON that `tally sync` with some arguments prints.
  func expect<Value: Equatable>(
    _ key: String, is value: Value, _ device: String, _ arguments: String...,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let found = try answer(device, arguments)[key] as? Value
    #expect(found == value, sourceLocation: sourceLocation)
  }

  func answer(_ device: String, _ arguments: String...) throws -> [String: Any] {
    try answer(device, arguments)
  }

  /// The JSON that `tally sync` with some arguments prints.
  private func answer(_ device: String, _ arguments: [String]) throws -> [String: Any] {
    let outcome = try program.run(["--store", store(device), "--json", "sync"] + arguments)
    #expect(outcome.status == 0, "\(arguments): \(outcome)")
    return try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
  }
}

func withDevices(_ body: (Devices) throws -> Void) throws {
  try withProgram { program in
    let devices = Devices(program: program)
    try FileManager.default.createDirectory(atPath: devices.folder, withIntermediateDirectories: true)
    try body(devices)
  }
}

func withTwoDevices(_ body: (Devices) throws -> Void) throws {
  try withDevices { devices in
    let setup = try devices.answer("first", "setup", devices.folder, "--name", "laptop")
    let invitation = try #require(setup["invitation"] as? String)
    _ = try devices.answer("second", "join", invitation, "--at", devices.folder, "--name", "phone")
    _ = try devices.answer("first", "now")
    try body(devices)
  }
}
