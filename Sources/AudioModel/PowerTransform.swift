/// A Fourier transform of real samples, of which only the power of each frequency is wanted.
public protocol PowerTransform: AnyObject {
  /// Samples that it takes at a time, a power of two.
  var length: Int { get }

  /// The squared magnitude of the discrete Fourier transform, unscaled, at 0, 1, … `length` / 2
  /// times the sample rate over `length`. Never allocates.
  /// - Parameters:
  ///   - samples: `length` of them.
  ///   - powers: room for `length` / 2 + 1.
  func transform(_ samples: Span<Float>, into powers: inout MutableSpan<Float>)
}
