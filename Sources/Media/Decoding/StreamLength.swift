import Audio
import CLibAV
import CLibAVLoader

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
  /// What the index of a movie declares; nil for other containers.
  private let track: MovieTrack?

  /// Asks the container.
  init(of file: InputFile, stream index: Int) {
    let stream = unsafe file.stream(index).pointee
    let method = unsafe file.context.pointee.duration_estimation_method
    most = Seconds(Double(max(3600, file.bytes.byteCount)))
    isLastTime = method == AVFMT_DURATION_FROM_PTS
    track = file.movieTrack(ofStream: index)
    guard unsafe stream.duration != spool_no_timestamp(), unsafe stream.duration > 0 else {
      let total = unsafe file.context.pointee.duration
      let declared =
        total != spool_no_timestamp() && total > 0
        ? Seconds(Double(total) / Double(AV_TIME_BASE)) : nil
      let held = track?.promised(besides: nil)
      (duration, disbelieved) = Self.believed(held ?? declared, most)
      // Matroska declares one duration for all streams.
      let isMatroska =
        file.formatName.hasPrefix("matroska") && file.streamCount == 1
        && method == AVFMT_DURATION_FROM_STREAM
      isDeclared = duration != nil && (held != nil || isMatroska)
      isCounted = false
      mostAdded = nil
      return
    }
    let padding = file.formatName == "mp3" ? Self.padding(of: file.bytes) : nil
    let rate = unsafe Double(max(1, stream.codecpar.pointee.sample_rate))
    let isLinear = unsafe av_get_exact_bits_per_sample(stream.codecpar.pointee.codec_id) > 0
    // Of PCM in AVI, libavformat estimates the duration by the file's length, index included.
    let counted =
      unsafe file.formatName == "avi" && isLinear && stream.nb_frames > 0
      ? Double(stream.nb_frames) / rate : nil
    let seconds =
      unsafe counted ?? Double(stream.duration) * Double(stream.time_base.num)
      / Double(stream.time_base.den) - Double(padding ?? 0) / rate
    // Of some containers libavformat counts only the existing bytes, which the header counts too.
    let bytesPerSecond = unsafe Double(stream.codecpar.pointee.bit_rate) / 8
    let countsExisting =
      bytesPerSecond > 0 && seconds * bytesPerSecond <= Double(file.bytes.byteCount)
    let missing =
      countsExisting && counted == nil ? Self.missingBytes(of: file.bytes, isLinear: isLinear) : 0
    let existing = Seconds(seconds + (missing > 0 ? Double(missing) / bytesPerSecond : 0))
    let isEstimate = method == AVFMT_DURATION_FROM_BITRATE && missing == 0 && counted == nil
    let held = track?.promised(besides: isEstimate ? nil : existing)
    let declared = held ?? existing
    // Bytes that are missing are counted.
    (duration, disbelieved) = missing > 0 ? (declared, nil) : Self.believed(declared, most)
    let isGuess = isEstimate && held == nil
    isDeclared = duration != nil && !isGuess
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
  /// By how much less than a promised length is no loss.
  static func tolerance(of promised: Seconds) -> Double { max(0.5, promised.value / 100) }

  /// Why less may have been decoded than there is, where an index contradicts itself.
  var contradiction: String? { track?.contradiction }

  /// Why less may have been decoded than was meant, where an edit list leaves sound out.
  func oddity(behind given: Seconds) -> String? {
    guard let track, let oddity = track.oddity, track.isEdited,
      track.held.value - given.value > Self.tolerance(of: track.held)
    else { return nil }
    return "its edit list plays \(SoundDecoder.Damage.rounded(given.value)) s of "
      + "\(SoundDecoder.Damage.rounded(track.held.value)) s of sound, \(oddity)"
  }

  /// The bytes that a file lacks, where its length is that of the bytes that are there.
  private static func missingBytes(of bytes: borrowing ContainerBytes, isLinear: Bool) -> Int {
    isLinear || !bytes.countsSamples ? bytes.missingBytes : 0
  }

  /// The samples that an MP3's encoder added, where a header in its first frame counts its frames, and
  /// these samples.
  private static func padding(of bytes: borrowing ContainerBytes) -> Int? {
    bytes.encoderPadding(at: bytes.tagEnd(at: 0) ?? 0)
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
