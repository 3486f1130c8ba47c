import PipelineModel
import Platform

/// The checks of a sound stage.
struct SoundConformance {
  let trial: SoundTrial
  private let isDeterministic: Bool

  init(_ plugin: Plugin, _ kind: PluginManifest.Kind, launcher: String, parameters: Value) {
    trial = SoundTrial(plugin: plugin, kind: kind, launcher: launcher, parameters: parameters)
    isDeterministic = plugin.manifest.isDeterministic
  }

  typealias Check = (name: String, body: () throws(ConformanceFailure) -> String)

  /// The checks, most informative first.
  var checks: [Check] {
    [
      ("start and end", start), ("silence", silence), ("one frame", oneFrame),
      ("odd lengths", oddLengths), ("sample rates", sampleRates), ("channels", channels),
      ("loud sound", loudSound), ("unknown messages", unknownMessages),
      ("two equal runs", equalRuns), ("block sizes", blockSizes), ("snapshots", snapshots),
      ("kill and resume", killAndResume), ("latency", latency), ("parameters", parameters),
    ]
  }

  private func start() throws(ConformanceFailure) -> String {
    let signal = ConformanceSignal.silence(0)
    let begin = ContinuousClock.now
    let session = try trial.open(signal)
    let seconds = (ContinuousClock.now - begin) / .seconds(1)
    try trial.close(session)
    return "ready after \(Int((seconds * 1000).rounded())) ms; ends when it is told to; "
      + session.confinement
  }

  private func silence() throws(ConformanceFailure) -> String {
    let given = try trial.answer(to: .silence(12_000))
    let loudest = given.map(abs).max() ?? 0
    return loudest == 0 ? "stays silence" : "becomes sound of at most \(loudest)"
  }

  private func oneFrame() throws(ConformanceFailure) -> String {
    for channels in [1, 2] { _ = try trial.answer(to: .program(1, channels: channels)) }
    return "mono and stereo"
  }

  private func oddLengths() throws(ConformanceFailure) -> String {
    let lengths = [2, 3, 997, 8191, 8192, 8193]
    for length in lengths { _ = try trial.answer(to: .program(length)) }
    return "\(lengths.map(String.init).joined(separator: ", ")) frames"
  }

  private func sampleRates() throws(ConformanceFailure) -> String {
    for rate in [8000, 11_025, 16_000, 22_050, 32_000, 44_100, 48_000, 88_200, 96_000, 192_000] {
      do throws(ConformanceFailure) {
        _ = try trial.answer(to: .program(rate / 20, rate: Double(rate)))
      } catch { throw Self.at("\(rate) Hz", error) }
    }
    return "8 kHz to 192 kHz"
  }

  private func channels() throws(ConformanceFailure) -> String {
    for channels in 1...8 {
      do throws(ConformanceFailure) {
        _ = try trial.answer(to: .program(2000, channels: channels))
      } catch { throw Self.at("\(channels) channels", error) }
    }
    return "mono to 8 channels"
  }

  private func loudSound() throws(ConformanceFailure) -> String {
    _ = try trial.answer(to: .extremes(9000))
    return "full scale, 40 dB beyond it, and denormal numbers give numbers"
  }

  private func unknownMessages() throws(ConformanceFailure) -> String {
    let signal = ConformanceSignal.program(600)
    let session = try trial.open(signal)
    session.send(PluginMessage("x-of-tomorrow", ["more": .text("{}")], payload: [10, 123, 0, 10]))
    let given = try trial.stream(signal, 0..<600, through: session)
    session.send(PluginMessage("x-of-tomorrow"))
    try trial.close(session)
    try same(try trial.answer(to: signal), given, signal, "with unknown messages between,")
    return "are skipped, with the bytes behind them"
  }

  private func equalRuns() throws(ConformanceFailure) -> String {
    try needsRepeatability()
    let signal = ConformanceSignal.program(12_001)
    try same(try trial.answer(to: signal), try trial.answer(to: signal), signal, "a second time,")
    return "the same bytes twice"
  }

  private func blockSizes() throws(ConformanceFailure) -> String {
    try needsRepeatability()
    let signal = ConformanceSignal.program(10_007)
    let whole = try trial.answer(to: signal)
    for cuts in [[1, 2, 3, 5, 8, 13, 21, 34, 1021], [64], [4096, 1], [1000, 7919]] {
      try same(
        whole, try trial.answer(to: signal, cuts: cuts), signal,
        "cut into blocks of \(cuts.map(String.init).joined(separator: ", ")),")
    }
    return "the same bytes however it is cut"
  }

  private func snapshots() throws(ConformanceFailure) -> String {
    try needsSnapshots()
    let signal = ConformanceSignal.program(12_001)
    let whole = try trial.answer(to: signal)
    let places = [0, 1, 4095, 8192, 12_001]
    var largest = 0
    for place in places {
      let first = try trial.open(signal)
      var given = try trial.stream(signal, 0..<place, through: first)
      let state = try trial.snapshot(of: first)
      largest = max(largest, state.count)
      // A snapshot must not change the state: the first process continues, too.
      let rest = try trial.stream(signal, place..<signal.count, through: first)
      try trial.close(first)
      try same(whole, given + rest, signal, "after it was asked for its state at frame \(place),")
      let second = try trial.open(signal)
      try trial.restore(state, in: second)
      given += try trial.stream(signal, place..<signal.count, through: second)
      try trial.close(second)
      try same(whole, given, signal, "gone on with at frame \(place),")
    }
    return "the same bytes from \(places.count) places; a state has at most \(largest) bytes"
  }

  private func killAndResume() throws(ConformanceFailure) -> String {
    let signal = ConformanceSignal.program(12_001)
    let canResume = try hasSnapshots()
    let resumes = isDeterministic && canResume
    let whole = try trial.answer(to: signal)
    var (given, state): ([Float], [UInt8]) = ([], [])
    do {
      let session = try trial.open(signal)
      given = try trial.stream(signal, 0..<5000, cuts: [1000], through: session)
      if resumes { state = try trial.snapshot(of: session) }
      // Dropping the session sends SIGKILL while the plugin holds a block.
      trial.send(signal.piece(5000..<12_001), frames: 7001, to: session)
    }
    let session = try trial.open(signal)
    if resumes { try trial.restore(state, in: session) } else { given = [] }
    given += try trial.stream(
      signal, (resumes ? 5000 : 0)..<signal.count, cuts: [3000], through: session)
    try trial.close(session)
    if isDeterministic { try same(whole, given, signal, "after it was killed,") }
    return resumes
      ? "goes on inside, with the same bytes" : "begins anew; with snapshots it would go on inside"
  }

  private func parameters() throws(ConformanceFailure) -> String {
    let signal = ConformanceSignal.program(3000)
    return try ParameterTrial(trial.kind, parameters: trial.parameters).run {
      (values) throws(ConformanceFailure) in
      var trial = trial
      trial.parameters = values
      _ = try trial.answer(to: signal)
    }
  }

  private func same(
    _ one: [Float], _ other: [Float], _ signal: ConformanceSignal, _ when: String
  ) throws(ConformanceFailure) {
    guard isDeterministic,
      let difference = SoundTrial.difference(one, other, channels: signal.channels)
    else { return }
    throw .wrong("\(when) \(difference)")
  }

  private func needsRepeatability() throws(ConformanceFailure) {
    guard isDeterministic else { throw .notApplicable("its manifest says deterministic: false") }
  }

  private func hasSnapshots() throws(ConformanceFailure) -> Bool {
    let session = try trial.open(.silence(0))
    let has = session.ready.members["snapshots"] == .boolean(true)
    try trial.close(session)
    return has
  }

  private func needsSnapshots() throws(ConformanceFailure) {
    try needsRepeatability()
    guard try hasSnapshots() else {
      throw .notApplicable("it gives none: after a crash its stage begins anew")
    }
  }

  private static func at(_ place: String, _ failure: ConformanceFailure) -> ConformanceFailure {
    if case .stage = failure, failure.isHang { return failure }
    return .wrong("at \(place): \(failure.words)")
  }
}

/// Checks the declared latency.
extension SoundConformance {
  /// Frames beyond the declared latency in which the output is searched.
  private static let searchedLateness = 6000

  /// Finds the delay at which the output correlates with the noise sent.
  func latency() throws(ConformanceFailure) -> String {
    let length = 512
    let noise = ConformanceSignal.noise(length)
    let session = try trial.open(noise)
    let ready = session.ready.members["latency"]
    let claimed = ready?.integer ?? 0
    guard ready == nil || ready?.integer != nil, (0...480_000).contains(claimed) else {
      throw .wrong(
        "it says that it is \(ready?.compact ?? "") frames late; 0 to 10 s is what can be")
    }
    let signal = ConformanceSignal.silence(claimed + Self.searchedLateness, channels: 1)
    trial.send(noise.piece(0..<length), frames: length, to: session)
    var given = try trial.receive(frames: length, channels: 1, at: 0, from: session)
    given += try trial.stream(signal, 0..<signal.count, through: session)
    try trial.close(session)
    guard let found = Correlation(of: noise.samples, in: given).lag else {
      return "it says \(claimed) frames; its sound is too different to measure"
    }
    guard found == claimed else {
      throw .wrong(
        "it says that it is \(claimed) frames late, and is \(found): say \"latency\":\(found)")
    }
    return claimed == 0 ? "none, as it says" : "\(claimed) frames, as it says"
  }
}

/// The delay between two sounds by cross-correlation.
struct Correlation {
  /// The delay in frames; nil if the correlation is too weak.
  let lag: Int?

  /// Tests every delay at which `sound` fits into `other`. O(n · m).
  init(of sound: [Float], in other: [Float]) {
    let most = other.count - sound.count
    guard most >= 0, !sound.isEmpty else {
      lag = nil
      return
    }
    let own = sound.reduce(0) { $0 + Double($1) * Double($1) }
    var best = (lag: 0, likeness: 0.0)
    unsafe sound.withUnsafeBufferPointer { sound in
      unsafe other.withUnsafeBufferPointer { other in
        for lag in 0...most {
          var (sum, energy) = (0.0, 0.0)
          var index = 0
          let count = sound.count
          while index < count {
            let value = unsafe Double(other[lag + index])
            unsafe sum += value * Double(sound[index])
            energy += value * value
            index += 1
          }
          guard energy > 0 else { continue }
          let likeness = abs(sum) / (own * energy).squareRoot()
          if likeness > best.likeness { best = (lag, likeness) }
        }
      }
    }
    // White noise correlates by about 1/√n at a wrong delay.
    lag = best.likeness > 0.5 ? best.lag : nil
  }
}
