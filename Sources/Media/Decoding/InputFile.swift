internal import Audio
internal import CLibAV
internal import CLibAVLoader
import Glibc
import Platform

/// An opened recording: the container and its selected sound stream.
///
/// Only this file is read, through its descriptor: playlists that refer to others are rejected, since
/// recordings are untrusted.
@safe final class InputFile {
  /// The file's own bytes.
  let bytes: ContainerBytes
  let context: UnsafeMutablePointer<AVFormatContext>

  /// Names the recording in errors.
  var path: String { bytes.path }

  /// Opens a recording and reads its streams; if `isStreamOnly`, or if nothing else can be read,
  /// without tags of other formats and padding before or behind them.
  convenience init(_ file: SourceFile, isStreamOnly: Bool = false) throws(SpoolError) {
    try self.init(Self.open(file.path), named: file.name, isStreamOnly: isStreamOnly)
  }

  /// Reads the streams of an open recording, whose name may tell the format.
  init(
    _ bytes: consuming ContainerBytes, named name: String, isStreamOnly: Bool = false
  ) throws(SpoolError) {
    try LibAV.require(for: bytes.path)
    guard bytes.unwrittenByteCount == 0 else { throw Self.endsUnwritten(bytes) }
    let whole = 0..<bytes.byteCount
    let stream = bytes.streamRange
    do throws(SpoolError) {
      unsafe context = try Self.context(of: bytes, isStreamOnly ? stream : whole, named: name)
    } catch {
      // Some demuxers take what is behind a stream for a part of it.
      guard !isStreamOnly, stream != whole,
        let found = unsafe try? Self.context(of: bytes, stream, named: name)
      else { throw error }
      unsafe context = unsafe found
    }
    self.bytes = bytes
  }

  /// Opens the file at `path`, which must be a regular one that is not empty.
  static func open(_ path: String) throws(SpoolError) -> ContainerBytes {
    let stamp: FileStamp
    do { stamp = try FileStamp(following: path) } catch { throw cannotOpen(path, error) }
    guard stamp.isRegularFile else {
      throw SpoolError(
        "read", path,
        reason: stamp.isFolder ? "it is a folder" : "it is a pipe or a device, not a file",
        advice: stamp.isFolder ? "name the recordings inside it" : "save it as a file first",
        cause: .input)
    }
    let bytes: ContainerBytes
    do { bytes = try ContainerBytes(path: path) } catch { throw cannotOpen(path, error) }
    guard bytes.byteCount + bytes.unwrittenByteCount > 0 else {
      throw SpoolError(
        "read", path, reason: "it is empty",
        advice: "copy it again from where it came from", cause: .input)
    }
    return bytes
  }

  /// Opens the container in a range of the file, and reads its streams.
  private static func context(
    of bytes: borrowing ContainerBytes, _ range: Range<Int>, named name: String
  ) throws(SpoolError) -> UnsafeMutablePointer<AVFormatContext> {
    guard
      let io = unsafe spool_reader_open(
        bytes.descriptor, Int64(range.lowerBound), Int64(range.count))
    else { fatalError("out of memory") }
    var context = unsafe avformat_alloc_context()
    unsafe context?.pointee.pb = unsafe io
    unsafe context?.pointee.io_open = refuseOtherFile
    // The prefix prevents libav from reading a name with a colon as a protocol. On failure libav
    // frees the context, but not the reader.
    var status = LibAV.calling { unsafe avformat_open_input(&context, "file:" + name, nil, nil) }
    guard status >= 0, let context = unsafe context else {
      unsafe spool_reader_close(io)
      throw notMedia(bytes, status)
    }
    status = LibAV.calling { unsafe avformat_find_stream_info(context, nil) }
    guard status >= 0 else {
      let error = notMedia(bytes, status)
      unsafe close(context)
      throw error
    }
    let format = unsafe String(cString: context.pointee.iformat.pointee.name)
    guard let endings = formatsWithoutMark[format], !endings.contains(where: name.hasSuffix) else {
      return unsafe context
    }
    unsafe close(context)
    throw notMedia(bytes, spool_averror_invalid_data())
  }

  /// Formats without any mark that libavformat takes plain samples for, such as those of a file whose
  /// header is lost, and how the names of such files end: decoded, they are noise.
  private static let formatsWithoutMark = ["adp": [".adp", ".dtk"], "ea_cdata": [".cdata"]]

  private static func close(_ context: UnsafeMutablePointer<AVFormatContext>) {
    let io = unsafe context.pointee.pb
    var context: UnsafeMutablePointer<AVFormatContext>? = unsafe context
    unsafe avformat_close_input(&context)
    unsafe spool_reader_close(io)
  }

  deinit { unsafe Self.close(context) }

  /// The container's short names, comma-separated.
  var formatName: String { unsafe String(cString: context.pointee.iformat.pointee.name) }

  /// How many streams there are.
  var streamCount: Int { unsafe Int(context.pointee.nb_streams) }

  /// Whether all that is left to read is padding: zeros, or a few bytes.
  var isAtTail: Bool {
    let place = unsafe Int(avio_seek(context.pointee.pb, 0, SEEK_CUR))
    guard place >= 0 else { return false }
    if case .foreign = bytes.rest(from: place) { return false }
    return true
  }

  @unsafe func stream(_ index: Int) -> UnsafeMutablePointer<AVStream> {
    guard index >= 0 && index < streamCount, let stream = unsafe context.pointee.streams[index]
    else { preconditionFailure("no stream \(index)") }
    return unsafe stream
  }

  /// The end of a stream in its time base; nil if the container does not declare it.
  func end(ofStream index: Int) -> Int64? {
    let stream = unsafe stream(index).pointee
    guard unsafe stream.duration != spool_no_timestamp(), unsafe stream.duration > 0 else {
      return nil
    }
    let start = unsafe stream.start_time == spool_no_timestamp() ? 0 : unsafe stream.start_time
    return unsafe start + stream.duration
  }

  /// Where the edit list of a movie ends a stream, in the stream's time base, at the latest: a length
  /// that is rounded to the movie's units may be one of them longer. Nil for other containers.
  func endOfEdits(ofStream index: Int) -> Int64? {
    guard formatName.hasPrefix("mov"), let end = end(ofStream: index),
      let scale = bytes.movieTimeScale
    else { return nil }
    let base = unsafe stream(index).pointee.time_base
    guard base.num > 0, base.den > 0 else { return nil }
    let isExact = scale * Int(base.num) % Int(base.den) == 0
    // A hostile file may declare any length.
    let unit = 1 + Int64(base.den) / (Int64(base.num) * Int64(scale))
    return isExact ? end : end.addingReportingOverflow(unit).partialValue
  }

  /// What the index of a movie declares of a stream; nil for other containers.
  func movieTrack(ofStream index: Int) -> MovieTrack? {
    guard formatName.hasPrefix("mov") else { return nil }
    return bytes.movieTrack(index, rate: sampleRate(ofStream: index))
  }

  /// Whether the container's index has no packet of a stream behind this time.
  func isLast(_ time: Int64, inStream index: Int) -> Bool {
    let stream = unsafe stream(index)
    let count = unsafe avformat_index_get_entries_count(stream)
    guard count > 0, let last = unsafe avformat_index_get_entry(stream, count - 1) else {
      return false
    }
    return unsafe last.pointee.timestamp <= time
  }

  /// A stream's sample rate; nil if the container does not declare it.
  func sampleRate(ofStream index: Int) -> Double? {
    let rate = unsafe Double(stream(index).pointee.codecpar.pointee.sample_rate)
    return rate > 0 ? rate : nil
  }

  /// The index of the sound stream: `wanted`, or the best decodable one.
  func chooseSoundStream(_ wanted: Int? = nil) throws(SpoolError) -> Int {
    if let wanted {
      guard wanted >= 0 && wanted < streamCount,
        unsafe stream(wanted).pointee.codecpar.pointee.codec_type == AVMEDIA_TYPE_AUDIO
      else {
        throw SpoolError(
          "read stream \(wanted) of", path,
          reason: "its sound streams are \(soundStreams)", advice: "choose one of these",
          cause: .input)
      }
      return wanted
    }
    var decoder: UnsafePointer<AVCodec>?
    let index = unsafe av_find_best_stream(context, AVMEDIA_TYPE_AUDIO, -1, -1, &decoder, 0)
    if index >= 0 { return Int(index) }
    if index == spool_averror_decoder_not_found(), let first = soundStreams.first {
      throw withoutDecoder(of: first)
    }
    throw withoutSound
  }

  /// Why the sound of a stream cannot be decoded.
  func withoutDecoder(of index: Int) -> SpoolError {
    let parameters = unsafe stream(index).pointee.codecpar.pointee
    let codec = unsafe parameters.codec_id
    let name = unsafe String(cString: avcodec_get_name(codec))
    return SpoolError(
      "decode", path,
      reason: codec == AV_CODEC_ID_NONE
        ? "this libavformat does not know the codec of its sound"
        : "this libavcodec has no decoder for \(name)",
      advice: "convert the recording with the program that made it", cause: .input)
  }

  /// The indices of all sound streams, whether they can be decoded or not.
  var soundStreams: [Int] { streams(of: AVMEDIA_TYPE_AUDIO) }

  private func streams(of type: AVMediaType) -> [Int] {
    (0..<streamCount).filter { unsafe stream($0).pointee.codecpar.pointee.codec_type == type }
  }

  private var withoutSound: SpoolError {
    // libavformat takes plain text for terminal art, which counts as video.
    let isText = formatName == "tty"
    if isText || streams(of: AVMEDIA_TYPE_VIDEO).isEmpty {
      return SpoolError(
        "read", path, reason: "it is not a recording",
        advice: "check that it is the file you meant", cause: .input)
    }
    return SpoolError(
      "read", path, reason: "it holds pictures but no sound",
      advice: "check that it is the file you meant", cause: .input)
  }

  private static func cannotOpen(_ path: String, _ error: SystemError) -> SpoolError {
    switch error.code {
    case ENOENT, ENOTDIR:
      SpoolError(
        "read", path, reason: "there is no such file", advice: "check its name", cause: .input)
    default:
      SpoolError(
        "read", path, reason: error.words.lowercased(), advice: "check who may read it: ls -l")
    }
  }

  /// Whether a file begins like MP4: libavformat tries that for any file with a matching name.
  private static func looksLikeMP4(_ bytes: borrowing ContainerBytes) -> Bool {
    ["ftyp", "mdat", "moov", "free", "skip", "wide"].contains(bytes.word(at: 4))
  }

  /// Why a file that ends in a long hole is not read: its bytes would be hashed for minutes, and the
  /// hole is no sound.
  private static func endsUnwritten(_ bytes: borrowing ContainerBytes) -> SpoolError {
    SpoolError(
      "read", bytes.path,
      reason: bytes.byteCount == 0
        ? "the file is cut off: nothing was written into the room that is reserved for it"
        : "its last \(bytes.unwrittenByteCount) bytes were never written",
      advice: "copy it again from where it came from"
        + (bytes.byteCount == 0
          ? "" : ", or cut it off where its sound ends: truncate -s \(bytes.byteCount)"),
      cause: .input)
  }

  private static func notMedia(
    _ bytes: borrowing ContainerBytes, _ status: Int32
  ) -> SpoolError {
    let (path, reason) = (bytes.path, LibAV.reason(status))
    if reason.contains("moov atom not found") && looksLikeMP4(bytes) {
      return SpoolError(
        "read", path,
        reason: "the file has no index (moov): it was cut off while being written or copied",
        advice: "copy it again from where it came from", cause: .input)
    }
    // libavformat reports the end of a file in the middle of a header as a failure to read.
    if case .incomplete(let what) = ContainerExtent(of: bytes) {
      return SpoolError(
        "read", path, reason: "the file is cut off: \(what)",
        advice: "copy it again from where it came from", cause: .input)
    }
    if status == spool_averror(EIO) || status == spool_averror(EACCES) {
      return SpoolError(
        "read", path, reason: reason,
        advice: status == spool_averror(EIO)
          ? "the disk may be failing: dmesg says more; copy the recording elsewhere"
          : "check its permissions")
    }
    return SpoolError(
      "read", path, reason: "it is not a recording: \(reason)",
      advice: "check that it is the file you meant", cause: .input)
  }
}

private func refuseOtherFile(
  _ context: UnsafeMutablePointer<AVFormatContext>?,
  _ io: UnsafeMutablePointer<UnsafeMutablePointer<AVIOContext>?>?,
  _ url: UnsafePointer<CChar>?, _ flags: Int32,
  _ options: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  spool_averror(EACCES)
}

extension AVRational {
  /// In seconds, of a time base.
  var value: Double { Double(num) / Double(den) }
}
