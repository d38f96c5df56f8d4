/// The events of the tasks that a filter finds, gathered by a walk: what counters have of a scope.
struct SelectedEvents {
  /// By the raw value of the series, in the order of time.
  private var instants = Array(repeating: [Int64](), count: CounterSeries.allCases.count + 1)
  /// The groups of the completions in the named days.
  private(set) var groups = GroupCounts()
  /// How many completions in the named days took each time.
  private(set) var cycleTimes: [UInt16: Int] = [:]
  var activeCount = 0

  /// Adds a task with its events.
  mutating func add(_ task: CountedTask) {
    task.forEachEvent { instants[Int($0.rawValue)].append($1) }
  }

  /// Adds a completion to the profiles.
  mutating func addToProfiles(_ task: CountedTask) {
    groups.add(task.classification)
    if let bucket = task.cycleTimeBucket { cycleTimes[bucket, default: 0] += 1 }
  }

  /// Ends the gathering.
  mutating func sort() {
    for series in instants.indices { instants[series].sort() }
  }

  /// The number of events over all time.
  func count(_ series: CounterSeries) -> Int { instants[Int(series.rawValue)].count }

  /// The instants of the events from one instant up to, but not including, another.
  func instants(_ series: CounterSeries, from start: Int64, to end: Int64) -> ArraySlice<Int64> {
    let bounds = cumulativeCounts(series, at: [start, max(start, end)])
    return instants[Int(series.rawValue)][bounds[0]..<bounds[1]]
  }

  /// The number of events before each of some ascending instants.
  func cumulativeCounts(_ series: CounterSeries, at ends: [Int64]) -> [Int] {
    let events = instants[Int(series.rawValue)]
    var position = 0
    return ends.map { end in
      var bound = events.count
      while position < bound {
        let middle = position + (bound - position) / 2
        if events[middle] < end { position = middle + 1 } else { bound = middle }
      }
      return position
    }
  }
}
