import Glibc
import PipelineModel

/// Files that file stages are tried with, by what a port carries.
struct FileSample {
  /// How it differs from what a pipeline gives every day.
  enum Form: String, CaseIterable {
    case ordinary
    case empty
    case odd
  }

  let port: PluginManifest.FilePort
  let form: Form

  /// How its name ends.
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
