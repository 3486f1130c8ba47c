internal import CLibAVLoader
internal import Threading

/// The opening of the FFmpeg libraries and of the many that these need in turn.
public enum MediaLibraries {
  // Nobody waits for it: whoever calls a library first does.
  private static let opening: Void = BackgroundThread(name: "open-libraries") {
    _ = spool_libav_load(nil, 0)
  }.letGo()

  /// Begins to open them on a thread of its own, for a program that knows that it will need them and
  /// has something else to do until then: it takes some 30 ms. Once; later calls do nothing.
  public static func beginOpening() { opening }
}
