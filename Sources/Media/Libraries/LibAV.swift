internal import CLibAV
internal import CLibAVLoader
internal import Glibc
internal import Platform

/// Access to the FFmpeg libraries: loading and error messages.
enum LibAV {
  /// Loads the libraries; called before any other use in this module.
  static func require(for path: String) throws(SpoolError) {
    var text = [CChar](repeating: 0, count: 256)
    guard unsafe spool_libav_load(&text, text.count) != 0 else { return }
    throw SpoolError(
      "open the FFmpeg libraries to work on", path, reason: string(text),
      advice: "install ffmpeg, or libavformat, libavcodec and libswresample of this version")
  }

  /// Runs a libav call and returns its status; captures only this call's log messages.
  static func calling(_ work: () -> Int32) -> Int32 {
    spool_libav_forget_message()
    return work()
  }

  /// The reason of a failure: libav's log message if there was one, else the status text.
  static func reason(_ status: Int32) -> String {
    if let complaint, !complaint.hasPrefix("Failed to read frame size") { return complaint }
    // The texts of these numbers speak of files and programs.
    switch spool_averror(status) {
    case EPERM: return "there are bytes behind its end that are no sound"
    case ENOSYS: return "this version of the FFmpeg libraries does not support it"
    default: break
    }
    var text = [CChar](repeating: 0, count: 128)
    guard unsafe av_strerror(status, &text, text.count) == 0 else {
      return "the FFmpeg libraries give no reason, but the number \(status)"
    }
    return string(text)
  }

  /// What the last call logged as an error, though it succeeded; nil if nothing.
  static var complaint: String? {
    let message = unsafe String(cString: spool_libav_message())
    return message.isEmpty ? nil : message
  }

  /// A C string in an array.
  private static func string(_ text: [CChar]) -> String {
    String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

/// The FFmpeg libraries and their many dependencies.
package enum MediaLibraries {
  // Not joined: the first call of a library waits for it.
  private static let opening: Void = BackgroundThread(name: "open-libraries") {
    _ = spool_libav_load(nil, 0)
  }.letGo()

  /// Starts loading on a background thread, to hide the 30 ms it takes. Later calls do nothing.
  /// The process that reads recordings opens its own meanwhile.
  package static func beginOpening() {
    MediaSandbox.current?.begin()
    opening
  }

  /// Each library's name and version, such as `libavcodec` and `59.37.100`, which belong into the
  /// key of everything whose bytes they determine; empty if the libraries are not installed.
  package static var versions: [String: String] {
    guard spool_libav_load(nil, 0) == 0 else { return [:] }
    func text(_ version: UInt32) -> String {
      "\(version >> 16).\(version >> 8 & 0xff).\(version & 0xff)"
    }
    return [
      "libavformat": text(avformat_version()),
      "libavcodec": text(avcodec_version()),
      "libswresample": text(swresample_version()),
    ]
  }

  /// ``versions``, and those of the libraries that libavcodec encodes MP3, Opus and Vorbis with, as
  /// far as it has them.
  package static var encoderVersions: [String: String] {
    var all = versions
    guard !all.isEmpty else { return [:] }
    for (library, function) in [
      ("libmp3lame", "get_lame_version"), ("libopus", "opus_get_version_string"),
      ("libvorbis", "vorbis_version_string"),
    ] {
      if let text = unsafe spool_libav_encoder_version(function) {
        unsafe all[library] = String(cString: text)
      }
    }
    return all
  }
}

extension SpoolError {
  /// The advice for failed reads and writes without a known cause.
  static let tryAgain =
    "try again; if it fails again, check the disk, and the limits of your shell: ulimit -a"
}

extension [String: String] {
  /// The entries of a libav dictionary, names in lower case.
  static func tags(_ dictionary: OpaquePointer?) -> [String: String] {
    var tags: [String: String] = [:]
    var entry: UnsafeMutablePointer<AVDictionaryEntry>?
    while let next = unsafe av_dict_get(dictionary, "", entry, AV_DICT_IGNORE_SUFFIX) {
      let value = unsafe UnsafeRawBufferPointer(
        start: next.pointee.value, count: strlen(next.pointee.value))
      unsafe tags[String(cString: next.pointee.key).lowercased()] = String(ofFile: Array(value))
      unsafe entry = unsafe next
    }
    return tags
  }

  /// The entries of two libav dictionaries; the first takes precedence.
  static func tags(_ first: OpaquePointer?, over second: OpaquePointer?) -> [String: String] {
    unsafe tags(first).merging(tags(second)) { kept, _ in kept }
  }
}

extension String {
  /// A text as a file has it, in an encoding that it does not name: UTF-8, or else Latin-1, which old
  /// programs write. O(n).
  init(ofFile bytes: some Collection<UInt8>) {
    self =
      String(validating: bytes, as: UTF8.self)
      ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
  }
}

/// The owner of a libav dictionary.
@safe struct Options: ~Copyable {
  var pointer: OpaquePointer?

  /// Copies the entries in the order of their names, for reproducible output.
  init(_ entries: [String: String] = [:]) {
    for (name, value) in entries.sorted(by: { $0.key < $1.key }) {
      unsafe av_dict_set(&pointer, name, value, 0)
    }
  }

  deinit {
    var pointer = unsafe pointer
    unsafe av_dict_free(&pointer)
  }
}
