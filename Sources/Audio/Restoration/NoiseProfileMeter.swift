import Glibc

extension NoiseProfile {
  /// Finds the quietest 0.4 s of a recording and measures its spectrum.
  ///
  /// Stretches begin every 0.2 s. One that contains digital silence (a window under −110 dBFS) is
  /// skipped: what a gate or an editor silenced does not show the noise.
  package final class Meter: Analyser {
    package struct Finding: Hashable, Sendable, Codable {
      /// The noise; nil for sound shorter than 0.4 s, or without a stretch free of digital silence.
      package var noise: NoiseProfile?
      /// The RMS level of the whole over all channels; nil for silence.
      package var level: Decibels?
    }

    private let format: AudioFormat
    private let window: SpectralWindow
    private let transform: FourierTransform
    private let shape: Scratch<Float>
    private let real, imaginary: Scratch<Float>
    /// For each channel, the frames of the incomplete window.
    private var rows: SampleRows
    /// The number of windows.
    private var pieces = 0
    /// The total power of all windows, averaged over channels.
    private var power = 0.0
    /// Two overlapping stretches, half a stretch apart.
    private var stretches: [Stretch]
    private var best: Stretch

    private static let silence = 1e-11
    private var hop: Int { window.length / 2 }
    /// Windows in half a stretch.
    private let halfLength: Int

    /// A stretch being measured.
    private struct Stretch {
      var start = 0
      var pieces = 0
      var power = 0.0
      var isVoid = false
      var sums: [Float]

      mutating func code(_ coder: inout StateCoder) throws(SnapshotError) {
        try coder.pass(&start)
        try coder.pass(&pieces)
        try coder.pass(&power)
        try coder.pass(flag: &isVoid)
        try coder.pass(&sums)
      }
    }

    package init(format: AudioFormat) {
      self.format = format
      window = SpectralWindow(sampleRate: format.sampleRate)
      transform = FourierTransform(count: window.length)
      shape = Scratch(repeating: 0, count: window.length)
      window.fill(shape)
      real = Scratch(repeating: 0, count: window.length)
      imaginary = Scratch(repeating: 0, count: window.length)
      rows = SampleRows(channelCount: format.channelCount, length: window.length)
      halfLength = max(
        1, Int((0.2 * format.sampleRate.value / Double(window.length / 2)).rounded()))
      let empty = Stretch(
        sums: Array(repeating: 0, count: window.binCount * format.channelCount))
      stretches = [empty, empty]
      best = empty
      best.power = .infinity
    }

    package func analyse(_ input: borrowing AudioBuffer) {
      var start = 0
      while start < input.frameCount.count {
        start += rows.append(input, from: start)
        if rows.isFull { hearPiece() }
      }
    }

    private func hearPiece() {
      let piecePower = measurePower()
      power += piecePower
      for index in stretches.indices {
        // The second begins half a stretch later.
        let phase = (pieces + index * halfLength) % (2 * halfLength)
        if phase == 0 {
          stretches[index].start = pieces
          stretches[index].pieces = 0
          stretches[index].power = 0
          stretches[index].isVoid = false
          for place in stretches[index].sums.indices { stretches[index].sums[place] = 0 }
        }
        stretches[index].pieces += 1
        stretches[index].power += piecePower
        stretches[index].isVoid = stretches[index].isVoid || piecePower < Self.silence
      }
      for channel in 0..<format.channelCount { addSpectrum(ofChannel: channel) }
      for index in stretches.indices where stretches[index].pieces == 2 * halfLength {
        if !stretches[index].isVoid, stretches[index].power < best.power { best = stretches[index] }
      }
      pieces += 1
      rows.drop(hop)
    }

    /// The mean square of the window over all channels.
    private func measurePower() -> Double {
      var sum = 0.0
      for channel in 0..<format.channelCount {
        let row = unsafe rows[channel]
        for index in 0..<window.length {
          let sample = Double(unsafe row[index])
          sum += sample * sample
        }
      }
      return sum / Double(window.length * format.channelCount)
    }

    private func addSpectrum(ofChannel channel: Int) {
      let row = unsafe rows[channel]
      for index in 0..<window.length {
        unsafe real.start[index] = row[index] * shape.start[index]
        unsafe imaginary.start[index] = 0
      }
      unsafe transform.transform(real.start, imaginary.start)
      for index in stretches.indices {
        for bin in 0..<window.binCount {
          let (x, y) = (real[bin], imaginary[bin])
          stretches[index].sums[channel * window.binCount + bin] += x * x + y * y
        }
      }
    }

    /// The quietest stretch so far.
    package func finding() -> Finding {
      Finding(
        noise: best.pieces == 0 ? nil : profile(of: best),
        level: Decibels(finiteAmplitude: (power / Double(max(pieces, 1))).squareRoot()))
    }

    private func profile(of stretch: Stretch) -> NoiseProfile {
      let scale = 1 / Float(stretch.pieces)
      let spectra = (0..<format.channelCount).map { channel in
        let sums = stretch.sums[channel * window.binCount..<(channel + 1) * window.binCount]
        let values = sums.map { $0 * scale }
        // Neighbouring bins of noise differ only by chance, so they are averaged.
        return values.indices.map { bin in
          let (below, above) = (max(bin - 1, 0), min(bin + 1, values.count - 1))
          return (values[below] + 2 * values[bin] + values[above]) / 4
        }
      }
      return NoiseProfile(
        spectra: spectra,
        level: Decibels(amplitude: (stretch.power / Double(stretch.pieces)).squareRoot()),
        start: Frames(stretch.start * hop).duration(at: format.sampleRate))
    }
  }
}

extension NoiseProfile.Meter {
  /// The pending frames and the stretches: three spectra a channel.
  package func code(_ coder: inout StateCoder) throws(SnapshotError) {
    var filled = rows.count
    try coder.pass(&filled, in: 0..<window.length)
    try coder.pass(&pieces, in: 0...)
    try coder.pass(&power)
    for index in stretches.indices { try stretches[index].code(&coder) }
    try best.code(&coder)
    try rows.code(&coder, count: filled)
  }
}

/// A recording's noise: its mean power spectrum in each channel, measured where it is quietest.
package struct NoiseProfile: Hashable, Sendable, Codable {
  /// For each channel, the mean squared magnitude of each bin of a window.
  package var spectra: [[Float]]
  /// The level of the noise, RMS over all channels.
  package var level: Decibels
  /// The start of the stretch it was measured in.
  package var start: Seconds

  package init(spectra: [[Float]], level: Decibels, start: Seconds) {
    self.spectra = spectra
    self.level = level
    self.start = start
  }
}
