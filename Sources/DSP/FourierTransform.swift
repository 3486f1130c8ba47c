import Glibc

/// The discrete Fourier transform of a power of two of complex numbers, real and imaginary parts
/// apart.
///
/// A radix-4 Stockham transform (Stockham 1966): it sorts itself, and every pass runs over whole
/// vectors of four. It is our own because its bits decide what a checkpoint holds: a library's
/// transform may change with its version and with the processor it meets. Cost: O(n log n).
final class FourierTransform {
  /// How many numbers are transformed, at least 16.
  let count: Int

  private typealias Vector = SIMD4<Float>
  /// For each of the three twiddle factors e^(−2πi·k·j/n), k = 1…3, a quarter of the circle.
  private let cosines: Scratch<Float>
  private let sines: Scratch<Float>
  private let workReal: Scratch<Float>
  private let workImaginary: Scratch<Float>

  /// A transform of `count` numbers, a power of two of at least 16.
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

  /// Transforms in place, without a factor. With the parts exchanged it is the inverse, times
  /// `count`.
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

  /// The four sums of a radix-4 step, the last three still without their factors.
  @inline(__always)
  private func sums(_ a: Four, _ b: Four, _ c: Four, _ d: Four) -> (Four, Four, Four, Four) {
    let (even, odd) = (a + c, b + d)
    let (difference, turned) = (a - c, (b - d).turned)
    return (even + odd, difference - turned, even - odd, difference + turned)
  }

  /// The first pass, whose results lie four apart: four steps side by side are transposed.
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

  /// A pass in the middle: `stride` transforms of `length` side by side.
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

  /// The last pass of an odd power of two: one step of radix 2.
  private func lastPass(from source: Parts, to target: Parts) {
    let half = count / 2
    for index in stride(from: 0, to: half, by: 4) {
      let (a, b) = unsafe (load(source, index), load(source, index + half))
      unsafe store(a + b, target, index)
      unsafe store(a - b, target, index + half)
    }
  }
}
