internal import PipelineModel

/// A log for runs that are part of a larger piece of work, and nothing that a user would look for.
struct ForgetfulLog: RunLog {
  func save(_ run: RunRecord) {}
  func runs(limit: Int) -> [RunRecord] { [] }
  func run(named prefix: String) -> RunRecord? { nil }
}
