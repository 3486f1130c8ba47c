package import Audio
package import Media
import PipelineEngine
package import PipelineModel
import Platform
package import Proof

/// The files that `export` can write.
package enum ExportFormat: String, CaseIterable, Sendable {
  case wav
  case m4a
  case alac
  case flac
  case mp3
  case opus
  case ogg

  package var port: PortName { PortName(rawValue) }

  /// Whether its sound comes back as it was written, with every decoder.
  package var isLossless: Bool {
    switch self {
    case .wav, .alac, .flac: true
    case .m4a, .mp3, .opus, .ogg: false
    }
  }

  /// Whether each of several values of a tag has its own place: as Vorbis comments.
  var holdsSeveralValues: Bool {
    switch self {
    case .flac, .opus, .ogg: true
    case .wav, .m4a, .alac, .mp3: false
    }
  }

  /// Where the hashes of its samples come out.
  package var samplesPort: PortName { port.sampleHashes }

  /// ALAC lives in M4A files too, so its name says what it is.
  package var fileExtension: String {
    switch self {
    case .alac: ".alac.m4a"
    case .wav, .m4a, .flac, .mp3, .opus, .ogg: "." + rawValue
    }
  }
}

extension ExportFormat {
  /// Whether a file of this name may be an export, by its first 16 bytes: those of another format, and WAV
  /// files in the order of chunks that most other programs write, are none. True for other names.
  package static func mayHaveWritten(_ name: String, beginning bytes: [UInt8]) -> Bool {
    func has(_ sign: String, at offset: Int = 0) -> Bool {
      bytes.dropFirst(offset).starts(with: sign.utf8)
    }
    guard let format = allCases.first(where: { name.hasSuffix($0.fileExtension) }) else {
      return true
    }
    switch format {
    case .wav: return (has("RIFF") || has("RF64")) && has("WAVE", at: 8) && !has("fmt ", at: 12)
    case .m4a, .alac: return has("ftyp", at: 4)
    case .flac: return has("fLaC")
    case .mp3: return has("ID3") || bytes.count > 1 && bytes[0] == 0xFF && bytes[1] >= 0xE0
    case .opus, .ogg: return has("OggS")
    }
  }
}

/// One file to write.
package struct ExportTarget: Sendable {
  package let format: ExportFormat
  package let spec: ExportSpec
  package let isDithered: Bool
  /// Whether its file is decoded again before it counts.
  package var isVerified = true

  /// The word length that the samples are reduced to; nil where they stay floats.
  package var depth: Quantizer.Depth? {
    guard case .integer(let depth) = packing else { return nil }
    return depth
  }

  /// What the samples of its file are; nil where that depends on the decoder.
  package var samples: SampleFormat? {
    packing == .float32 ? .f32le : depth.flatMap { SampleFormat(bits: $0.rawValue) }
  }

  /// How those are packed.
  package var packing: ExportSpec.WaveSamples? {
    switch spec {
    case .wav(let samples): samples
    case .alac(let depth), .flac(let depth, _): .integer(depth)
    case .aac, .mp3, .opus, .vorbis: nil
    }
  }

  /// The grid that its samples are dithered to; nil where they are not.
  package var quantization: Quantizer.Depth? {
    isDithered ? depth : nil
  }

  /// What its encoder is kept within. Samples 120 dB over full scale keep libavcodec's AAC encoder
  /// busy for ever, and NaN ends the process; nothing audible lies 36 dB over it.
  package var bounds: SampleBounds? { format.isLossless ? nil : SampleBounds(limit: 64) }

  /// How long the file will be, at most and as closely as the format tells without a look at the sound.
  /// Nothing is lost if a run pauses, but much time: noise of full scale, which no lossless encoder makes
  /// shorter, has to fit as well.
  package func byteCount(of stream: SoundOutline) -> Int {
    let samples = Double((stream.frames?.count ?? 0) * stream.format.channelCount)
    func lossy(_ bitRate: Int) -> Double {
      // With the container's table of packets, or its pages.
      (stream.duration?.value ?? 0) * Double(bitRate) / 8 * 1.03
    }
    let bytes =
      switch spec {
      case .wav: samples * Double(depth?.rawValue ?? 32) / 8
      case .aac(let bitRate), .mp3(let bitRate, nil): lossy(bitRate)
      case .mp3(_, .some): lossy(320_000)
      // The bit rate is a mean over what is easy and what is not.
      case .opus(let bitRate): lossy(bitRate + bitRate / 4)
      // What libvorbis made of white noise at 48 kHz, for each channel.
      case .vorbis(let quality):
        lossy(
          (60_000 + 8000 * min(quality, 5) + 48_000 * max(quality - 5, 0))
            * stream.format.channelCount)
      case .alac: samples * Double(depth?.rawValue ?? 24) / 8 * 1.002
      case .flac: samples * Double(depth?.rawValue ?? 24) / 8 * 1.02
      }
    return Int(bytes) + 4096
  }

  /// Bytes that its encoder lays aside while it works, at most. AAC is encoded in stretches of 45 s:
  /// the sound of one for each core and of two that wait lies in the store meanwhile, and until the
  /// stream has ended that of one more, which comes in.
  package func scratchByteCount(of stream: SoundOutline, untilEnd: Bool = true) -> Int {
    guard case .aac = spec, let frames = stream.frames?.count, stream.format.channelCount <= 2
    else {
      return 0
    }
    let stretches = CoreCount.online + (untilEnd ? 3 : 2)
    return min(frames, stretches * Self.stretchLength) * 4 * stream.format.channelCount
  }

  /// Frames of a stretch: 2112 packets.
  private static let stretchLength = 2112 * 1024

  /// How long the list of its samples' hashes is: 32 bytes a second.
  package func hashesByteCount(of stream: SoundOutline) -> Int {
    samples == nil ? 0 : 4096 + 32 * Int(stream.duration?.value ?? 0)
  }

  /// Seconds of one core for a second of stereo.
  package var coreSeconds: Double {
    switch format {
    case .wav: 0.0006
    case .m4a: 0.0155
    case .alac: 0.002
    case .flac: 0.003
    case .mp3: 0.02
    case .opus: 0.02
    case .ogg: 0.02
    }
  }
}
