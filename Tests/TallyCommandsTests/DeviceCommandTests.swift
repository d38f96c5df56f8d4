import Foundation
import SystemPackage
import TallyTestSupport
import Testing

/// What a person can do about other devices: lists of the same name, values that lost, names, places, clocks.
struct DeviceCommandTests {
  private func json(_ outcome: Outcome) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
  }

  private func synchronize(_ devices: Devices) throws {
    for name in ["first", "second", "first", "second"] { _ = try devices.answer(name, "now") }
  }

  // MARK: - Lists

  @Test func listsOfOneNameAreOfferedAndMerged() throws {
    try withTwoDevices { devices in
      for (name, task) in [("first", "milk"), ("second", "eggs")] {
        _ = try devices.run(name, "lists", "add", "Week end")
        _ = try devices.run(name, "add", task, "--list", "Week end")
      }
      _ = try devices.answer("first", "now")
      let brought = try devices.run("second", "sync", "now")
      func command(_ name: String) -> String {
        "tally --store \(devices.store(name)) lists merge 'Week end' 'Week end'\n"
      }
      #expect(
        brought.errors.contains("2 lists are named “Week end”") && brought.errors.contains(command("second")),
        "\(brought)")
      #expect(try !devices.run("second", "sync", "now").errors.contains("lists merge"))
      let report = try json(devices.run("first", "sync", "now", "--json"))
      let groups = try #require(report["listsOfOneName"] as? [[[String: Any]]])
      #expect(groups.count == 1 && groups[0].compactMap { $0["name"] as? String } == ["Week end", "Week end"])
      let refused = try devices.program.run(["--store", devices.store("first"), "add", "x", "--list", "Week end"])
      #expect(
        refused.status == 1 && refused.errors.contains(command("first")) && refused.errors.contains("1 open"),
        "\(refused)")
      let merged = try json(devices.run("first", "lists", "merge", "Week end", "Week end", "--json"))
      #expect((merged["changed"] as? [Any])?.count == 1 && (merged["deleted"] as? [Any])?.count == 1)
      _ = try devices.run("first", "add", "bread", "--list", "Week end")
      try synchronize(devices)
      for name in ["first", "second"] {
        #expect(try devices.run(name, "list", "Week end", "--plain").output.split(separator: "\n").count == 3)
      }
      _ = try devices.run("first", "undo", "2")
      #expect(try devices.run("first", "lists", "--plain").output.split(separator: "\n").count == 2)
    }
  }

  @Test func listsAreNamedByTheEndOfTheirIDs() throws {
    try withProgram { program in
      for _ in 0..<3 { _ = try program.run(["lists", "add", "Groceries", "--force"]) }
      let ids = try program.run(["lists", "--plain"]).output.split(separator: "\n").compactMap {
        $0.split(separator: "\t").dropFirst(2).first.map(String.init)
      }
      #expect(ids.count == 3)
      _ = try program.run(["add", "one", "--list", ids[1]])
      let one = try program.run(["lists", "merge", String(ids[1].suffix(12)), String(ids[0].suffix(12))])
      #expect(one.status == 0 && one.errors.contains("moved 1 task"), "\(one)")
      let itself = try program.run(["lists", "merge", ids[0], ids[0]])
      #expect(itself.status == 64 && itself.errors.contains("with itself"), "\(itself)")
      let ambiguous = try program.run(["lists", "merge", "Groceries", ids[0]])
      #expect(ambiguous.status == 1, "\(ambiguous)")
      #expect(try program.run(["lists", "merge", "groceries", "groceries"]).status == 0)
      #expect(try program.run(["lists", "merge", "groceries", "groceries"]).status == 64)
      #expect(try program.run(["list", "groceries", "--plain"]).output.contains("one"))
    }
  }

  @Test func listsWhoseNamesDifferByCaseAreMerged() throws {
    try withProgram { program in
      for name in ["Groceries", "groceries"] {
        _ = try program.run(["lists", "add", name, "--force"])
        _ = try program.run(["add", "in \(name)", "--list", name])
      }
      let refused = try program.run(["add", "x", "--list", "GROCERIES"])
      #expect(refused.errors.contains("tally lists merge GROCERIES GROCERIES"), "\(refused)")
      #expect(try program.run(["lists", "merge", "GROCERIES", "GROCERIES"]).status == 0)
      #expect(try program.run(["undo"]).status == 0)
      #expect(try program.run(["lists", "merge", "groceries", "Groceries"]).status == 0)
      #expect(try program.run(["list", "GROCERIES", "--plain"]).output.split(separator: "\n").count == 2)
    }
  }

  // MARK: - Conflicts

  private func withConflicts(_ count: Int, _ body: (Devices, [String]) throws -> Void) throws {
    try withTwoDevices { devices in
      for number in 0..<count { _ = try devices.run("first", "add", "task \(number)") }
      try synchronize(devices)
      let found = try json(devices.run("first", "all", "--json"))
      let sections = try #require(found["sections"] as? [[String: Any]])
      let handles = sections.flatMap { $0["tasks"] as? [[String: Any]] ?? [] }.compactMap { $0["handle"] as? String }
      for name in ["first", "second"] {
        for handle in handles { _ = try devices.run(name, "edit", handle, "--title", "by \(name)") }
      }
      try synchronize(devices)
      try body(devices, handles)
    }
  }

  @Test func conflictsAreDismissedEverywhere() throws {
    try withConflicts(3) { devices, _ in
      let shown = try devices.run("second", "conflicts")
      #expect(shown.output.contains("by laptop") || shown.output.contains("by phone"), "\(shown)")
      #expect(shown.errors.contains("conflicts dismiss"), "\(shown)")
      let one = try json(devices.run("first", "conflicts", "dismiss", "2", "--json"))
      #expect((one["dismissed"] as? [[String: Any]])?.compactMap { $0["id"] as? Int } == [2])
      try synchronize(devices)
      #expect(try devices.run("second", "conflicts", "--plain").output.split(separator: "\n").count == 2)
      let missing = try devices.program.run(["--store", devices.store("first"), "conflicts", "dismiss", "99"])
      #expect(missing.status == 1, "\(missing)")
      let nothing = try devices.program.run(["--store", devices.store("first"), "conflicts", "dismiss"])
      #expect(nothing.status == 64, "\(nothing)")
      for name in ["second", "first"] { _ = try devices.run(name, "conflicts", "dismiss", "--all") }
      try synchronize(devices)
      for name in ["first", "second"] {
        #expect(try devices.run(name, "conflicts", "--plain").output.isEmpty)
        #expect(try !devices.run(name, "sync", "now").errors.contains("conflict"))
      }
    }
  }

  @Test func whatIsRestoredIsNamedAndCanBeUndone() throws {
    try withConflicts(2) { devices, handles in
      let restored = try devices.run("first", "conflicts", "restore", "1").errors
      #expect(handles.contains { restored.contains("Restored the title of \($0) “by ") }, "\(restored)")
      #expect(restored.contains("To undo: tally --store "), "\(restored)")
      let shown = try devices.run("first", "conflicts", "--plain").output
      _ = try devices.run("first", "undo")
      #expect(try devices.run("first", "conflicts", "--plain").output != shown, "An undo brings the conflict back.")
      _ = try devices.run("first", "delete", handles[0])
      let back = try devices.run("first", "trash", "restore", handles[0]).errors
      #expect(back.contains("Restored \(handles[0]) “by ") && back.contains("To undo: tally --store "), "\(back)")
    }
  }

  @Test(arguments: ["1h", "tomorrow", "2126-01-01"])
  func theTrashIsNotRestoredFromAFutureTime(_ time: String) throws {
    try withTwoDevices { devices in
      let refused = try devices.program.run(["--store", devices.store("first"), "trash", "restore", "--since", time])
      #expect(refused.status == 64 && refused.errors.contains("is in the future"), "\(refused)")
    }
  }

  @Test(arguments: ["missing", "127.0.0.1:8420"])
  func aSpaceInAFolderThatDoesNotExistIsRefused(_ folder: String) throws {
    try withProgram { program in
      _ = try program.run(["add", "one"])
      let refused = try program.run(["sync", "setup", folder])
      #expect(refused.status == 75 && refused.errors.contains("Create the folder first"), "\(refused)")
      #expect(try program.run(["sync", "status"]).status != 0, "It has no space now.")
    }
  }

  @Test func allConflictsAreRestoredAtOnce() throws {
    try withConflicts(2) { devices, handles in
      let restored = try json(devices.run("second", "conflicts", "restore", "--all", "--json"))
      let conflicts = try #require(restored["restored"] as? [[String: Any]])
      #expect(conflicts.count == 2 && (restored["kept"] as? [Any])?.isEmpty == true)
      // Both devices have written at the same time, so their ids decide which value has lost.
      let lost = try #require(conflicts.first?["lost"] as? String)
      try synchronize(devices)
      for name in ["first", "second"] {
        #expect(try devices.run(name, "conflicts", "--plain").output.isEmpty)
        for handle in handles { #expect(try devices.run(name, "show", handle, "--plain").output.contains(lost)) }
      }
    }
  }

  // MARK: - Names

  @Test func devicesAreRenamedAndRevokedByName() throws {
    try withTwoDevices { devices in
      _ = try devices.run("second", "sync", "members", "rename", "laptop", "phone of Ada")
      let renamed = try json(devices.run("second", "sync", "members", "rename", "tablet", "--json"))
      #expect(renamed["name"] as? String == "tablet")
      try synchronize(devices)
      for name in ["first", "second"] {
        let members = try #require(try devices.answer(name, "members")["replicas"] as? [[String: Any]])
        #expect(Set(members.compactMap { $0["name"] as? String }) == ["phone of Ada", "tablet"])
      }
      // Two devices of the same name.
      _ = try devices.run("first", "sync", "members", "rename", "tablet")
      try synchronize(devices)
      let members = try #require(try devices.answer("first", "members")["replicas"] as? [[String: Any]])
      let handles = members.compactMap { $0["handle"] as? String }
      let status = try devices.run("first", "sync", "status")
      #expect(status.output.contains("tablet (\(handles[1]))"), "\(status)")
      let refused = try devices.program.run(["--store", devices.store("first"), "--json", "sync", "revoke", "tablet"])
      #expect(refused.status == 1, "\(refused)")
      for handle in handles { #expect(refused.errors.contains(handle), "\(refused)") }
      let unknown = try devices.program.run(["--store", devices.store("first"), "sync", "revoke", "toaster"])
      #expect(unknown.status == 1 && unknown.errors.contains("tally sync members"), "\(unknown)")
      let itself = try devices.program.run(["--store", devices.store("first"), "sync", "revoke", handles[0]])
      #expect(itself.status == 64, "\(itself)")
      _ = try devices.run("first", "sync", "members", "rename", handles[1], "Old tablet")
      let revoked = try devices.answer("first", "revoke", "old tablet")
      #expect(revoked["revoked"] as? String == members[1]["replica"] as? String)
    }
  }

  @Test func theHistorySaysWhichDeviceMadeAChange() throws {
    try withTwoDevices { devices in
      _ = try devices.run("first", "add", "one")
      try synchronize(devices)
      let tasks = try json(devices.run("second", "inbox", "--json"))["sections"] as? [[String: Any]]
      let handle = try #require((tasks?.first?["tasks"] as? [[String: Any]])?.first?["handle"] as? String)
      _ = try devices.run("second", "edit", handle, "--title", "two")
      try synchronize(devices)
      for command in [["history"], ["history", handle]] {
        let changes = try #require(
          try json(devices.program.run(["--store", devices.store("first"), "--json"] + command))["changes"]
            as? [[String: Any]])
        #expect(changes.map { $0["device"] as? String } == ["phone", "laptop"], "\(changes)")
      }
      let shown = try devices.run("first", "show", handle)
      #expect(shown.output.contains("by phone") && !shown.output.contains("by laptop"), "\(shown)")
      let plain = try devices.run("first", "history", "--plain").output.split(separator: "\n")
      #expect(plain.map { $0.split(separator: "\t").last } == ["phone", "laptop"])
      let alone = try devices.program.run(["--store", devices.store("alone"), "add", "x"])
      #expect(alone.status == 0)
      let change = try json(devices.program.run(["--store", devices.store("alone"), "--json", "history"]))
      #expect((change["changes"] as? [[String: Any]])?.first?["device"] is NSNull)
    }
  }

  // MARK: - Place, code, clock

  @Test func aFolderThatWasMovedGoesOn() throws {
    try withTwoDevices { devices in
      _ = try devices.run("first", "add", "waits")
      let moved = devices.directory("moved folder")
      try FileManager.default.moveItem(atPath: devices.folder, toPath: moved)
      let lost = try devices.program.run(["--store", devices.store("first"), "sync", "now"])
      #expect(lost.status == 75)
      let replica = try #require(try devices.answer("first", "status")["replica"] as? String)
      let answer = try devices.answer("first", "move", moved)
      #expect(answer["replica"] as? String == replica && answer["at"] as? String == moved)
      #expect(answer["lacksOwnSegments"] as? Bool == false)
      _ = try devices.run("second", "sync", "move", moved)
      try devices.expect("pending", is: 0, "first", "status")
      #expect(try devices.run("second", "inbox", "--plain").output.contains("waits"))
      let missing = try devices.program.run(
        ["--store", devices.store("first"), "sync", "move", devices.directory("nowhere")])
      #expect(missing.status == 75, "\(missing)")
      let other = devices.directory("other folder")
      try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
      _ = try devices.program.run(["--store", devices.store("third"), "sync", "setup", other])
      let refused = try devices.program.run(["--store", devices.store("first"), "sync", "move", other])
      #expect(refused.status == 64 && refused.errors.contains("another space"), "\(refused)")
      try devices.expect("at", is: moved, "first", "status")
    }
  }

  @Test func theRecoveryCodeIsShownAgain() throws {
    try withDevices { devices in
      let setup = try devices.answer("first", "setup", devices.folder)
      let code = try devices.answer("first", "recovery-code")
      #expect(code["recoveryCode"] as? String == setup["recoveryCode"] as? String)
      #expect(try devices.run("first", "sync", "recovery-code", "--plain").output.hasPrefix("tally-recovery-"))
      _ = try devices.answer("second", "setup", devices.folder, "--no-encryption")
      let none = try devices.program.run(["--store", devices.store("second"), "sync", "recovery-code"])
      #expect(none.status == 64 && none.errors.contains("not encrypted"), "\(none)")
    }
  }

  @Test func aWrongClockIsSaid() throws {
    try withDevices { devices in
      let setup = try devices.answer("first", "setup", devices.folder, "--name", "laptop")
      let code = try #require(setup["recoveryCode"] as? String)
      // The device of a person whose clock is nine years ahead.
      func late(_ arguments: String...) throws -> Outcome {
        try devices.program.runBare(["--store", devices.store("second"), "--now", "2035-11-21T12:00:00Z"] + arguments)
      }
      _ = try late("sync", "join", code, "--at", devices.folder, "--name", "phone")
      _ = try late("log", "done in 2035")
      _ = try late("sync", "now")
      let received = try devices.run("first", "sync", "now")
      #expect(received.errors.contains("The clock of “phone” is 8 years ahead of this device's"), "\(received)")
      let status = try devices.run("first", "sync", "status")
      #expect(status.errors.contains("“phone”"), "\(status)")
      let clocks = try #require(try devices.answer("first", "status")["clocks"] as? [[String: Any]])
      #expect(clocks.count == 1 && clocks[0]["name"] as? String == "phone")
      #expect(clocks[0]["secondsAhead"] as? Int == 283_996_800, "\(clocks)")
      #expect((try devices.answer("first", "now")["clocks"] as? [Any])?.count == 1)
    }
  }
}
