import AudioModel

/// The law of a gate: open from the threshold on, and for the hold time behind it.
struct GateLaw: GainLaw {
  static var run: Int { 64 }

  /// The gain, and for how many frames more the gate is open even if no level reaches the
  /// threshold.
  struct State: BitwiseCopyable {
    var gain: Double
    var openFrames = 0
  }

  /// How many frames passed in which state.
  struct Statistics: BitwiseCopyable {
    /// All of them.
    var frames = 0
    /// Those with the gate open or opening.
    var open = 0
    /// Those fully open, and those fully closed.
    var whole = 0
    var closed = 0
    /// The reductions of those between.
    var moving = ReductionStatistics()
  }

  private let threshold: Float
  private let closedGain: Double
  private let attackStep: Double
  private let releaseStep: Double
  private let holdFrames: Int

  var state: State
  var statistics = Statistics()

  /// A closed gate; the hold time is counted from where the sound is, `delay` frames behind the
  /// level.
  init(_ settings: Gate.Settings, delay: Int, sampleRate: Hertz) {
    threshold = Float(settings.threshold.amplitude)
    closedGain = Decibels(min(max(settings.range.value, -200), 0)).amplitude
    attackStep = TimeConstant.step(settings.attack, at: sampleRate)
    releaseStep = TimeConstant.step(settings.release, at: sampleRate)
    // Half a period of 50 Hz, for which a peak may be the last without the sound having ended.
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

  private enum Standing { case open, closed }

  /// Treats a run throughout which the gate is fully open or fully closed, exactly as frame by
  /// frame would; nil for any other run. Nearly every run of a recording is of this kind.
  private mutating func stayingWhole(
    _ levels: UnsafePointer<Float>, count: Int
  ) -> Standing? {
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

  /// The definition of the gate.
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
      // −120 dB from its goal, the gain has arrived: an approach alone never would.
      if (goal - gain).magnitude < 1e-6 { gain = goal }
      unsafe values[index] = Float(gain)
    }
    statistics.open += open
    state = State(gain: gain, openFrames: openFrames)
  }

  /// Counts gains by what they are, never by which way they were found.
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
  /// All reductions, with the closed gate's own.
  func reduction(range: Double) -> ReductionStatistics {
    moving.adding(whole, of: 0).adding(closed, of: range)
  }
}
