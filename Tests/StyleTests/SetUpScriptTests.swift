import Foundation
import Testing

/// Runs `Scripts/set-up.sh` where the only programs are stand-ins, so that nothing is installed on this machine.
struct SetUpScriptTests {
  /// A folder that is the whole `PATH`.
  private struct Stage: ~Copyable {
    let folder: URL

    init() throws {
      folder = URL.temporaryDirectory.appending(path: "tally-set-up-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      for tool in ["bash", "env", "touch"] {
        let real = try #require(["/bin", "/usr/bin"].first { FileManager.default.fileExists(atPath: "\($0)/\(tool)") })
        try FileManager.default.createSymbolicLink(
          atPath: folder.appending(path: tool).path,
          withDestinationPath: "\(real)/\(tool)"
        )
      }
      try addProgram("swift", "exit 0")
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func addProgram(_ name: String, _ body: String) throws {
      let file = folder.appending(path: name)
      try "#!\(folder.path)/bash\n\(body)\n".write(to: file, atomically: true, encoding: .utf8)
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
    }

    /// Adds a `pkg-config` that finds LMDB once `apt-get install` was run, and such an `apt-get`.
    func addPackageManager(updateStatus: Int = 0) throws {
      try addProgram("pkg-config", "[ -e \(folder.path)/installed ]")
      let log = "echo \"$*\" >> \(folder.path)/apt.log"
      try addProgram(
        "apt-get",
        "\(log)\ncase $* in *update) exit \(updateStatus);; *) touch \(folder.path)/installed;; esac"
      )
    }

    func addUser(id: Int) throws { try addProgram("id", "echo \(id)") }

    var packageManagerCalls: [String] {
      let log = try? String(contentsOf: folder.appending(path: "apt.log"), encoding: .utf8)
      return log?.split(separator: "\n").map(String.init) ?? []
    }

    func runSetUp(_ arguments: String...) throws -> ScriptRun {
      try ScriptRun(
        "Scripts/set-up.sh",
        arguments,
        shell: folder.appending(path: "bash").path,
        environment: ["PATH": folder.path]
      )
    }
  }

  private static let install = "-q -y install --no-install-recommends liblmdb-dev"

  @Test func nothingIsInstalledIfNothingIsMissing() throws {
    let stage = try Stage()
    try stage.addPackageManager()
    try stage.addProgram("touch", "exit 0")
    try stage.addProgram("pkg-config", "exit 0")
    let run = try stage.runSetUp()
    #expect(run.status == 0)
    #expect(run.errors.isEmpty)
    #expect(stage.packageManagerCalls.isEmpty)
  }

  @Test func rootInstallsTheMissingLibrary() throws {
    let stage = try Stage()
    try stage.addPackageManager()
    try stage.addUser(id: 0)
    #expect(try stage.runSetUp().status == 0)
    #expect(stage.packageManagerCalls == ["-q -y update", Self.install])
  }

  @Test func packageListThatCannotBeRefreshedDoesNotStopTheSetUp() throws {
    let stage = try Stage()
    try stage.addPackageManager(updateStatus: 100)
    try stage.addUser(id: 0)
    #expect(try stage.runSetUp().status == 0)
    #expect(stage.packageManagerCalls.last == Self.install)
  }

  @Test func sudoIsUsedIfItNeedsNoPassword() throws {
    let stage = try Stage()
    try stage.addPackageManager()
    try stage.addUser(id: 1000)
    try stage.addProgram("sudo", "case $1 in -n) exit 0;; *) \"$@\";; esac")
    #expect(try stage.runSetUp().status == 0)
    #expect(stage.packageManagerCalls.last == Self.install)
  }

  @Test func withoutAWayToInstallTheMessageNamesThePackages() throws {
    let stage = try Stage()
    try stage.addPackageManager()
    try stage.addUser(id: 1000)
    try stage.addProgram("sudo", "exit 1")
    let run = try stage.runSetUp()
    #expect(run.status == 1)
    #expect(stage.packageManagerCalls.isEmpty)
    for part in ["missing: liblmdb-dev", "brew install lmdb", "dnf install lmdb-devel"] {
      #expect(run.errors.contains(part))
    }
  }

  @Test func missingPkgConfigIsNamedToo() throws {
    let stage = try Stage()
    try stage.addUser(id: 0)
    let run = try stage.runSetUp()
    #expect(run.status == 1)
    #expect(run.errors.contains("missing: pkg-config liblmdb-dev"))
  }

  @Test func benchmarksAlsoInstallTheLibraryOfTheirPeer() throws {
    let stage = try Stage()
    try stage.addPackageManager()
    try stage.addUser(id: 0)
    #expect(try stage.runSetUp("bench").status == 0)
    #expect(stage.packageManagerCalls.last == Self.install + " libsqlite3-dev")
  }

  @Test func browserThatCannotBeInstalledIsNotAFailure() throws {
    let stage = try Stage()
    try stage.addUser(id: 0)
    #expect(try stage.runSetUp("browser").status == 0)
    try stage.addProgram("apt-get", "exit 100")
    let run = try stage.runSetUp("browser")
    #expect(run.status == 0)
    #expect(run.errors.contains("Chromium could not be installed"))
  }

  @Test func unknownArgumentIsRefused() throws {
    let run = try Stage().runSetUp("everything")
    #expect(run.status == 1)
    #expect(run.errors.contains("unknown argument everything"))
  }

  @Test func installationThatDoesNotHelpIsReported() throws {
    let stage = try Stage()
    try stage.addPackageManager()
    try stage.addUser(id: 0)
    try stage.addProgram("pkg-config", "exit 1")
    let run = try stage.runSetUp()
    #expect(run.status == 1)
    #expect(run.errors.contains("PKG_CONFIG_PATH"))
  }
}
