internal import CEBUR128

/// The library that measures loudness.
public enum LoudnessLibrary {
  /// Its version: `1.2.6`.
  public static var version: String {
    var major: Int32 = 0
    var minor: Int32 = 0
    var patch: Int32 = 0
    unsafe ebur128_get_version(&major, &minor, &patch)
    return "\(major).\(minor).\(patch)"
  }
}
