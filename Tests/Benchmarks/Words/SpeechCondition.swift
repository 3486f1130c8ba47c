import Foundation
import TestSupport

/// What is done to speech before words are looked for in it.
enum SpeechCondition {
  case clean
  /// A room: sox's `reverb` at this share of reverberance, in percent.
  case reverberation(Int)
  /// Noise of sox's kind at this many decibels below the speech.
  case noise(String, decibels: Double)
  /// Plucked chords over a bass.
  case music(decibels: Double)
  /// Four other voices that speak at once.
  case babble(decibels: Double)
  /// 8 kHz, 300 to 3400 Hz.
  case telephone

  var name: String {
    switch self {
    case .clean: "clean"
    case .reverberation(let share): "reverberation \(share) %"
    case .noise(let kind, let decibels): "\(kind) noise \(Int(decibels)) dB"
    case .music(let decibels): "music \(Int(decibels)) dB"
    case .babble(let decibels): "babble \(Int(decibels)) dB"
    case .telephone: "telephone"
    }
  }

  /// The speech under this condition; its words stay where they are.
  func applied(to speech: TimedSpeech, _ sox: SpeechSox) throws(BenchmarkError) -> TimedSpeech {
    var result = speech
    switch self {
    case .clean: break
    case .reverberation(let share):
      result.samples = try sox.treated(speech, ["gain", "-6", "reverb", "\(share)"])
    case .noise(let kind, let decibels):
      let noise = try sox.made(speech.seconds, speech.sampleRate, ["synth", kind + "noise"])
      result.samples = Self.mix(speech.samples, noise, decibels)
    case .music(let decibels):
      result.samples = Self.mix(speech.samples, try music(like: speech, sox), decibels)
    case .babble(let decibels):
      result.samples = Self.mix(speech.samples, try babble(like: speech), decibels)
    case .telephone:
      let narrow = try sox.treated(speech, ["sinc", "300-3400", "rate", "8000"])
      return TimedSpeech(
        name: speech.name, words: speech.words, samples: narrow, sampleRate: 8000)
    }
    return result
  }

  /// Both at once, the second so many decibels weaker on average than the first.
  private static func mix(_ speech: [Int16], _ noise: [Int16], _ decibels: Double) -> [Int16] {
    func power(_ samples: [Int16]) -> Double {
      samples.reduce(0) { $0 + Double($1) * Double($1) } / Double(max(1, samples.count))
    }
    guard !noise.isEmpty else { return speech }
    let gain = (power(speech) / max(power(noise), 1)).squareRoot() / pow(10, decibels / 20)
    let mixed = speech.indices.map { index in
      Double(speech[index]) + gain * Double(noise[index % noise.count])
    }
    let scale = min(1, 32_000 / max(1, mixed.map(abs).max() ?? 1))
    return mixed.map { Int16(($0 * scale).rounded()) }
  }

  /// A chord every second, plucked, over a bass.
  private func music(like speech: TimedSpeech, _ sox: SpeechSox) throws(BenchmarkError) -> [Int16] {
    var music: [Int16] = []
    for chord in [["A2", "A3", "C4", "E4"], ["F2", "F3", "A3", "C4"], ["G2", "G3", "B3", "D4"]] {
      var bar: [Int16] = []
      for (number, note) in chord.enumerated() {
        let delay = 0.12 * Double(number)
        let tone = try sox.made(
          1.2, speech.sampleRate,
          ["synth", "1.2", "pluck", note, "delay", "\(delay)", "trim", "0", "1.2", "gain", "-9"])
        if bar.isEmpty { bar = tone }
        for index in bar.indices where index < tone.count {
          bar[index] = Int16(clamping: Int(bar[index]) + Int(tone[index]))
        }
      }
      music += bar
    }
    return music
  }

  private func babble(like speech: TimedSpeech) throws(BenchmarkError) -> [Int16] {
    var sum = [Double](repeating: 0, count: speech.samples.count)
    for (number, voice) in ["en+m7", "en-us+f2", "en+m5", "en+f4"].enumerated() {
      let other = try SpeakingVoice(name: voice)
        .speak(SpeechTexts.babble[number], wordsPerMinute: 150 + 15 * Int32(number))
      for index in sum.indices {
        // Each begins elsewhere, and again when it is through.
        sum[index] += Double(other.samples[(index + 9000 * number) % other.samples.count])
      }
    }
    return sum.map { Int16(clamping: Int($0 / 4)) }
  }
}
