/// Settings to try the stage kinds with, as a pipeline writes them.
///
/// A kind that is not named is tried with its defaults, so that a new one is tried at once; one
/// that has parameters without defaults, or does little by default, is named here.
enum StageSettings {
  private static let named: [String: [String]] = [
    "eq": [
      "{ bands: [{ type: highpass, frequency: 80 Hz }, { type: peak, frequency: 1 kHz, gain: 6 dB }]"
        + " }"
    ],
    "gate": [
      "{}",
      "{ threshold: -20 dB, look-ahead: 5 ms, detector: rms, link: 50 %, sidechain-highpass: 90 Hz }",
    ],
    "compress": [
      "{}",
      "{ threshold: -30 dB, look-ahead: 5 ms, detector: rms, mix: 60 %, sidechain-highpass: 90 Hz }",
    ],
    "gain": ["{ gain: -3 dB }", "{ gain: 24 dB }"],
    "limit": ["{}", "{ ceiling: -12 dBTP }"],
    "normalize": ["{ loudness: -16 LUFS }", "{ peak: -1 dB }"],
    "fade": ["{ in: 3 ms, out: 5 ms }", "{ in: 1 s, out: 2 s, curve: exponential }"],
    "trim": ["{ start: 1 ms, end: -1 ms }", "{ duration: 5 ms }"],
    "cut": ["{ remove: [{ from: 1 ms, to: 4 ms }], crossfade: 0.5 ms }"],
    "silence": ["{ minimum: 10 ms, maximum: 4 ms, padding: 1 ms, crossfade: 1 ms }", "{}"],
    "speed": ["{ tempo: 1.25 }", "{ tempo: 0.5 }"],
    "channels": ["{ pick: [1] }"],
    "resample": ["{ rate: 44.1 kHz }", "{ rate: 8 kHz, quality: quick }"],
    "dc": ["{}", "{ least: -160 dB }"],
    "dehum": ["{}", "{ frequency: 50 Hz, harmonics: 4 }"],
    "declip": ["{}", "{ level: -6 dB }"],
    "export": [
      "{ formats: [wav], wav: { bits: float } }", "{ formats: [wav, flac] }", "{ formats: [alac] }",
      "{ formats: [m4a] }", "{ formats: [wav, alac, flac], dither: none }",
    ],
    "split": [
      "{ at: [0.1 ms] }", "{ by: silence, minimum: 10 ms, formats: [flac] }", "{ by: channel }",
    ],
    "click": ["{ bars: 2, tempo: 240 BPM }", "{ duration: 0.2 s, channels: 2 }"],
    "waveform": ["{ samples-per-pixel: 100, levels: 2, width: 200, height: 120 }"],
    "spectrogram": ["{ width: 200, height: 120, window: 512 }"],
    "assert": [
      "{ loudness: -16 LUFS ± 0.5, true-peak: .. -1 dBTP, clipped: 0, silence: < 30 %, snr: 20 dB .. }",
      "{ duration: 1 s .. 4 h, channels: 2, sample-rate: 44.1 kHz .. }",
    ],
    "loudness-curve": ["{ width: 200, height: 120 }"],
  ]

  /// What to try a kind with.
  static func all(of kind: String) -> [String] { named[kind] ?? ["{}"] }
}
