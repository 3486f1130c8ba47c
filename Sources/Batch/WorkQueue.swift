import PipelineModel

/// The files that wait for a worker, the longest first: then no long one is left for the end, when
/// fewer files than workers are there. A pure value.
struct WorkQueue: Sendable {
  private var jobs: [(job: BatchPlan.Job, share: Double)]
  private let count: Int

  /// Files whose costs are equal keep the order of their paths.
  init(_ jobs: [BatchPlan.Job], costs: CostModel) {
    let weighed = jobs.enumerated().map { ($0.offset, $0.element, costs[$0.element.file].seconds) }
    let total = weighed.reduce(0) { $0 + $1.2 }
    // Taken from the end. What nothing is known of counts like any other.
    self.jobs = weighed.sorted { ($0.2, $1.0) < ($1.2, $0.0) }.map {
      ($0.1, total > 0 ? $0.2 / total : 1 / Double(jobs.count))
    }
    count = jobs.count
  }

  /// The next file with its number, from 1, and its share of the whole work, from 0 to 1.
  mutating func next() -> (number: Int, job: BatchPlan.Job, share: Double)? {
    guard let (job, share) = jobs.popLast() else { return nil }
    return (count - jobs.count, job, share)
  }

  /// Takes out everything that is left.
  mutating func drain() -> [BatchPlan.Job] {
    defer { jobs = [] }
    return jobs.map(\.job)
  }
}
