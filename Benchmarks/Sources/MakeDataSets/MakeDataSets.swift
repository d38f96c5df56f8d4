import BenchmarkData

/// Makes the data sets whose sizes are given, unless they are there: `MakeDataSets 1000 100000`.
@main
struct MakeDataSets {
  static func main() throws {
    for argument in CommandLine.arguments.dropFirst() {
      guard let taskCount = Int(argument) else { throw WrongAnswer(description: "no number of tasks: \(argument)") }
      try DataSet(taskCount: taskCount).makeIfMissing()
    }
  }
}
