import PipelineModel

/// The files that wait for a worker, the longest first: then no long one is left for the end, when
/// fewer files than workers are there. A pure value.
struct WorkQueue: Sendable {
  private var jobs: [BatchPlan.Job]
  private let count: Int

  /// Files whose costs are equal keep the order of their paths.
  init(_ jobs: [BatchPlan.Job], costs: CostModel) {
    let weighed = jobs.enumerated().map { ($0.offset, $0.element, costs[$0.element.file].seconds) }
    // Taken from the end.
    self.jobs = weighed.sorted { ($0.2, $1.0) < ($1.2, $0.0) }.map { $0.1 }
    count = jobs.count
  }

  /// The next file with its number, from 1.
  mutating func next() -> (number: Int, job: BatchPlan.Job)? {
    guard let job = jobs.popLast() else { return nil }
    return (count - jobs.count, job)
  }

  /// Takes out everything that is left.
  mutating func drain() -> [BatchPlan.Job] {
    defer { jobs = [] }
    return jobs
  }
}
