/// All that a watch is told: at its begin, and anew when it reloads.
public struct WatchSettings: Sendable {
  /// The inboxes, none of which lies in another.
  public var inboxes: [InboxSettings]
  /// How many recordings are worked on at once.
  public var jobs: Int
  /// How many seconds work under way may take to come to a clean point at the end.
  public var drain: Double

  /// So many where nobody says otherwise: systemd gives 90 in all.
  public static let usualDrain = 30.0

  /// Collects the settings. Inboxes of one pipeline, and pipelines of one outbox, are told of each
  /// other: whoever waits for an acknowledgement finds it in each of the pipeline's outboxes, and an
  /// outbox shows the notes of all its pipelines.
  public init(inboxes: [InboxSettings], jobs: Int, drain: Double = usualDrain) {
    self.inboxes = inboxes.map { own in
      var own = own
      own.otherOutboxes = Self.unique(
        inboxes.filter { $0.pipelineName == own.pipelineName }.map(\.outbox), besides: own.outbox)
      own.otherPipelines = Self.unique(
        inboxes.filter { $0.outbox == own.outbox }.map(\.pipelineName), besides: own.pipelineName)
      return own
    }
    self.jobs = jobs
    self.drain = drain
  }

  private static func unique(_ names: [String], besides own: String) -> [String] {
    Set(names).subtracting([own]).sorted()
  }
}
