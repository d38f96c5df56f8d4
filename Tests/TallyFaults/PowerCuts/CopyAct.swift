import LMDB
import SystemPackage

/// Copies a store's environment with the binding alone: `copy-environment STORE DIRECTORY`.
struct CopyAct {
  private let store: FilePath
  private let target: FilePath

  init(_ act: Act) throws {
    store = try act.path(0)
    target = try act.path(1)
  }

  func run() throws {
    let environment = try LMDBEnvironment(path: store)
    try environment.copy(to: target)
    try environment.close()
  }
}
