import ArgumentParser
import Foundation
import HubService
import HubStorage
import HubWire
import TallySync

/// `tally-hub account`.
struct AccountCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "account", abstract: "Create, list and erase accounts, and change what their spaces may have.",
    subcommands: [Create.self, List.self, Limit.self, Erase.self])

  struct Create: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Create an account, and print its token, which is not kept.")

    @OptionGroup var place: StoreOptions
    @Option(help: "How many bytes each of its spaces may have.") var bytes = HubConfiguration().spaceLimitInBytes

    func run() async throws {
      try await place.withStore { store in
        let created = try await HubService(store: store).createAccount(limitInBytes: bytes)
        print(#"{"account":"\#(created.account)","token":"\#(created.token)"}"#)
      }
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "List the accounts in the order of their ids, an object of JSON on each line.")

    @OptionGroup var place: StoreOptions

    func run() async throws {
      try await place.withStore { store in
        var last: UUID?
        repeat {
          let page = try await store.accounts(after: last, limit: 1_000)
          for account in page { try OperatorOutput.printLine(account) }
          last = page.last?.account
        } while last != nil
      }
    }
  }

  struct Limit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Change how many bytes each space of an account may have.")

    @OptionGroup var place: StoreOptions
    @Argument(help: "The account.") var account: String
    @Argument(help: "The bytes.") var bytes: Int

    func run() async throws {
      try await place.withStore { store in
        let known = try await store.knownAccount(account)
        try await store.put(HubAccount(id: known.id, limitInBytes: bytes))
      }
    }
  }

  struct Erase: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Erase an account and its tokens.",
      discussion: "An account that has spaces is erased only with --with-spaces, which erases them, too.")

    @OptionGroup var place: StoreOptions
    @Argument(help: "The account.") var account: String
    @Flag(help: "Erase its spaces, too.") var withSpaces = false

    func run() async throws {
      try await place.withStore { store in
        let known = try await store.knownAccount(account)
        if withSpaces {
          var last: SpaceID?
          repeat {
            let page = try await store.spaces(after: last, limit: 1_000)
            for space in page where space.account == known.id {
              if let id = SpaceID(space.space) { _ = try await store.eraseSpace(id) }
            }
            last = page.last.flatMap { SpaceID($0.space) }
          } while last != nil
        }
        try await store.eraseAccount(known.id)
      }
    }
  }
}

extension HubStore {
  /// The account with an id that an operator has typed.
  func knownAccount(_ text: String) async throws -> HubAccount {
    guard let id = UUID(uuidString: text), let account = try await account(id) else {
      throw ValidationError("The account is unknown.")
    }
    return account
  }
}

/// The output of commands for operators.
enum OperatorOutput {
  static func printLine(_ value: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    print(String(decoding: try encoder.encode(value), as: UTF8.self))
  }
}
