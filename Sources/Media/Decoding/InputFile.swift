internal import Audio
internal import CLibAV
internal import CLibAVLoader
import Glibc
import Platform

/// An opened recording: the container and its selected sound stream.
///
/// Only this file is read: playlists that refer to others are rejected, since recordings are
/// untrusted.
@safe final class InputFile {
  let path: String
  /// The file's length.
  let byteCount: Int
  let context: UnsafeMutablePointer<AVFormatContext>

  /// Opens a recording and reads its streams; if `isStreamOnly`, or if nothing else can be read,
  /// without tags of other formats and padding before or behind them.
  init(_ file: SourceFile, isStreamOnly: Bool = false) throws(SpoolError) {
    let path = file.path
    try LibAV.require(for: path)
    byteCount = try Self.byteCount(ofRegularFile: path)
    self.path = path

    let stream = Self.streamProtocol(path, byteCount)
    do throws(SpoolError) {
      unsafe context = try Self.open(file, isStreamOnly ? stream : "")
    } catch {
      // Some demuxers take what is behind a stream for a part of it.
      guard !isStreamOnly, !stream.isEmpty, let found = unsafe try? Self.open(file, stream)
      else { throw error }
      unsafe context = unsafe found
    }
  }

  /// Opens a file through `protocols`, and reads its streams.
  private static func open(
    _ file: SourceFile, _ protocols: String
  ) throws(SpoolError) -> UnsafeMutablePointer<AVFormatContext> {
    let path = file.path
    // The prefix prevents libav from reading a name with a colon as a protocol.
    let url = "file:" + file.name
    var io: UnsafeMutablePointer<AVIOContext>?
    let opened = LibAV.calling {
      unsafe avio_open(&io, protocols + "file:" + path, AVIO_FLAG_READ)
    }
    guard opened >= 0 else { throw cannotOpen(path, opened) }

    var context = unsafe avformat_alloc_context()
    unsafe context?.pointee.pb = unsafe io
    unsafe context?.pointee.io_open = refuseOtherFile
    // On failure libav frees the context, but not the file, which it did not open.
    var status = LibAV.calling { unsafe avformat_open_input(&context, url, nil, nil) }
    guard status >= 0, let context = unsafe context else {
      unsafe avio_closep(&io)
      throw notMedia(path, status)
    }
    status = LibAV.calling { unsafe avformat_find_stream_info(context, nil) }
    guard status >= 0 else {
      let error = notMedia(path, status)
      unsafe close(context)
      throw error
    }
    return unsafe context
  }

  private static func close(_ context: UnsafeMutablePointer<AVFormatContext>) {
    var io = unsafe context.pointee.pb
    var context: UnsafeMutablePointer<AVFormatContext>? = unsafe context
    unsafe avformat_close_input(&context)
    unsafe avio_closep(&io)
  }

  /// What limits libav to the stream within the file; empty if it is the whole file.
  private static func streamProtocol(_ path: String, _ byteCount: Int) -> String {
    guard let range = (try? ContainerBytes(path: path))?.streamRange, range != 0..<byteCount
    else { return "" }
    return "subfile,,start,\(range.lowerBound),end,\(range.upperBound),,:"
  }

  deinit { unsafe Self.close(context) }

  /// The container's short names, comma-separated.
  var formatName: String { unsafe String(cString: context.pointee.iformat.pointee.name) }

  /// How many streams there are.
  var streamCount: Int { unsafe Int(context.pointee.nb_streams) }

  /// Whether all that is left to read is padding: zeros, or a few bytes.
  var isAtTail: Bool {
    let place = unsafe Int(avio_seek(context.pointee.pb, 0, SEEK_CUR))
    guard place >= 0, let bytes = try? ContainerBytes(path: path) else { return false }
    if case .foreign = bytes.rest(from: place) { return false }
    return true
  }

  /// Whether another Matroska recording begins between the end of a packet and another position.
  func beginsRecording(from end: Int, before position: Int) -> Bool {
    (try? ContainerBytes(path: path))?.beginsRecording(from: end, before: position) ?? false
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

  private static func byteCount(ofRegularFile path: String) throws(SpoolError) -> Int {
    let stamp: FileStamp
    do { stamp = try FileStamp(following: path) } catch {
      throw cannotOpen(path, spool_averror(error.code))
    }
    guard stamp.isRegularFile else {
      throw SpoolError(
        "read", path,
        reason: stamp.isFolder ? "it is a folder" : "it is a pipe or a device, not a file",
        advice: stamp.isFolder ? "name the recordings inside it" : "save it as a file first",
        cause: .input)
    }
    guard stamp.byteCount > 0 else {
      throw SpoolError(
        "read", path, reason: "it is empty",
        advice: "copy it again from where it came from", cause: .input)
    }
    return Int(stamp.byteCount)
  }

  private static func cannotOpen(_ path: String, _ status: Int32) -> SpoolError {
    let code = spool_averror(status)
    return switch code {
    case ENOENT, ENOTDIR:
      SpoolError(
        "read", path, reason: "there is no such file", advice: "check its name", cause: .input)
    default:
      SpoolError(
        "read", path, reason: SystemError(code).words.lowercased(),
        advice: "check who may read it: ls -l")
    }
  }

  /// Whether a file begins like MP4: libavformat tries that for any file with a matching name.
  private static func looksLikeMP4(_ path: String) -> Bool {
    let kind = (try? ContainerBytes(path: path))?.word(at: 4) ?? ""
    return ["ftyp", "mdat", "moov", "free", "skip", "wide"].contains(kind)
  }

  private static func notMedia(_ path: String, _ status: Int32) -> SpoolError {
    let reason = LibAV.reason(status)
    if reason.contains("moov atom not found") && looksLikeMP4(path) {
      return SpoolError(
        "read", path,
        reason: "the file has no index (moov): it was cut off while being written or copied",
        advice: "copy it again from where it came from", cause: .input)
    }
    // libavformat reports the end of a file in the middle of a header as a failure to read.
    if case .incomplete(let what) = ContainerExtent(ofFileAt: path) {
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

/// The declared length of a recording, and its reliability.
struct StreamLength {
  /// Nil if not declared, or not plausible.
  let duration: Seconds?
  /// A declared length that is not plausible.
  let disbelieved: Seconds?
  /// The longest sound that is plausible in a file of this size. Silence in FLAC or Opus takes more
  /// than a byte a second.
  let most: Seconds
  /// Whether clearly shorter decoded sound means a loss. A length estimated from the bit rate means
  /// nothing.
  let isDeclared: Bool
  /// Whether the header counts the sound, so that nothing is missing once that much is decoded,
  /// whatever else the file holds.
  let isCounted: Bool
  /// Whether it is the time of the last packet, as the container declares none.
  let isLastTime: Bool
  /// By how much less sound an MP3 or AVI file may hold than its header counts in frames: what an
  /// encoder added may be unknown. Nil if nothing counts frames.
  let mostAdded: Frames?

  /// Asks the container.
  init(of file: InputFile, stream index: Int) {
    let stream = unsafe file.stream(index).pointee
    let method = unsafe file.context.pointee.duration_estimation_method
    most = Seconds(Double(max(3600, file.byteCount)))
    isLastTime = method == AVFMT_DURATION_FROM_PTS
    guard unsafe stream.duration != spool_no_timestamp(), unsafe stream.duration > 0 else {
      let total = unsafe file.context.pointee.duration
      let declared =
        total != spool_no_timestamp() && total > 0
        ? Seconds(Double(total) / Double(AV_TIME_BASE)) : nil
      (duration, disbelieved) = Self.believed(declared, most)
      // Matroska declares one duration for all streams.
      isDeclared =
        duration != nil && file.formatName.hasPrefix("matroska") && file.streamCount == 1
        && method == AVFMT_DURATION_FROM_STREAM
      isCounted = false
      mostAdded = nil
      return
    }
    let padding = file.formatName == "mp3" ? Self.padding(of: file.path) : nil
    let rate = unsafe Double(max(1, stream.codecpar.pointee.sample_rate))
    let seconds =
      unsafe Double(stream.duration) * Double(stream.time_base.num)
      / Double(stream.time_base.den) - Double(padding ?? 0) / rate
    // Of some containers libavformat counts only the existing bytes, which the header counts too.
    let bytesPerSecond = unsafe Double(stream.codecpar.pointee.bit_rate) / 8
    let countsExisting =
      bytesPerSecond > 0 && seconds * bytesPerSecond <= Double(file.byteCount)
    let isLinear = unsafe av_get_exact_bits_per_sample(stream.codecpar.pointee.codec_id) > 0
    let missing =
      countsExisting ? Self.missingBytes(of: file.path, isLinear: isLinear) : 0
    let declared = Seconds(seconds + (missing > 0 ? Double(missing) / bytesPerSecond : 0))
    // Bytes that are missing are counted.
    (duration, disbelieved) = missing > 0 ? (declared, nil) : Self.believed(declared, most)
    isDeclared = duration != nil && (method != AVFMT_DURATION_FROM_BITRATE || missing > 0)
    isCounted = isDeclared && ["flac", "tta", "wv"].contains(file.formatName)
    let isFLAC = unsafe stream.codecpar.pointee.codec_id == AV_CODEC_ID_FLAC
    mostAdded =
      switch file.formatName {
      case "mp3" where isDeclared: Frames(padding == nil ? 1105 + 3 * 1152 : 1152)
      // The last block of FLAC counts as a whole one.
      case "avi" where isDeclared && !isFLAC: Frames(Int(rate) / 10)
      default: nil
      }
  }
}

extension StreamLength {
  /// The bytes that a file lacks, where its length is that of the bytes that are there.
  private static func missingBytes(of path: String, isLinear: Bool) -> Int {
    guard let bytes = try? ContainerBytes(path: path), isLinear || !bytes.countsSamples else {
      return 0
    }
    return bytes.missingBytes
  }

  /// The samples that an MP3's encoder added, where a header in its first frame counts its frames, and
  /// these samples.
  private static func padding(of path: String) -> Int? {
    guard let bytes = try? ContainerBytes(path: path) else { return nil }
    return bytes.encoderPadding(at: bytes.tagEnd(at: 0) ?? 0)
  }

  /// A declared length, as one that is plausible or as one that is not.
  private static func believed(
    _ declared: Seconds?, _ most: Seconds
  ) -> (duration: Seconds?, disbelieved: Seconds?) {
    declared.map { $0.value <= most.value } == false ? (nil, declared) : (declared, nil)
  }
}

extension ContainerBytes {
  /// Whether a WAV file tells the number of its samples, as it does for codecs with packets.
  fileprivate var countsSamples: Bool {
    guard word(at: 0) == "RIFF", word(at: 8) == "WAVE" else { return false }
    var offset = 12
    while byteCount - offset >= 8, word(at: offset) != "data" {
      if word(at: offset) == "fact" { return true }
      let size = little(at: offset + 4, count: 4)
      offset += 8 + size + size & 1
    }
    return false
  }

  /// How many bytes a WAV, Wave64, CAF or DSF file lacks of its declared size; 0 for other files and for
  /// streams to a pipe, whose size was never filled in.
  fileprivate var missingBytes: Int {
    let declared: Int? =
      if word(at: 0) == "RIFF", word(at: 8) == "WAVE" {
        little(at: 4, count: 4) == 0xffff_ffff ? nil : 8 + little(at: 4, count: 4)
      } else if isWave64 {
        little(at: 16, count: 8)
      } else if word(at: 0) == "DSD " {
        little(at: 12, count: 8)
      } else if word(at: 0) == "caff" {
        cafSoundEnd
      } else {
        nil
      }
    guard let declared, declared < 1 << 60 else { return 0 }
    return max(0, declared - byteCount)
  }
}

extension AVRational {
  /// In seconds, of a time base.
  var value: Double { Double(num) / Double(den) }
}
