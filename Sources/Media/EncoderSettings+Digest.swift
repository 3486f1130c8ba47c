internal import AudioModel
internal import CLibAV
internal import CLibAVLoader
internal import Hashing

extension EncoderSettings {
  /// The digest of everything but the sound that decides over a file's bytes: these settings, the
  /// format of the `source`, how it is cut, and the libraries.
  func digest(source: AudioFormat, plan: ChunkPlan?) -> Digest {
    var words = [codec, muxer, "\(sampleFormat.rawValue)"]
    words += [bits, bitRate, compressionLevel].map { "\($0 ?? -1)" }
    words.append("\(channelMask)")
    words += [source, format].map { "\($0.channelCount) at \($0.sampleRate.value)" }
    words += [muxerOptions, MediaVersions.all].flatMap { options in
      options.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    }
    // The state of an MD5 is its own affair.
    words.append("libavutil=\(avutil_version())")
    if hasOwnEncoder { words.append("alac=\(ALACFrame.revision)") }
    if let plan {
      words += [
        plan.frameSize, plan.packetsPerChunk, plan.preRoll, plan.overlap, plan.delay, plan.boosted,
        plan.mirrored,
      ].map { "\($0)" }
    }
    return SHA256.digest(of: words.joined(separator: "\n"))
  }
}
