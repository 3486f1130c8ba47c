internal import AudioModel
internal import CLibAV
internal import CLibAVLoader

/// How long a container says that its sound is, and whether it can be believed.
struct StreamLength {
  /// The length; nil when the container does not say.
  let duration: Seconds?
  /// Whether a clearly shorter decoded sound means that some is missing. A length guessed from
  /// the bit rate means nothing.
  let isDeclared: Bool

  /// Asks the container.
  init(of file: InputFile, stream index: Int) {
    let stream = unsafe file.stream(index).pointee
    let method = unsafe file.context.pointee.duration_estimation_method
    guard unsafe stream.duration != spool_no_timestamp(), unsafe stream.duration > 0 else {
      let total = unsafe file.context.pointee.duration
      duration =
        total != spool_no_timestamp() && total > 0
        ? Seconds(Double(total) / Double(AV_TIME_BASE)) : nil
      isDeclared = false
      return
    }
    let seconds =
      unsafe Double(stream.duration) * Double(stream.time_base.num)
      / Double(stream.time_base.den)
    // libavformat counts only the bytes that are there of a WAV file.
    let bytesPerSecond = unsafe Double(stream.codecpar.pointee.bit_rate) / 8
    let missing = bytesPerSecond > 0 ? FileHead(path: file.path).missingRIFFBytes : 0
    duration = Seconds(seconds + (missing > 0 ? Double(missing) / bytesPerSecond : 0))
    isDeclared = method != AVFMT_DURATION_FROM_BITRATE || missing > 0
  }
}
