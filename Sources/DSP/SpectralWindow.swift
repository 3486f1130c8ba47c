import AudioModel
import Glibc

/// How sound is cut into overlapping pieces for spectral work: the length, and the window that is
/// put over a piece before and after.
///
/// The window is the root of a Hann window. A quarter of a length apart, the squares add up to 2.
struct SpectralWindow: Hashable {
  /// Frames in a piece: a power of two, 43 ms at 48 kHz and within 30…60 ms at any other rate.
  let length: Int

  /// The pieces that suit a sample rate.
  init(sampleRate: Hertz) {
    let wanted = sampleRate.value * 2048 / 48_000
    length = max(64, 1 << Int(log2(wanted).rounded()))
  }

  /// Different frequencies that a piece of real samples has.
  var binCount: Int { length / 2 + 1 }

  /// From piece to piece, where sound is put together again.
  var hop: Int { length / 4 }

  /// Writes the window to `values`.
  func fill(_ values: borrowing Scratch<Float>) {
    for index in 0..<length {
      values[index] = Float(sin(.pi * (Double(index) + 0.5) / Double(length)))
    }
  }
}
