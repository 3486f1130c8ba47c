import AudioModel

/// What a limiter takes for the peaks of the wave between samples: the greatest that interpolators
/// of two kinds show.
///
/// Of sound that reaches up to half the sample rate there is no one true peak: what an interpolator
/// leaves out there may have raised a crest, and may as well have lowered it. Hence two filters:
///
/// - 8 points a frame with 128 taps each and β = 4, which is flat to 0.49 of the sample rate;
/// - 4 points a frame with 32 taps each and β = 9, which rolls off from 0.41 on, as common meters
///   do (libswresample's default filter, with which ffmpeg's `ebur128` measures).
///
/// What remains: between 0.49 and 0.5 of the sample rate the first sees too little. Ideal
/// interpolation of limited white noise shows peaks up to 0.5 dB above the ceiling, of such noise
/// clipped before up to 0.7 dB; of sound that ends below 0.49, none.
final class CeilingWatch {
  private let sharp = FoldedInterpolator(TruePeakFilter(factor: 8, reach: 64, beta: 4))
  private let soft = FoldedInterpolator(TruePeakFilter(factor: 4, reach: 16, beta: 9))

  /// What no point of a group can exceed, from the extents of that group and its neighbours.
  func bound(_ extent: GroupExtent) -> Float {
    max(sharp.filter.bound(extent), soft.filter.bound(extent))
  }

  /// Raises the peaks of a group's frames to what both interpolators find; `samples` must be
  /// surrounded by a group on each side.
  func raise(_ peaks: UnsafeMutablePointer<Float>, by samples: UnsafePointer<Float>) {
    unsafe sharp.raise(peaks, by: samples)
    unsafe soft.raise(peaks, by: samples)
  }
}
