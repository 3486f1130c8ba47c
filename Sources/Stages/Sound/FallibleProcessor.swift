import AudioModel
import PipelineModel

/// A processor whose work is done by somebody else, and can fail: a plugin's. After a failure it
/// gives silence, and the pass ends.
protocol FallibleProcessor: Processor {
  /// What went wrong; nil while nothing did.
  var failure: StageError? { get }
  /// Whether `snapshot` is worth anything. Where it is not, the pass begins anew after a crash.
  var isResumable: Bool { get }
  /// What people should know, asked once, at the end.
  var warnings: [String] { get }
  /// Figures for people as JSON, asked once, at the end.
  var figures: String? { get }
}
