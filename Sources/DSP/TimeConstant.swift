import AudioModel
import Glibc

/// How fast an exponential approach goes: after one time constant, 1 − 1/e (63 %) of the way is
/// done.
enum TimeConstant {
  /// The part of the remaining way that is covered in one frame; 1 (at once) for no time at all.
  static func step(_ time: Seconds, at sampleRate: Hertz) -> Double {
    guard time.value > 0 else { return 1 }
    return -expm1(-1 / (time.value * sampleRate.value))
  }
}
