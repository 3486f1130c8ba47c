import AudioModel
import Glibc

/// Joins the bins of a Fourier transform to the rows of a picture, lowest frequency first.
struct SpectrumRows {
  /// What a row is made of.
  private enum Source {
    /// The greatest of several bins, so that a tone between others stays visible.
    case greatest(Range<Int>)
    /// A place between two bins.
    case between(Int, share: Float)
  }

  private let sources: [Source]

  /// So many rows for a transform of `length` samples, up to `top`.
  init(
    count: Int, length: Int, sampleRate: Hertz, scale: FrequencyScale, top: Hertz
  ) {
    let last = length / 2
    let binsPerHertz = Double(length) / sampleRate.value
    sources = (0..<count).map { row in
      func bin(_ height: Double) -> Double {
        min(scale.frequency(at: height, top: top).value * binsPerHertz, Double(last))
      }
      let low = bin(Double(row) / Double(count))
      let high = bin(Double(row + 1) / Double(count))
      let first = Int(low.rounded(.up))
      let end = row == count - 1 ? Int(high.rounded(.down)) + 1 : Int(high.rounded(.up))
      if first < min(end, last + 1) { return .greatest(first..<min(end, last + 1)) }
      let middle = bin((Double(row) + 0.5) / Double(count))
      let below = min(Int(middle), last - 1)
      return .between(below, share: Float(middle - Double(below)))
    }
  }

  var count: Int { sources.count }

  /// Adds the power of each row, times `scale`, to `rows` from `start` on.
  func add(
    _ powers: [Float], times scale: Float, to rows: inout [Float], at start: Int
  ) {
    for (row, source) in sources.enumerated() {
      var power: Float = 0
      switch source {
      case .greatest(let bins):
        for bin in bins { power = max(power, powers[bin]) }
      case .between(let bin, let share):
        power = powers[bin] + (powers[bin + 1] - powers[bin]) * share
      }
      rows[start + row] += power * scale
    }
  }
}
