public import Foundation
import LMDB
public import TallyEngine

extension TaskStore {
  /// How durable a write is once the call has returned.
  public typealias Durability = TallyEngine.Durability

  /// How a store is opened, and what it uses as the current time and calendar.
  ///
  /// ```swift
  /// var configuration = TaskStore.Configuration()
  /// configuration.calendar.timeZone = .gmt
  /// configuration.now = { fixedInstant }
  /// ```
  ///
  /// It has everything that ``StoreConfiguration`` has.
  @dynamicMemberLookup
  public struct Configuration: Sendable {
    /// How the store is opened, apart from what concerns tasks.
    public var store = StoreConfiguration()
    /// Whether the times of creation, change and completion are stored in whole seconds.
    ///
    /// An exact time is stored where whole seconds would lose the order: if a task is changed twice within a second,
    /// the second change keeps its exact time, so that a merge knows which is newer. Ids and the history always have
    /// exact times.
    public var stampsWholeSeconds = false
    /// The calendar, time zone and first weekday that define days and weeks; by default the system's.
    public var calendar = Calendar.autoupdatingCurrent
    /// The minutes after midnight at which a day begins; below noon, for example 240 for people who work until late.
    ///
    /// Before that time it is still the day before: for `today`, the views by day, words such as "tomorrow" in filters,
    /// and tasks that are overdue by day. An instant is overdue as soon as it has passed. Statistics have their own
    /// option.
    public var dayStartInMinutes = 0
    /// The weights of the order ``TaskOrder/Key/next``, which ``TaskView/next`` uses.
    public var nextWeights = NextWeights()
    /// The indexes that this program maintains in addition to Tally's own: see ``TaskIndex``.
    public var indexes: [TaskIndex] = []
    /// The application's own collections, which share transactions, history and upkeep with the tasks.
    ///
    /// The module TallyEngine declares them: `configuration.schema = Schema(Workout.collection)`. A transaction then has
    /// `save` and the other ways to change records, and every question that a `Store` answers.
    ///
    /// A store that has been opened for writing with a schema is refused by versions of Tally without collections.
    /// Collections are not synchronised, and documents do not have them. If a newer version of the application has given
    /// a collection another version, the whole store opens for reading only. A new unique index that two records
    /// contradict is an error of opening, `duplicateKey`; so is a wrong declaration, `invalidIndex`. A store that is opened
    /// for reading only, and never was opened for writing with a schema, answers questions about records with
    /// `invalidIndex`.
    public var schema = Schema()
    /// The generator of the ids of new tasks and lists; with a seed, tests get the same ids in each run.
    ///
    /// Each configuration has its own generator: a store whose clock is far ahead would otherwise freeze the time in
    /// the ids of all other stores.
    public var ids = UUIDv7Generator()

    /// Creates the default configuration.
    public init() {}

    /// A part of ``store``.
    public subscript<Value>(dynamicMember part: WritableKeyPath<StoreConfiguration, Value>) -> Value {
      get { store[keyPath: part] }
      set { store[keyPath: part] = newValue }
    }
  }
}

extension TaskStore.Configuration {
  /// The start of days, in minutes after midnight and clamped to the morning.
  var dayStart: Int { min(max(dayStartInMinutes, 0), 719) }
}
