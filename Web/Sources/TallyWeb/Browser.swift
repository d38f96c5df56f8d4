import Foundation
import Logging
import SystemPackage
import WebService

extension FirstPage {
  /// Lets the person's browser open the page, which is deleted after a minute.
  ///
  /// If there is no browser nothing happens, since the address is printed, too.
  func open(leadingTo address: String, _ logger: Logger) {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    #if os(macOS)
      process.arguments = ["open", path.string]
    #else
      process.arguments = ["xdg-open", path.string]
    #endif
    (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
    do {
      try write(leadingTo: address)
      try process.run()
    } catch {
      logger.warning("The browser could not be opened: \(error)")
    }
    Task {
      try? await Task.sleep(for: .seconds(60))
      remove()
    }
  }
}
