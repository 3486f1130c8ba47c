/// A noise gate: it opens when the level reaches the threshold, stays open for the hold time after
/// the last such frame, and closes to the range.
///
/// The gain, as an amplitude ratio, approaches its target exponentially with attack and release as
/// time constants; a closing gate thus falls by 8.7 dB per release time until it nears the range.
/// An open gate is bit-transparent.
///
/// A wave crosses zero twice a period, which must not close the gate: with a peak detector, the
/// hold time is at least half a period of 50 Hz, so that a steady tone from there up whose crests
/// reach the threshold keeps the gate open.
package final class Gate: ReportingProcessor {
  package struct Settings: Hashable, Sendable {
    /// The level, relative to full scale, that opens the gate.
    package var threshold: Decibels
    /// The time constant of opening; zero is immediate.
    package var attack: Seconds
    /// The time the gate stays open after the last frame at the threshold; clamped to 0…1 h, and at
    /// least 10 ms with a peak detector.
    package var hold: Seconds
    /// The time constant of closing; zero is immediate.
    package var release: Seconds
    /// The gain of the closed gate, negative; clamped to −200…0 dB.
    package var range: Decibels
    package var sidechain: Sidechain

    package init(
      threshold: Decibels, attack: Seconds, hold: Seconds, release: Seconds,
      range: Decibels = Decibels(-80), sidechain: Sidechain = Sidechain()
    ) {
      self.threshold = threshold
      self.attack = attack
      self.hold = hold
      self.release = release
      self.range = range
      self.sidechain = sidechain
    }
  }

  /// What a gate did to the stream.
  package struct Report: Hashable, Sendable, Codable {
    /// The share of frames that the level or the hold time kept open; 0…1.
    package var openShare: Double
    /// The gain reduction.
    package var reduction: GainReduction
  }

  package let outputFormat: AudioFormat
  package var latency: Frames { Frames(gain.delay) }

  private let gain: LevelDrivenGain<GateLaw>

  /// A closed gate.
  package init(_ settings: Settings, format: AudioFormat) {
    outputFormat = format
    let delay = settings.sidechain.lookAheadFrames(at: format.sampleRate)
    gain = LevelDrivenGain(
      GateLaw(settings, delay: delay, sampleRate: format.sampleRate), settings.sidechain,
      holdsPeaks: false, format: format)
  }

  package func process(_ input: borrowing AudioBuffer, into output: inout AudioBuffer) {
    gain.process(input, into: &output)
  }

  package func finish(into output: inout AudioBuffer) { gain.finish(into: &output) }

  package func report() -> Report {
    var reduction = ReductionStatistics()
    var (open, frames) = (0, 0)
    for lane in gain.lanes {
      reduction = reduction.joined(lane.statistics.reduction(range: lane.range))
      open += lane.statistics.open
      frames += lane.statistics.frames
    }
    return Report(
      openShare: Double(open) / Double(max(frames, 1)), reduction: reduction.figures)
  }

  /// The gain, the rest of the hold time, the detector's state, the counters and the frames held
  /// back.
  package func code(_ coder: inout StateCoder) throws(SnapshotError) { try gain.code(&coder) }
}

/// A gate's gain law: open from the threshold on and for the hold time after it.
struct GateLaw: GainLaw {
  static var run: Int { 64 }

  /// The gain, and the frames for which the gate stays open without another loud frame.
  struct State: BitwiseCopyable {
    var gain: Double
    var openFrames = 0
  }

  /// Frames in each state.
  struct Statistics: BitwiseCopyable {
    var frames = 0
    /// Frames with the gate open or opening.
    var open = 0
    /// Frames fully open, and frames fully closed.
    var whole = 0
    var closed = 0
    /// The reductions of the frames in between.
    var moving = ReductionStatistics()
  }

  private let threshold: Float
  private let closedGain: Double
  private let attackStep: Double
  private let releaseStep: Double
  private let holdFrames: Int

  var state: State
  var statistics = Statistics()

  /// A closed gate; the hold time counts from the sound's position, `delay` frames behind the
  /// level.
  init(_ settings: Gate.Settings, delay: Int, sampleRate: Hertz) {
    threshold = Float(settings.threshold.amplitude)
    closedGain = Decibels(min(max(settings.range.value, -200), 0)).amplitude
    attackStep = settings.attack.step(at: sampleRate)
    releaseStep = settings.release.step(at: sampleRate)
    // Half a period of 50 Hz, which may separate two crests of one tone.
    let least = settings.sidechain.detector == .peak ? 0.01 : 0
    let hold = min(max(settings.hold.value, least), 3600)
    holdFrames = Seconds(hold).frames(at: sampleRate).count + delay
    state = State(gain: closedGain)
  }

  /// The reduction of the closed gate, in dB.
  var range: Double { -Decibels(amplitude: closedGain).value }

  mutating func replaceLevelsByGains(_ values: UnsafeMutablePointer<Float>, count: Int) -> Bool {
    statistics.frames += count
    switch unsafe stayingWhole(values, count: count) {
    case .open?:
      statistics.open += count
      statistics.whole += count
      return false
    case .closed?:
      if closedGain == 1 {
        statistics.whole += count
        return false
      }
      statistics.closed += count
      unsafe values.update(repeating: Float(closedGain), count: count)
    case nil:
      unsafe move(values, count: count)
      unsafe countMoving(values, count: count)
    }
    return true
  }

  private enum Progress { case open, closed }

  /// Handles a run in which the gate stays fully open or fully closed, with the same result as
  /// frame by frame; nil for other runs. Nearly every run of a recording is of this kind.
  private mutating func stayingWhole(
    _ levels: UnsafePointer<Float>, count: Int
  ) -> Progress? {
    let isLoud = unsafe LinkedLevel.peak(levels, count: count) >= threshold
    if state.gain == 1, state.openFrames >= count {
      state.openFrames -= count
      guard isLoud else { return .open }
      var last = count - 1
      while unsafe levels[last] < threshold { last -= 1 }
      state.openFrames = max(state.openFrames, holdFrames - (count - 1 - last))
      return .open
    }
    return state.gain == closedGain && state.openFrames == 0 && !isLoud ? .closed : nil
  }

  /// The reference definition of the gate, frame by frame.
  private mutating func move(_ values: UnsafeMutablePointer<Float>, count: Int) {
    var (gain, openFrames) = (state.gain, state.openFrames)
    var open = 0
    for index in 0..<count {
      if unsafe values[index] >= threshold { openFrames = holdFrames &+ 1 }
      let goal: Double
      if openFrames > 0 {
        openFrames &-= 1
        open &+= 1
        goal = 1
        gain += (goal - gain) * attackStep
      } else {
        goal = closedGain
        gain += (goal - gain) * releaseStep
      }
      // Within −120 dB of its target, the gain snaps to it: the exponential alone never arrives.
      if (goal - gain).magnitude < 1e-6 { gain = goal }
      unsafe values[index] = Float(gain)
    }
    statistics.open += open
    state = State(gain: gain, openFrames: openFrames)
  }

  /// Counts gains by value, independent of the code path that computed them.
  private mutating func countMoving(_ gains: UnsafePointer<Float>, count: Int) {
    let closed = Float(closedGain)
    for index in 0..<count {
      let gain = unsafe gains[index]
      if gain == 1 {
        statistics.whole += 1
      } else if gain == closed {
        statistics.closed += 1
      } else {
        let octaves = BinaryLogarithm.log2(SIMD8(repeating: gain))[0]
        statistics.moving.frames += 1
        statistics.moving.add(max(-6.020_599_913_279_624 * Double(octaves), 0))
      }
    }
  }
}

extension GateLaw.Statistics {
  /// All reductions, including those of the closed gate.
  func reduction(range: Double) -> ReductionStatistics {
    moving.adding(whole, of: 0).adding(closed, of: range)
  }
}
