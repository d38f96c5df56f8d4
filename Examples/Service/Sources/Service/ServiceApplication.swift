import Foundation
import Hummingbird
import Tally

/// Serves a store on this machine only: tasks and views as JSON, changes as server-sent events.
///
/// ```sh
/// swift run --package-path Examples/Service Service ~/.local/share/tally --port 8080
/// ```
@main
struct ServiceApplication {
  static func main() async {
    guard let options = Options(CommandLine.arguments.dropFirst()) else {
      FileHandle.standardError.write(Data("usage: Service STORE [--port PORT] [--verify]\n".utf8))
      exit(64)
    }
    do {
      try await options.verifies ? verify(options) : serve(options)
    } catch {
      FileHandle.standardError.write(Data("Service: \(error)\n".utf8))
      exit(1)
    }
  }

  /// Serves until a signal ends the process: answers the requests in progress, then closes the store.
  private static func serve(_ options: Options) async throws {
    let store = try TaskStore(at: options.store)
    let router = Router()
    router.add(middleware: Problems())
    TaskRoutes(store: store).add(to: router)
    ListRoutes(store: store).add(to: router)
    ViewRoutes(store: store).add(to: router)
    ChangeRoutes(store: store).add(to: router)
    let application = Application(
      router: router,
      configuration: .init(address: .hostname("127.0.0.1", port: options.port)),
      onServerRunning: { channel in write("Listening on 127.0.0.1:\(channel.localAddress?.port ?? options.port)\n") })
    try await application.runService()
    try store.close(waitingAtMost: .seconds(10))
  }

  private static func verify(_ options: Options) throws {
    let report = try TaskStore.verify(at: options.store)
    write("\(report.taskCount) tasks, \(report.faultCount) faults\n")
    if !report.isSound { exit(1) }
  }

  /// Not `print`, which buffers the output into a pipe.
  private static func write(_ text: String) {
    FileHandle.standardOutput.write(Data(text.utf8))
  }
}
