import SystemPackage
import Tally

/// What a verification found, in its three forms.
struct VerificationText {
  let report: VerificationReport
  /// The repair that came before, if one was asked for.
  var repair: RepairReport?

  /// How many faults a person is shown.
  private static let shownFaultCount = 20

  var json: [UInt8] {
    TerminalSafeJSON.line { json in
      json.object { json in
        Self.write(report, to: &json)
        guard let repair else { return }
        json.key("repaired")
        json.object { json in
          json.member("keptFile", repair.keptFile?.string)
          Self.writeFaults(of: repair.before, to: &json)
        }
      }
    }
  }

  private static func write(_ report: VerificationReport, to json: inout JSONWriter) {
    json.member("sound", report.isSound)
    json.member("sequence", report.sequence.map { Int64($0) })
    json.member("tasks", report.taskCount)
    json.member("lists", report.listCount)
    json.member("completions", report.completionCount)
    json.member("setAside", report.setAsideCount)
    writeFaults(of: report, to: &json)
  }

  private static func writeFaults(of report: VerificationReport, to json: inout JSONWriter) {
    json.member("faultCount", report.faultCount)
    json.array("faults", of: report.faults) { json, fault in
      json.object { json in
        json.member("kind", fault.kind.description)
        json.member("table", fault.table)
        json.member("id", fault.id)
      }
    }
  }

  var records: String {
    report.faults.map { PlainRecords.line([$0.kind.description, $0.table, $0.id?.text]) }.joined()
  }

  func human(painter: Painter) -> String {
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
