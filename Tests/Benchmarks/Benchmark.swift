/// Something to measure.
protocol Benchmark {
  /// Measures it, printing the details, and judges the figures that have a target.
  func run() throws(BenchmarkError) -> [Verdict]
}
