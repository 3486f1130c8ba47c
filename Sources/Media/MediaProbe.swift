internal import AudioModel
internal import CLibAV
internal import CLibAVLoader

/// Looks into recordings without decoding them.
public enum MediaProbe {
  /// What the recording at `path` is. Reads only its headers and first packets.
  public static func describe(_ path: String) throws(MediaError) -> MediaDescription {
    let file = try InputFile(path: path)
    let index = try file.chooseSoundStream()
    let stream = unsafe file.stream(index)
    let parameters = unsafe stream.pointee.codecpar.pointee
    let sampleRate = unsafe Int(parameters.sample_rate)
    let channelCount = unsafe Int(parameters.ch_layout.nb_channels)
    guard sampleRate > 0, channelCount > 0 else {
      throw MediaError(
        .noFrames, "read", path: path, reason: "its sound has no rate or no channels",
        advice: "copy it again from where it came from")
    }
    let length = StreamLength(of: file, stream: index)
    return unsafe MediaDescription(
      container: file.formatName,
      duration: length.duration,
      stream: index,
      codec: String(cString: avcodec_get_name(parameters.codec_id)),
      format: AudioFormat(sampleRate: Hertz(Double(sampleRate)), channelCount: channelCount),
      bitDepth: bitDepth(of: parameters),
      bitRate: parameters.bit_rate > 0 ? Int(parameters.bit_rate) : nil,
      expectedFrames: length.duration?.frames(at: Hertz(Double(sampleRate))),
      tags: Dictionary.tags(file.context.pointee.metadata, over: stream.pointee.metadata),
      hasCoverArt: pictureStream(of: file) != nil)
  }

  /// The cover picture of the recording at `path`; nil when it has none.
  public static func coverArt(of path: String) throws(MediaError) -> CoverArt? {
    let file = try InputFile(path: path)
    guard let index = pictureStream(of: file) else { return nil }
    let packet = unsafe file.stream(index).pointee.attached_pic
    return unsafe CoverArt(
      bytes: Array(UnsafeBufferPointer(start: packet.data, count: Int(packet.size))))
  }

  private static func pictureStream(of file: InputFile) -> Int? {
    (0..<file.streamCount).first { unsafe spool_has_picture(file.stream($0)) != 0 }
  }

  private static func bitDepth(of parameters: AVCodecParameters) -> Int? {
    let bits =
      unsafe parameters.bits_per_raw_sample > 0
      ? parameters.bits_per_raw_sample : parameters.bits_per_coded_sample
    let isLossy = unsafe [AV_CODEC_ID_AAC, AV_CODEC_ID_MP3, AV_CODEC_ID_OPUS, AV_CODEC_ID_VORBIS]
      .contains(parameters.codec_id)
    return bits > 0 && !isLossy ? Int(bits) : nil
  }
}
