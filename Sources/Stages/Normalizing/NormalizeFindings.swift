import AudioModel

/// Levels before and after.
struct NormalizeFindings: Codable, Sendable {
  let before: NormalizeLevels
  let after: NormalizeLevels
  let gain: Decibels
  let isLimited: Bool
}
