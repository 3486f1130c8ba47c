internal import CLibAV
internal import CLibAVLoader

/// Which FFmpeg libraries are at work. Their versions belong in the key of everything whose bytes
/// they decide.
public enum MediaVersions {
  /// Each library's name and version, such as `libavcodec` and `59.37.100`; empty when the
  /// libraries are not installed.
  public static var all: [String: String] {
    guard spool_libav_load(nil, 0) == 0 else { return [:] }
    return [
      "libavformat": text(avformat_version()),
      "libavcodec": text(avcodec_version()),
      "libswresample": text(swresample_version()),
    ]
  }

  private static func text(_ version: UInt32) -> String {
    "\(version >> 16).\(version >> 8 & 0xff).\(version & 0xff)"
  }
}
