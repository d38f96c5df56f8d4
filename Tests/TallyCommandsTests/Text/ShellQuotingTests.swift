import Foundation
import Testing

@testable import TallyCommands

struct ShellQuotingTests {
  @Test(arguments: ["milk", "buy milk", "it's", "$HOME `id` \\", "*", "", "漢字 😀", "!x", "a;b"])
  func shellReadsTheSameTextBack(text: String) throws {
    #expect(try Self.echoed(text.shellQuoted) == text)
  }

  @Test(arguments: ["a\nb", "\u{1B}[31m", "tab\there's", "\u{202E}abc"])
  func textThatDrivesTheTerminalIsQuotedVisibly(text: String) throws {
    #expect(text.shellQuoted.unicodeScalars.allSatisfy { !$0.drivesOrHides })
    #expect(try Self.echoed(text.shellQuoted, shell: "/bin/bash") == text)
  }

  private static func echoed(_ word: String, shell: String = "/bin/sh") throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: shell)
    process.arguments = ["-c", "printf %s \(word)"]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self)
  }
}
