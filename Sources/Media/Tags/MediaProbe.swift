package import Audio
import CLibAV
import CLibAVLoader
package import Platform

/// Reads the properties of recordings without decoding them.
package enum MediaProbe {
  /// Reads only headers and first packets.
  package static func describe(_ recording: SourceFile) throws(SpoolError) -> MediaDescription {
    if let sandbox = MediaSandbox.current { return try sandbox.describe(recording) }
    return try describe(InputFile(recording))
  }

  static func describe(_ file: InputFile) throws(SpoolError) -> MediaDescription {
    let index = try file.chooseSoundStream()
    let stream = unsafe file.stream(index)
    let parameters = unsafe stream.pointee.codecpar.pointee
    let sampleRate = unsafe Int(parameters.sample_rate)
    let channelCount = unsafe Int(parameters.ch_layout.nb_channels)
    guard sampleRate > 0, channelCount > 0 else {
      throw SpoolError(
        "read", file.path, reason: "its sound has no rate or no channels",
        advice: "copy it again from where it came from", cause: .input)
    }
    let length = StreamLength(of: file, stream: index)
    let (tags, severalValues) = tags(of: file, stream: index)
    return unsafe MediaDescription(
      container: file.formatName,
      duration: length.duration,
      stream: index, soundStreams: file.soundStreams,
      codec: String(cString: avcodec_get_name(parameters.codec_id)),
      format: AudioFormat(
        sampleRate: Hertz(Double(sampleRate)), channelCount: channelCount,
        positions: file.positions(ofStream: index)),
      bitDepth: bitDepth(of: parameters),
      bitRate: parameters.bit_rate > 0 ? Int(parameters.bit_rate) : nil,
      expectedFrames: length.duration?.frames(at: Hertz(Double(sampleRate))),
      tags: tags, severalValues: severalValues,
      pictureCount: pictureStreams(of: file).count,
      markers: markers(of: file, rate: Hertz(Double(sampleRate))),
      isAmbisonic: parameters.ch_layout.order == AV_CHANNEL_ORDER_AMBISONIC
        || WaveChunks.Format(in: file.bytes)?.isAmbisonic == true)
  }

  /// The tags, and the values of those that several comments hold.
  private static func tags(
    of file: InputFile, stream index: Int
  ) -> ([String: String], several: [String: [String]]) {
    var tags = unsafe Dictionary.tags(
      file.context.pointee.metadata, over: file.stream(index).pointee.metadata)
    // Nothing else can be one of two, or several.
    guard ["flac", "ogg"].contains(file.formatName),
      tags["comment"] != nil
        || tags.values.contains(where: { $0.contains(VorbisComments.separator) }),
      let bytes = try? file.bytes.copy(), let comments = VorbisComments(bytes)
    else { return (tags, [:]) }
    let both = comments.commentAndDescription
    if tags["comment"] != nil, both.comment != nil || both.description != nil {
      (tags["comment"], tags["description"]) = both
    }
    let several = comments.severalValues.filter {
      tags[$0.key] == VorbisComments.joined($0.value)
    }
    return (tags, several)
  }

  /// The cover picture of a recording; nil when it has none.
  package static func coverArt(of recording: SourceFile) throws(SpoolError) -> CoverArt? {
    if let sandbox = MediaSandbox.current {
      return try sandbox.answer(.cover, about: recording)
    }
    return coverArt(of: try InputFile(recording))
  }

  static func coverArt(of file: InputFile) -> CoverArt? {
    guard let index = pictureStreams(of: file).first else { return nil }
    let packet = unsafe file.stream(index).pointee.attached_pic
    return unsafe CoverArt(
      bytes: Array(UnsafeBufferPointer(start: packet.data, count: Int(packet.size))))
  }

  private static func pictureStreams(of file: InputFile) -> [Int] {
    (0..<file.streamCount).filter { unsafe spool_has_picture(file.stream($0)) != 0 }
  }

  private static func bitDepth(of parameters: AVCodecParameters) -> Int? {
    let bits =
      unsafe parameters.bits_per_raw_sample > 0
      ? parameters.bits_per_raw_sample : parameters.bits_per_coded_sample
    let isLossy = unsafe [AV_CODEC_ID_AAC, AV_CODEC_ID_MP3, AV_CODEC_ID_OPUS, AV_CODEC_ID_VORBIS]
      .contains(parameters.codec_id)
    return bits > 0 && !isLossy ? Int(bits) : nil
  }

  /// A chapter start or cue point of a recording.
  package struct Marker: Hashable, Sendable {
    /// From the beginning of the sound.
    package let time: Seconds
    /// Nil if unnamed.
    package let title: String?

    package init(time: Seconds, title: String? = nil) {
      self.time = time
      self.title = title
    }
  }

  /// The markers of a recording, in order of time: chapter starts (M4A, Matroska, MP3, FLAC, Ogg),
  /// the cue points of WAV and the markers of AIFF and CAF, with their names. Chapters of a FLAC file
  /// come before the cue points of the WAV file that it was made of.
  package static func markers(of recording: SourceFile) throws(SpoolError) -> [Marker] {
    if let sandbox = MediaSandbox.current {
      return try sandbox.answer(.markers, about: recording)
    }
    return try markers(of: InputFile(recording))
  }

  static func markers(of file: InputFile) throws(SpoolError) -> [Marker] {
    let rate = file.sampleRate(ofStream: try file.chooseSoundStream()) ?? 0
    return markers(of: file, rate: Hertz(rate))
  }

  private static func markers(of file: InputFile, rate: Hertz) -> [Marker] {
    let hasChapters = unsafe file.formatName == "flac" && file.context.pointee.nb_chapters > 0
    if rate.value > 0, !hasChapters, let cues = try? BroadcastMetadata(in: file.bytes).cues {
      return cues.markers(at: rate)
    }
    var markers: [Marker] = []
    for number in unsafe 0..<Int(file.context.pointee.nb_chapters) {
      guard let chapter = unsafe file.context.pointee.chapters[number]?.pointee else { continue }
      let base = unsafe chapter.time_base
      let start = unsafe chapter.start
      guard start >= 0, base.num > 0, base.den > 0 else { continue }
      let title = unsafe [String: String].tags(chapter.metadata)["title"]
      markers.append(
        Marker(
          time: Seconds(Double(start) * Double(base.num) / Double(base.den)),
          title: title.flatMap { $0.isEmpty ? nil : $0 }))
    }
    return markers.sorted { $0.time < $1.time }
  }
}

/// The properties of a recording, without decoding it.
package struct MediaDescription: Hashable, Sendable {
  /// The container's short names as libavformat has them, such as `mov,mp4,m4a,3gp,3g2,mj2`.
  package let container: String
  /// Nil if not declared.
  package let duration: Seconds?
  /// The same as a number, for callers that do not import the audio types.
  package var durationInSeconds: Double? { duration?.value }
  /// The index of the sound stream in the container.
  package let stream: Int
  /// The indices of all sound streams in the container.
  package let soundStreams: [Int]
  /// The sound's codec, such as `aac`.
  package let codec: String
  /// The sound's rate and channels.
  package let format: AudioFormat
  /// Bits per sample of linear or lossless sound; nil for other codecs.
  package let bitDepth: Int?
  /// Bits per sample of integers; nil for floats and lossy sound.
  package var integerBits: Int? {
    let isInteger =
      codec.hasPrefix("pcm_s") || codec.hasPrefix("pcm_u")
      || ["flac", "alac", "wavpack", "tta"].contains(codec)
    return isInteger ? bitDepth : nil
  }
  /// The bit rate of the sound stream; nil if unknown.
  package let bitRate: Int?
  /// The declared number of frames; nil if not declared.
  package let expectedFrames: Frames?
  /// The tags of the container and the sound stream, names in lower case; the container's take
  /// precedence.
  package let tags: [String: String]
  /// The values of the tags that several Vorbis comments hold, in their order; the tags have them
  /// joined by semicolons.
  package let severalValues: [String: [String]]
  /// How many pictures there are: `MediaProbe.coverArt(of:)` reads the first one.
  package let pictureCount: Int
  package var hasCoverArt: Bool { pictureCount > 0 }
  /// Its chapter starts or cue points: as `MediaProbe.markers(of:)` gives them.
  package let markers: [MediaProbe.Marker]
  /// Whether the channels are components of an Ambisonic sound field, and not for loudspeakers.
  package let isAmbisonic: Bool
}
