import Glibc
import PipelineModel

/// Sample files for file stages, by the artifact kind that a port carries.
struct FileSample {
  /// How the file differs from a usual input.
  enum Form: String, CaseIterable {
    case ordinary
    case empty
    case odd
  }

  let port: PluginManifest.FilePort
  let form: Form

  /// The file name extension.
  var ending: String {
    switch port.carries {
    case .sound: "wav"
    case .transcript, .measurement: "json"
    default: "txt"
    }
  }

  var bytes: [UInt8] {
    switch port.carries {
    case .sound: wave
    case .transcript: Array(transcript.utf8)
    case .measurement: Array(measurement.utf8)
    default: text
    }
  }

  private var transcript: String {
    switch form {
    case .ordinary:
      """
      {"isFinal":true,"language":"en","text":"Send the plan by Friday. It is urgent.","words":[\
      {"confidence":0.9,"endTime":0.4,"startTime":0.1,"text":"Send"},\
      {"confidence":0.9,"endTime":0.5,"startTime":0.4,"text":"the"},\
      {"confidence":0.9,"endTime":0.8,"startTime":0.5,"text":"plan"},\
      {"confidence":0.8,"endTime":0.9,"startTime":0.8,"text":"by"},\
      {"confidence":0.9,"endTime":1.4,"startTime":0.9,"text":"Friday."},\
      {"confidence":0.9,"endTime":1.6,"startTime":1.5,"text":"It"},\
      {"confidence":0.9,"endTime":1.7,"startTime":1.6,"text":"is"},\
      {"confidence":0.7,"endTime":2.2,"startTime":1.7,"text":"urgent."}]}
      """
    case .empty: #"{"isFinal":true,"text":"","words":[]}"#
    case .odd: #"{"isFinal":false,"text":"Ünïcödé \"quoted\" \\ 🎧","words":[{"text":"🎧"}]}"#
    }
  }

  private var measurement: String {
    switch form {
    case .ordinary: #"{"loudness":-16.2,"truePeak":-1.1}"#
    case .empty: "{}"
    case .odd: #"{"loudness":null,"parts":[[],{},"\u0000",1e-300]}"#
    }
  }

  private var text: [UInt8] {
    switch form {
    case .ordinary: Array("A line of text.\nAnother one.\n".utf8)
    case .empty: []
    case .odd: Array(0...255)
    }
  }

  /// A WAV file of 32-bit floats, as a run writes it.
  private var wave: [UInt8] {
    let rate = port.sampleRate ?? 48_000
    let channels = port.channels ?? 2
    let frames =
      switch form {
      case .ordinary: Int(rate * 1.5)
      case .empty: 0
      case .odd: 1
      }
    let samples = ConformanceSignal.program(frames, channels: channels, rate: rate).samples
    func bytes(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    let (size, frame) = (4 * samples.count, 4 * channels)
    let head =
      Array("RIFF".utf8) + bytes(size + 50, 4) + Array("WAVEfmt ".utf8) + bytes(18, 4)
      + bytes(3, 2) + bytes(channels, 2) + bytes(Int(rate), 4) + bytes(Int(rate) * frame, 4)
      + bytes(frame, 2) + bytes(32, 2) + bytes(0, 2) + Array("fact".utf8) + bytes(4, 4)
      + bytes(frames, 4) + Array("data".utf8) + bytes(size, 4)
    return head + (unsafe samples.withUnsafeBytes { unsafe Array($0) })
  }
}

/// Deterministic test signals as interleaved samples.
struct ConformanceSignal {
  let channels: Int
  let rate: Double
  private(set) var samples: [Float]

  var count: Int { samples.count / channels }

  private init(_ frames: Int, channels: Int, rate: Double, _ value: (Int, Int) -> Float) {
    self.channels = channels
    self.rate = rate
    samples = []
    samples.reserveCapacity(frames * channels)
    for frame in 0..<frames {
      for channel in 0..<channels { samples.append(value(frame, channel)) }
    }
  }

  static func silence(_ frames: Int, channels: Int = 2, rate: Double = 48_000) -> Self {
    Self(frames, channels: channels, rate: rate) { _, _ in 0 }
  }

  /// A tone under noise that swells and fades; each channel differs.
  static func program(_ frames: Int, channels: Int = 2, rate: Double = 48_000) -> Self {
    var noise = Noise()
    return Self(frames, channels: channels, rate: rate) { frame, channel in
      let time = Double(frame) / rate
      let swell = 0.55 + 0.45 * sin(2 * .pi * 3 * time)
      let tone = 0.4 * sin(2 * .pi * Double(220 * (channel + 1)) * time)
      return Float(swell * (tone + 0.2 * noise.next()))
    }
  }

  /// Noise of constant loudness.
  static func noise(_ frames: Int, channels: Int = 1, rate: Double = 48_000) -> Self {
    var noise = Noise()
    return Self(frames, channels: channels, rate: rate) { _, _ in Float(0.25 * noise.next()) }
  }

  /// The worst that decoders produce: full scale and far beyond, denormal numbers, steps.
  static func extremes(_ frames: Int, channels: Int = 2, rate: Double = 48_000) -> Self {
    let values: [Float] = [
      1, -1, 0, 0x1p-140, -0x1p-140, .leastNonzeroMagnitude, 0.999_999_94, 100, -100, 0, 1e-30, 1,
    ]
    return Self(frames, channels: channels, rate: rate) { frame, channel in
      // Long runs of one value, then fast changes.
      values[(frame < frames / 2 ? frame / 64 : frame * 7 + channel) % values.count]
    }
  }

  func piece(_ range: Range<Int>) -> ArraySlice<Float> {
    samples[range.lowerBound * channels..<range.upperBound * channels]
  }

  /// Knuth's MMIX linear congruential generator, scaled to -1…1.
  private struct Noise {
    private var state: UInt64 = 0x5EED
    mutating func next() -> Double {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Double(state >> 11) / Double(1 << 52) - 1
    }
  }
}
