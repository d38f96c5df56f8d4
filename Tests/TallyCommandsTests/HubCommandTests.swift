import Foundation
import SystemPackage
import Tally
import TallySync
import TallyTestSupport
import Testing

@testable import TallyCommands

/// Commands that reach a hub, without one.
struct HubCommandTests {
  @Test(arguments: [
    "http://hub.example", "http://192.168.1.2:8420/", "http://127.0.0.1.hub.example", "http://localhost@hub.example",
    "http://127.0.0.256", "HTTP://hub.example", "Http://192.168.1.2", "http:///nothing",
    "http://[fe80::1]:8420", "http://localhost .hub.example",
  ])
  func anAddressWithoutTLSOnAnotherMachineIsExposed(_ address: String) {
    #expect(HubAddress(address).isExposed)
  }

  @Test(arguments: [
    "https://hub.example", "http://127.0.0.1:8420", "http://127.8.9.10/#membership.key", "http://localhost:8420",
    "http://[::1]:8420",
  ])
  func anAddressOnThisMachineOrWithTLSIsNot(_ address: String) {
    #expect(!HubAddress(address).isExposed)
  }

  @Test(arguments: [
    ["setup", "http://hub.example"], ["setup", "HTTP://hub.example"], ["join", "http://hub.example/#membership.key"],
  ])
  func aTokenIsNotSentInTheClearUnlessAsked(_ arguments: [String]) throws {
    try withProgram { program in
      let refused = try program.run(["sync"] + arguments)
      #expect(refused.status == 64 && refused.errors.contains("--insecure"), "\(refused)")
      // This program has no client for hubs: it gets as far as to look for one.
      let allowed = try program.run(["sync"] + arguments + ["--insecure"])
      #expect(allowed.status == 75 && allowed.errors.contains("tally-hub-client"), "\(allowed)")
      let loopback = try program.run(["sync"] + arguments.map { $0.replacing("hub.example", with: "127.0.0.1") })
      #expect(loopback.status == 75, "\(loopback)")
    }
  }

  @Test func anInvitationOfAMoveMayComeFromStandardInputAndNeedsNoAccount() throws {
    try withProgram { program in
      _ = try program.run(["add", "one"])
      // The program that reaches hubs reads it.
      let read = try program.run(["sync", "move", "-"])
      #expect(read.status == 75 && read.errors.contains("tally-hub-client"), "\(read)")
      for option in [["--same-hub"], ["--account-file", "/dev/null"]] {
        let refused = try program.run(["sync", "move", "https://hub.example/#membership.key"] + option)
        #expect(refused.status == 64 && refused.errors.contains("Give the invitation alone"), "\(refused)")
      }
    }
  }

  @Test func aClientThatCannotBeStartedIsSaidToBeThere() throws {
    try withProgram { program in
      var program = program
      program.environment["PATH"] = program.directory.string
      let client = program.directory.appending("tally-hub-client").string
      try Data("no program".utf8).write(to: URL(filePath: client))
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: client)
      let outcome = try program.run(["sync", "setup", "https://hub.example"])
      #expect(outcome.status == 75 && outcome.errors.contains("cannot be started"), "\(outcome)")
      try FileManager.default.removeItem(atPath: client)
      let missing = try program.run(["sync", "setup", "https://hub.example"])
      #expect(missing.status == 75 && missing.errors.contains("not found"), "\(missing)")
    }
  }

  /// The hub may have changes that this device lacks, so the program that reaches it makes the move.
  @Test(arguments: ["move", "now"]) func aStoreAtAHubIsLeftToTheClientForHubs(_ command: String) async throws {
    try await withTemporaryDirectory { directory in
      let program = Program(in: directory)
      let (folder, path) = (program.directory.appending("shared"), program.directory.appending("moved"))
      try FileManager.default.createDirectory(atPath: folder.string, withIntermediateDirectories: true)
      let store = try TaskStore(at: path)
      _ = try await StoreSync(store).setUp(in: folder, deviceName: "first")
      let sync = StoreSync(store, connector: FolderInPlaceOfAHub(folder: folder))
      try await sync.move(to: SyncPlace("https://hub.example", token: "token"))
      try store.close()
      let arguments = ["--store", path.string, "sync", command] + (command == "move" ? [folder.string] : [])
      let outcome = try program.run(arguments)
      #expect(outcome.status == 75 && outcome.errors.contains("tally-hub-client"), "\(outcome)")
    }
  }

  @Test(arguments: [
    ["tally-invite-abc"], ["tally-recovery-07080"], [""], ["README"], ["folder", "--same-hub"],
    ["https://hub.example", "--same-hub", "--account-file", "file"],
  ])
  func whatIsNoPlaceIsRefused(_ arguments: [String]) throws {
    try withProgram { program in
      let file = program.directory.appending("README").string
      try Data().write(to: URL(filePath: file))
      let arguments = arguments.map { $0 == "README" ? file : $0 }
      let outcome = try program.run(["sync", "move"] + arguments)
      #expect(outcome.status == 64 && !outcome.errors.contains("07080"), "\(outcome)")
    }
  }

  @Test func theScreensAreShownByAProgramThatGetsTheStoreAndTheSettings() throws {
    try withProgram { program in
      var program = program
      program.environment["PATH"] = "\(program.directory.string):/usr/bin:/bin"
      let missing = try program.run(["web"])
      #expect(missing.status == 75 && missing.errors.contains("tally-web"), "\(missing)")
      let web = program.directory.appending("tally-web").string
      try Data("#!/bin/sh\necho \"$@\"\n".utf8).write(to: URL(filePath: web))
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: web)
      let shown = try program.run([
        "web", "--port", "0", "--open", "--time-zone", "Asia/Kathmandu", "--week-start", "sunday",
      ])
      #expect(shown.status == 0, "\(shown)")
      #expect(
        shown.output.contains(
          "--time-zone Asia/Kathmandu --week-start 1 --day-start 0 --next-weights 50,40,30,10,10,0,2,1 --port 0 --open"),
        "\(shown)")
    }
  }

  @Test func anInvitationIsReadFromStandardInput() throws {
    try withProgram { program in
      let folder = program.directory.appending("shared").string
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      let other = program.directory.appending("other").string
      let setup = try program.run(["--store", other, "sync", "setup", folder, "--json"])
      let answer = try #require(
        try JSONSerialization.jsonObject(with: Data(setup.output.utf8)) as? [String: Any])
      let invitation = try #require(answer["invitation"] as? String)
      let joined = try program.run(["sync", "join", "-", "--at", folder], input: invitation + "\n")
      #expect(joined.status == 0, "\(joined)")
      let hub = try program.run(["sync", "join", "-", "--at", folder], input: "https://hub.example/#membership.key\n")
      #expect(hub.status == 64 && hub.errors.contains("--at"), "\(hub)")
    }
  }

  @Test func theClientForHubsReadsTheInvitationItself() throws {
    try withProgram { program in
      var program = program
      program.environment["PATH"] = "\(program.directory.string):/usr/bin:/bin"
      let client = program.directory.appending("tally-hub-client").string
      try Data("#!/bin/sh\necho \"read $(cat)\"\n".utf8).write(to: URL(filePath: client))
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: client)
      let outcome = try program.run(["sync", "join", "-"], input: "https://hub.example/#membership.key")
      #expect(outcome.output == "read https://hub.example/#membership.key\n", "\(outcome)")
    }
  }

  @Test(arguments: [("--account-file", "token of the account"), ("--hub-secret-file", "secret of the hub")])
  func aFileWithASecretIsCalledWhatItIs(_ option: String, _ name: String) throws {
    try withProgram { program in
      let file = program.directory.appending("empty").string
      let missing = try program.run(["sync", "setup", "https://hub.example", option, file])
      #expect(missing.errors.contains(name) && !missing.errors.contains("assphrase"), "\(missing)")
      try Data().write(to: URL(filePath: file))
      let empty = try program.run(["sync", "setup", "https://hub.example", option, file])
      #expect(empty.status == 64 && empty.errors.contains(name), "\(empty)")
    }
  }

  @Test func aRoleIsOneOfThree() throws {
    try withProgram { program in
      let outcome = try program.run(["sync", "invite", "--role", "guest"])
      #expect(outcome.status == 64 && outcome.errors.contains("owner"), "\(outcome)")
    }
  }
}

/// Reaches a folder where a program with a client would reach a hub.
private struct FolderInPlaceOfAHub: SyncConnector {
  let folder: FilePath

  func transport(to place: SyncPlace, space: SpaceID) throws -> any SyncTransport {
    try FolderTransport(at: folder, space: space.bytes)
  }
}
