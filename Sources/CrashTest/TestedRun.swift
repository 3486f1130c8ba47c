/// The run that is killed: what is typed behind `spool run`, and the program that takes it.
public struct TestedRun: Sendable {
  private let program: [String]
  private let words: [String]

  /// Describes a run.
  /// - Parameters:
  ///   - program: the program to start, as an absolute path, and the words in front of `run`.
  ///     `/proc/self/exe` is the running one, even after its file was replaced.
  ///   - pipeline: the pipeline's file.
  ///   - inputs: the recordings, as they are given to `spool run`.
  ///   - overrides: what `--set` is given: `name=value`.
  public init(
    program: [String] = ["/proc/self/exe"], pipeline: String, inputs: [String], overrides: [String]
  ) {
    self.program = program
    words = ["run", pipeline] + inputs + overrides.flatMap { ["--set", $0] } + ["--json"]
  }

  /// The command line that does it in a place of its own; its first word is the program.
  func commandLine(in place: Workplace) -> [String] {
    program + words + ["--store", place.store, "--out", place.out]
  }
}
