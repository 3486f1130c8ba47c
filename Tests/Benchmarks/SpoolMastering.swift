/// The whole job as one run of spool.
struct SpoolMastering {
  let workshop: Workshop
  let recording: String

  /// Runs the pipeline with the store in one folder and the exports going to another; `watching`
  /// gets to see where the processor time went.
  func run(
    store: String, into folder: String, watching: ((ThreadTimes) -> Void)? = nil
  ) throws(BenchmarkError) -> ProcessUsage {
    let process = try ChildProcess(
      workshop.spool,
      [
        "run", workshop.packageFile("Tests/Benchmarks/Pipelines/whole-job.yaml"), recording,
        "--store", store, "--out", folder, "--json",
      ], outputPath: log)
    guard let watching else { return try process.wait() }
    let (usage, times) = try process.waitAndWatch()
    watching(times)
    return usage
  }

  /// What the last run said, one JSON object a line.
  var log: String { workshop.file("spool.log") }
}
