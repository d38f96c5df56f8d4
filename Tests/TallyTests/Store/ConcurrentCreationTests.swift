import Foundation
import SystemPackage
import TallyTestSupport
import Testing

@testable import Tally

@Suite struct ConcurrentCreationTests {
  @Test(arguments: [false, true])
  func processesThatMakeTheSameStoreAtOnceEndWithOne(isDirectoryThere: Bool) throws {
    for _ in 0..<5 {
      try withTemporaryDirectory { directory in
        let path = directory.appending("a/store")
        if isDirectoryThere {
          try FileManager.default.createDirectory(atPath: path.string, withIntermediateDirectories: true)
        }
        let helpers = try (0..<6).map { _ in try HelperProcess("create", path) }
        for helper in helpers { #expect(helper.line() == "ready") }
        for helper in helpers { helper.release() }
        for helper in helpers { #expect(helper.lines() == ["none"]) }
        #expect(try taskCount(at: path) == helpers.count)
        #expect(try names(in: path) == ["access.lock", "data.mdb", "lock.mdb"])
        #expect(try leftovers(in: directory.appending("a")).isEmpty)
      }
    }
  }

  @Test func aWriteThatReturnedSurvivesAKilledProcessAndOneThatDidNotIsGone() throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      #expect(try HelperProcess("add-and-die", path).lines() == ["dying"])
      try withStore(at: path) { store in
        #expect(try store.read { try $0.view(.all).tasks.map(\.title) } == ["acknowledged"])
        try store.writeAndWait { _ = try $0.add("the lock is free", to: .inbox) }
      }
    }
  }
}
