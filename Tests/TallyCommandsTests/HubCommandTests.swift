import Foundation
import TallyTestSupport
import Testing

@testable import TallyCommands

/// Commands that reach a hub, without one.
struct HubCommandTests {
  @Test(arguments: [
    "http://hub.example", "http://192.168.1.2:8420/", "http://127.0.0.1.hub.example", "http://localhost@hub.example",
    "http://127.0.0.256", "http:///nothing", "http://[fe80::1]:8420", "http://localhost .hub.example",
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

  @Test(arguments: [["setup", "http://hub.example"], ["join", "http://hub.example/#membership.key"]])
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
}
