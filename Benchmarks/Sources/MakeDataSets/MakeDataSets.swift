import BenchmarkData
import SQLitePeer

/// Creates the named data sets, unless they exist: `MakeDataSets 1000 peers-100000`.
@main
struct MakeDataSets {
  private static let peersMark = "peers-"

  static func main() throws {
    for name in CommandLine.arguments.dropFirst() {
      let hasPeers = name.hasPrefix(peersMark)
      guard let taskCount = Int(hasPeers ? String(name.dropFirst(peersMark.count)) : name) else {
        throw WrongAnswer(description: "no data set: \(name)")
      }
      let dataSet = DataSet(taskCount: taskCount)
      try dataSet.makeIfMissing()
      if hasPeers { try SQLiteDataSet(of: dataSet).makeIfMissing() }
    }
  }
}
