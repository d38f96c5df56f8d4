import ArgumentParser
import Foundation
import HubService
import HubStorage
import HubWire

/// `tally-hub account`.
struct AccountCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "account", abstract: "Create accounts, and change what their spaces may have.",
    subcommands: [Create.self, Limit.self])

  struct Create: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Create an account, and print its token, which is not kept.")

    @OptionGroup var place: StoreOptions
    @Option(help: "How many bytes each of its spaces may have.") var bytes = HubConfiguration().spaceLimitInBytes

    func run() async throws {
      let store = try await place.open()
      let created = try await HubService(store: store).createAccount(limitInBytes: bytes)
      print(#"{"account":"\#(created.account)","token":"\#(created.token)"}"#)
      try store.close()
    }
  }

  struct Limit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Change how many bytes each space of an account may have.")

    @OptionGroup var place: StoreOptions
    @Argument(help: "The account.") var account: String
    @Argument(help: "The bytes.") var bytes: Int

    func run() async throws {
      let store = try await place.open()
      guard let id = UUID(uuidString: account), try await store.account(id) != nil else {
        throw ValidationError("The account is unknown.")
      }
      try await store.put(HubAccount(id: id, limitInBytes: bytes))
      try store.close()
    }
  }
}
