import TestSupport
import Testing

@Suite struct DiskFailureTests {
  @Test func fullDiskIsToldAndTheEnvironmentGoesOn() throws {
    let lines = try HelperProcess("fail-data", TemporaryDirectory()).lines()
    #expect(lines == ["commit: diskFull", "write: none", "read: none", "late: badDatabase", "reopened: [1]"])
  }

  @Test func failureOfTheLastStepLeavesTheOutcomeUnknownUntilReopened() throws {
    let lines = try HelperProcess("fail-meta", TemporaryDirectory()).lines()
    #expect(lines == ["commit: commitOutcomeUnknown", "write: panic", "read: panic", "late: panic", "reopened: [1]"])
  }

  @Test func whereNobodyElseCanHaveWrittenTheOutcomeIsLookedUp() throws {
    let lines = try HelperProcess("fail-meta", TemporaryDirectory(), 60).lines()
    #expect(lines == ["commit: ioFailure", "write: panic", "read: panic", "late: panic", "reopened: [1]"])
  }
}
