import PipelineEngine

extension PassOutcome.Result {
  /// Takes over what another tap of the same step gave.
  mutating func merge(_ other: PassOutcome.Result) {
    identity = identity ?? other.identity
    artifacts.merge(other.artifacts) { $1 }
    memo = memo ?? other.memo
    hint = hint ?? other.hint
    warnings += other.warnings
  }
}
