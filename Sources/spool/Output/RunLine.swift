import JSONText
import PipelineModel

/// A run as `--json` shows it: its record, and beside it `findings`, what its steps found out as values.
struct RunLine: Encodable {
  private let run: RunRecord

  init(_ run: RunRecord) { self.run = run }

  private enum Key: CodingKey { case findings }

  func encode(to encoder: any Encoder) throws {
    try run.encode(to: encoder)
    let findings = run.findings
    guard !findings.isEmpty else { return }
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(findings, forKey: .findings)
  }
}
