import Foundation
import Tally
import Testing

@testable import TallyCommands

/// The system's zone is the one that the C library would take.
@Suite struct SystemTimeZoneTests {
  @Test(
    arguments: [
      ("Europe/Paris", "Europe/Paris", 7_200), (":Europe/Paris", "Europe/Paris", 7_200), ("EST", "EST", -18_000),
      ("posix/Asia/Kathmandu", "Asia/Kathmandu", 20_700),
      ("/usr/share/zoneinfo/Asia/Kathmandu", "Asia/Kathmandu", 20_700),
      (":/usr/share/zoneinfo/posix/Asia/Kathmandu", "Asia/Kathmandu", 20_700), ("UTC-3", "GMT+0300", 10_800),
      ("UTC+3", "GMT-0300", -10_800), ("<+03>-3", "GMT+0300", 10_800), ("IST-5:30", "GMT+0530", 19_800), ("", "UTC", 0),
      ("UTC0", "UTC", 0), (":", "UTC", 0),
    ] as [(String, String, Int64)])
  func variableIsReadAsTheCLibraryDoes(setting: String, name: String, offset: Int64) throws {
    let zone = try NamedTimeZone.system(environment: EnvironmentVariables(["TZ": setting]))
    #expect(zone.name == name)
    // 2015-07-01
    #expect(zone.zone.secondsFromGMT(atSecond: 1_435_708_800) == offset)
  }

  @Test(arguments: ["Mars", "CET-1CEST,M3.5.0,M10.5.0/3", "/etc/passwd", "/nonexistent", "../UTC", "GMT+"])
  func whatCannotBeUnderstoodIsRefused(setting: String) {
    let variables = EnvironmentVariables(["TZ": setting])
    let failure = #expect(throws: CommandFailure.self) { try NamedTimeZone.system(environment: variables) }
    #expect(failure?.code == "unknownTimeZone" && failure?.status == .usage)
  }

  @Test func copiesAndLinksHaveTheNameOfTheirZone() throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "zones-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let (copy, link) = (directory.appending(path: "copy"), directory.appending(path: "link"))
    let original = URL(filePath: "/usr/share/zoneinfo/Asia/Kathmandu")
    try FileManager.default.copyItem(at: original, to: copy)
    let first = directory.appending(path: "first")
    try FileManager.default.createSymbolicLink(at: first, withDestinationURL: original)
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: first)
    for file in [copy, link] {
      let zone = try NamedTimeZone.system(environment: EnvironmentVariables(["TZ": file.path()]))
      #expect(zone.name.hasPrefix("Asia/K"))
      #expect(zone.zone.secondsFromGMT(atSecond: 1_435_708_800) == 20_700)
    }
  }
}
