import Foundation
import SystemPackage
import Tally

/// Shows the tasks of today, and follows the changes of this and other processes.
///
/// ```sh
/// swift run --package-path Examples/Today Today ~/.local/share/tally
/// ```
@main
struct TodayApplication {
  static func main() async throws {
    guard let path = CommandLine.arguments.dropFirst().first else {
      FileHandle.standardError.write(Data("usage: Today STORE\n".utf8))
      exit(64)
    }
    let store = try TaskStore(at: FilePath(path))
    let screen = Screen()
    let model = TodayModel(store: store, screen: screen)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await model.follow() }
      group.addTask {
        for await line in Input.lines {
          do {
            guard let command = Command(line) else { return }
            try await model.perform(command)
          } catch let error as TallyError {
            // The error has a message and a remedy; the application continues.
            await model.report(error)
          }
        }
      }
      // The input has ended, or the store has failed.
      try await group.next()
      group.cancelAll()
    }
    await screen.finish(model.summary)
    try store.close()
  }
}
