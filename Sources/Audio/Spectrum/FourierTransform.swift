import Glibc

/// A complex discrete Fourier transform of power-of-two length, with separate real and imaginary
/// parts.
///
/// A radix-4 Stockham transform (Stockham 1966): it is self-sorting, and each pass runs over whole
/// vectors of four. It is not a library's because its bits enter checkpoints: a library's result
/// may change with its version and the processor. O(n log n).
final class FourierTransform {
  /// The transform length, at least 16.
  let count: Int

  private typealias Vector = SIMD4<Float>
  /// The three twiddle factors e^(−2πi·k·j/n), k = 1…3, over a quarter of the circle.
  private let cosines: Scratch<Float>
  private let sines: Scratch<Float>
  private let workReal: Scratch<Float>
  private let workImaginary: Scratch<Float>

  /// `count` is a power of two, at least 16.
  init(count: Int) {
    precondition(count >= 16 && count & (count - 1) == 0)
    self.count = count
    let quarter = count / 4
    cosines = Scratch(repeating: 0, count: 3 * quarter)
    sines = Scratch(repeating: 0, count: 3 * quarter)
    workReal = Scratch(repeating: 0, count: count)
    workImaginary = Scratch(repeating: 0, count: count)
    for factor in 1...3 {
      for index in 0..<quarter {
        let angle = -2 * Double.pi * Double(factor * index) / Double(count)
        cosines[(factor - 1) * quarter + index] = Float(cos(angle))
        sines[(factor - 1) * quarter + index] = Float(sin(angle))
      }
    }
  }

  /// Transforms in place, unscaled. With the parts swapped it is the inverse, times `count`.
  func transform(_ real: UnsafeMutablePointer<Float>, _ imaginary: UnsafeMutablePointer<Float>) {
    var source = unsafe (real, imaginary)
    var target = unsafe (workReal.start, workImaginary.start)
    unsafe firstPass(from: source, to: target)
    unsafe swap(&source, &target)
    var length = count / 4
    var stride = 4
    while length >= 4 {
      unsafe pass(from: source, to: target, length: length, stride: stride)
      unsafe swap(&source, &target)
      length /= 4
      stride *= 4
    }
    if length == 2 {
      unsafe lastPass(from: source, to: target)
      unsafe swap(&source, &target)
    }
    if unsafe source.0 != real {
      unsafe real.update(from: source.0, count: count)
      unsafe imaginary.update(from: source.1, count: count)
    }
  }

  private typealias Parts = (UnsafeMutablePointer<Float>, UnsafeMutablePointer<Float>)

  @inline(__always)
  private func load(_ samples: UnsafeMutablePointer<Float>, _ index: Int) -> Vector {
    unsafe UnsafeRawPointer(samples + index).loadUnaligned(as: Vector.self)
  }

  @inline(__always)
  private func store(_ value: Vector, _ samples: UnsafeMutablePointer<Float>, _ index: Int) {
    unsafe UnsafeMutableRawPointer(samples + index).storeBytes(of: value, as: Vector.self)
  }

  /// Four complex numbers, side by side.
  private struct Four {
    var real, imaginary: Vector

    @inline(__always)
    init(_ real: Vector, _ imaginary: Vector) { (self.real, self.imaginary) = (real, imaginary) }

    @inline(__always)
    static func + (a: Four, b: Four) -> Four {
      Four(a.real + b.real, a.imaginary + b.imaginary)
    }

    @inline(__always)
    static func - (a: Four, b: Four) -> Four {
      Four(a.real - b.real, a.imaginary - b.imaginary)
    }

    @inline(__always)
    static func * (a: Four, b: Four) -> Four {
      Four(
        a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real)
    }

    /// Times i.
    @inline(__always)
    var turned: Four { Four(Vector.zero - imaginary, real) }
  }

  @inline(__always)
  private func load(_ parts: Parts, _ index: Int) -> Four {
    unsafe Four(load(parts.0, index), load(parts.1, index))
  }

  /// The four sums of a radix-4 butterfly, the last three before their twiddle factors.
  @inline(__always)
  private func sums(_ a: Four, _ b: Four, _ c: Four, _ d: Four) -> (Four, Four, Four, Four) {
    let (even, odd) = (a + c, b + d)
    let (difference, turned) = (a - c, (b - d).turned)
    return (even + odd, difference - turned, even - odd, difference + turned)
  }

  /// The first pass, whose results lie four apart: four butterflies side by side are transposed.
  private func firstPass(from source: Parts, to target: Parts) {
    let quarter = count / 4
    for index in stride(from: 0, to: quarter, by: 4) {
      let sums = unsafe sums(
        load(source, index), load(source, index + quarter), load(source, index + 2 * quarter),
        load(source, index + 3 * quarter))
      func factor(_ number: Int) -> Four {
        unsafe Four(
          load(cosines.start, (number - 1) * quarter + index),
          load(sines.start, (number - 1) * quarter + index))
      }
      let (one, two, three) = (sums.1 * factor(1), sums.2 * factor(2), sums.3 * factor(3))
      for lane in 0..<4 {
        unsafe store(
          Vector(sums.0.real[lane], one.real[lane], two.real[lane], three.real[lane]),
          target.0, 4 * (index + lane))
        unsafe store(
          Vector(
            sums.0.imaginary[lane], one.imaginary[lane], two.imaginary[lane],
            three.imaginary[lane]), target.1, 4 * (index + lane))
      }
    }
  }

  /// A middle pass: `stride` transforms of `length` side by side.
  private func pass(from source: Parts, to target: Parts, length: Int, stride: Int) {
    let quarter = length / 4
    let circle = count / 4
    for step in 0..<quarter {
      let turn = step * stride
      func factor(_ number: Int) -> Four {
        unsafe Four(
          Vector(repeating: cosines.start[(number - 1) * circle + turn]),
          Vector(repeating: sines.start[(number - 1) * circle + turn]))
      }
      let (w1, w2, w3) = (factor(1), factor(2), factor(3))
      var lane = 0
      while lane < stride {
        let from = lane &+ stride &* step
        let to = lane &+ 4 &* stride &* step
        let sums = unsafe sums(
          load(source, from), load(source, from &+ stride &* quarter),
          load(source, from &+ 2 &* stride &* quarter),
          load(source, from &+ 3 &* stride &* quarter))
        unsafe store(sums.0, target, to)
        unsafe store(sums.1 * w1, target, to &+ stride)
        unsafe store(sums.2 * w2, target, to &+ 2 &* stride)
        unsafe store(sums.3 * w3, target, to &+ 3 &* stride)
        lane &+= 4
      }
    }
  }

  @inline(__always)
  private func store(_ value: Four, _ parts: Parts, _ index: Int) {
    unsafe store(value.real, parts.0, index)
    unsafe store(value.imaginary, parts.1, index)
  }

  /// The last pass of an odd power of two: a radix-2 step.
  private func lastPass(from source: Parts, to target: Parts) {
    let half = count / 2
    for index in stride(from: 0, to: half, by: 4) {
      let (a, b) = unsafe (load(source, index), load(source, index + half))
      unsafe store(a + b, target, index)
      unsafe store(a - b, target, index + half)
    }
  }
}

/// The window length and shape for spectral processing with overlap.
///
/// The window is the root of a Hann window. At a distance of a quarter length, its squares add up
/// to 2.
struct SpectralWindow: Hashable {
  /// Frames in a window: a power of two, 43 ms at 48 kHz and 30…60 ms at any other rate.
  let length: Int

  init(sampleRate: Hertz) {
    let wanted = sampleRate.value * 2048 / 48_000
    length = max(64, 1 << Int(log2(wanted).rounded()))
  }

  /// Bins of a transform of real samples.
  var binCount: Int { length / 2 + 1 }

  /// The distance between windows.
  var hop: Int { length / 4 }

  /// Writes the window to `values`.
  func fill(_ values: borrowing Scratch<Float>) {
    for index in 0..<length {
      values[index] = Float(sin(.pi * (Double(index) + 0.5) / Double(length)))
    }
  }
}
