import TestSupport

extension Workspace {
  /// A pipeline of few steps, for tests that are not about sound.
  func quickPipeline(
    decode: String = "", formats: String = "wav, m4a, alac, flac"
  ) throws -> String {
    try pipeline(
      """
      pipeline: quick
      inputs: { note: sound }
      stages:
        - decode: { from: $note\(decode) }
        - eq: { bands: [{ type: highpass, frequency: 80 Hz }] }
        - normalize: { peak: -3 dB }
        - export: { formats: [\(formats)] }
      """, named: "quick.yaml")
  }
}
