import Glibc

extension HumSpectrum {
  /// Measures the mean logarithmic spectrum below 2 kHz in windows of about two seconds, to find
  /// steady lines.
  ///
  /// The logarithm gives intermittent sound, such as speech and music, little weight against steady
  /// sound.
  package final class Meter: Analyser {
    private let format: AudioFormat
    /// Frames per decimated sample.
    private let decimation: Int
    private let transform = FourierTransform(count: length)
    private let real = Scratch<Float>(repeating: 0, count: length)
    private let imaginary = Scratch<Float>(repeating: 0, count: length)
    private let shape = Scratch<Float>(repeating: 0, count: length)
    /// For each channel, the decimated samples of the window.
    private let rows: Scratch<Float>
    /// For each channel, the sum of the frames of the current decimated sample.
    private var sums: [Double]
    private var summed = 0
    private var filled = 0
    private var spectrum: HumSpectrum

    private static let length = 8192

    package init(format: AudioFormat) {
      self.format = format
      decimation = max(1, Int(format.sampleRate.value / 4000))
      rows = Scratch(repeating: 0, count: Self.length * format.channelCount)
      sums = Array(repeating: 0, count: format.channelCount)
      spectrum = HumSpectrum(
        binWidth: Hertz(
          format.sampleRate.value / Double(max(1, Int(format.sampleRate.value / 4000)))
            / Double(Self.length)),
        binCount: Self.length / 2)
      for index in 0..<Self.length {
        let angle = 2 * Double.pi * (Double(index) + 0.5) / Double(Self.length)
        shape[index] = Float(0.5 - 0.5 * cos(angle))
      }
    }

    package func analyse(_ input: borrowing AudioBuffer) {
      var start = 0
      while start < input.frameCount.count {
        let count = min(decimation - summed, input.frameCount.count - start)
        for channel in 0..<format.channelCount {
          let samples = unsafe input.baseAddress(ofChannel: channel) + start
          var sum = sums[channel]
          for index in 0..<count { sum += Double(unsafe FiniteSamples.filtered(samples[index])) }
          sums[channel] = sum
        }
        start += count
        summed += count
        if summed == decimation { takeSlowSample() }
      }
    }

    private func takeSlowSample() {
      for channel in 0..<format.channelCount {
        rows[channel * Self.length + filled] = Float(sums[channel] / Double(decimation))
        sums[channel] = 0
      }
      summed = 0
      filled += 1
      guard filled == Self.length else { return }
      var powers = Array(repeating: 0.0, count: Self.length / 2)
      for channel in 0..<format.channelCount {
        let row = unsafe rows.start + channel * Self.length
        for index in 0..<Self.length {
          unsafe real.start[index] = row[index] * shape.start[index]
          unsafe imaginary.start[index] = 0
        }
        unsafe transform.transform(real.start, imaginary.start)
        for bin in powers.indices {
          let (x, y) = (Double(real[bin]), Double(imaginary[bin]))
          powers[bin] += x * x + y * y
        }
        unsafe row.update(from: row + Self.length / 2, count: Self.length / 2)
      }
      filled = Self.length / 2
      spectrum.add(powers)
    }

    /// The mean spectrum.
    package func finding() -> HumSpectrum { spectrum }

    /// The pending samples and the spectrum so far.
    package func code(_ coder: inout StateCoder) throws(SnapshotError) {
      try coder.pass(&summed, in: 0..<decimation)
      try coder.pass(&filled, in: 0..<Self.length)
      try coder.pass(&sums)
      for channel in 0..<format.channelCount {
        unsafe try coder.pass(samples: rows.start + channel * Self.length, count: filled)
      }
      try coder.pass(&spectrum.pieces)
      try coder.pass(&spectrum.logarithms)
    }
  }
}
