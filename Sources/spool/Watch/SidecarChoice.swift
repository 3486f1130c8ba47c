import Arguments
import PipelineFile

/// What `--sidecar` says.
struct SidecarChoice: ArgumentValue {
  let expectation: WatchDefinition.SidecarExpectation
  let argument: String

  static let expectation = WatchDefinition.SidecarExpectation.allowed

  init?(argument: String) {
    guard let expectation = WatchDefinition.SidecarExpectation(argument) else { return nil }
    self.expectation = expectation
    self.argument = argument
  }
}

/// What `--keep` says.
enum KeepChoice: String, CaseIterable, ArgumentValue {
  case move, delete, leave
}
