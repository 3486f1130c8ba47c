/// The least, the middle and the greatest of several figures.
struct Spread {
  let minimum: Double
  /// The middle figure; of an even number, the mean of the two in the middle.
  let median: Double
  let maximum: Double

  /// - Precondition: There is at least one figure.
  init(of figures: [Double]) {
    precondition(!figures.isEmpty, "the spread of nothing")
    let sorted = figures.sorted()
    let middle = sorted.count / 2
    minimum = sorted[0]
    maximum = sorted[sorted.count - 1]
    median = sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  }
}
