import Dispatch
import TallySystem
import Testing

@Suite struct WaitingTests {
  private let start = ContinuousClock.now

  /// Waits by a clock that only pauses move, and returns how many attempts and pauses there were.
  private func wait(seconds limit: Int, succeedingAt attempt: Int) -> (attempts: Int, pauses: Int, isDone: Bool) {
    var (now, attempts, pauses) = (start, 0, 0)
    let result = waitForResult(
      until: start + .seconds(limit), now: { now },
      pausing: { _ in
        pauses += 1
        now += .seconds(1)
      },
      {
        attempts += 1
        return attempts == attempt ? true : nil
      })
    return (attempts, pauses, result != nil)
  }

  @Test func aFirstAttemptThatSucceedsNeedsNoPause() {
    #expect(wait(seconds: 3, succeedingAt: 1) == (1, 0, true))
  }

  @Test func aLimitOfZeroStillAllowsOneAttempt() {
    #expect(wait(seconds: 0, succeedingAt: 1) == (1, 0, true))
    #expect(wait(seconds: 0, succeedingAt: 2) == (1, 0, false))
  }

  @Test func theLastPauseIsFollowedByAnAttempt() {
    #expect(wait(seconds: 3, succeedingAt: 4) == (4, 3, true))
    #expect(wait(seconds: 3, succeedingAt: 5) == (4, 3, false))
  }

  @Test func pausesGrowWithTheTimeSleptAndStayInTheirRange() {
    var growing = GrowingPause(microseconds: 10...40)
    let pauses = (0..<500).map { _ in growing.next() }
    #expect(pauses.prefix(70).allSatisfy { $0 == 10 })
    #expect(zip(pauses, pauses.dropFirst()).allSatisfy { $0 <= $1 && $1 <= $0 + 1 })
    #expect(pauses.last == 40)
  }

  @Test func aMonitorWaitsForTheWholeOfItsLimit() {
    let monitor = Monitor(0)
    var attempts = 0
    let result = monitor.wait(atMost: .milliseconds(20)) { _ -> Bool? in
      attempts += 1
      return nil
    }
    #expect(result == nil)
    #expect(ContinuousClock.now - start >= .milliseconds(20))
    // The thread sleeps meanwhile; waking early, as it may, is rare.
    #expect((2..<100).contains(attempts))
  }

  @Test func aChangeEndsTheWaitOfAMonitorBeforeItsLimit() {
    let monitor = Monitor(0)
    let changing = onThread { ready in
      ready.signal()
      while monitor.waiterCount == 0 { pause(microseconds: 100) }
      monitor.withLock { $0 = 7 }
      monitor.wakeAll()
    }
    #expect(monitor.wait(atMost: .longestWait) { $0 == 0 ? nil : $0 } == 7)
    changing.wait()
  }
}
