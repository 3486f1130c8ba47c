internal import CLibAV
internal import CLibAVLoader

/// The FFmpeg libraries as such: whether they are there, and what they say.
enum LibAV {
  /// Opens the libraries; everything in this module calls it before it calls them.
  static func require(for path: String) throws(MediaError) {
    var text = [CChar](repeating: 0, count: 256)
    guard unsafe spool_libav_load(&text, text.count) != 0 else { return }
    throw MediaError(
      .libraryMissing, "open the FFmpeg libraries to work on", path: path, reason: string(text),
      advice: "install ffmpeg, or libavformat, libavcodec and libswresample of this version")
  }

  /// Does one thing with libav and gives its status, with only its own complaints kept.
  static func calling(_ work: () -> Int32) -> Int32 {
    spool_libav_forget_message()
    return work()
  }

  /// Why a call failed: libav's complaint where there was one, else the status in words.
  static func reason(_ status: Int32) -> String {
    let message = unsafe String(cString: spool_libav_message())
    if !message.isEmpty { return message }
    var text = [CChar](repeating: 0, count: 128)
    unsafe av_strerror(status, &text, text.count)
    return string(text)
  }

  /// A C string in an array.
  private static func string(_ text: [CChar]) -> String {
    String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
