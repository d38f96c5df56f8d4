import SystemPackage
import Tally

/// What a verification found.
struct VerificationText {
  let report: VerificationReport
  /// The repair that was run before, if any.
  var repair: RepairReport?

  /// The most faults shown to people.
  private static let shownFaultCount = 20

  var facts: Facts {
    let found: Facts = [
      "sound": .flag(report.isSound), "sequence": .integer(report.sequence.map { Int64($0) }),
      "tasks": .count(report.taskCount), "lists": .count(report.listCount),
      "completions": .count(report.completionCount), "setAside": .count(report.setAsideCount),
    ]
    let facts = found.adding(Self.faults(of: report))
    guard let repair else { return facts }
    let repaired = (["keptFile": .text(repair.safetyCopy?.string)] as Facts).adding(Self.faults(of: repair.before))
    return facts.adding(["repaired": repaired])
  }

  private static func faults(of report: VerificationReport) -> Facts {
    [
      "faultCount": .count(report.faultCount),
      "faults": .array(
        report.faults.map { ["kind": .text($0.kind.description), "table": .text($0.table), "id": .id($0.id)] }),
    ]
  }

  var text: String {
    let aside = report.setAsideCount == 0 ? "" : "; \(report.setAsideCount.counted("unreadable record")) set aside"
    guard !report.isSound else {
      let counts = [
        report.taskCount.counted("task"), report.listCount.counted("list"),
        report.completionCount.counted("completion"),
      ]
      return "Sound: \(counts.joined(separator: ", "))\(aside).\n"
    }
    let hiddenCount = report.faultCount - Self.shownFaultCount
    let more = hiddenCount > 0 ? "and \(hiddenCount.grouped) more\n" : ""
    return report.faults.prefix(Self.shownFaultCount).map { "\($0)\n" }.joined() + more
  }
}
