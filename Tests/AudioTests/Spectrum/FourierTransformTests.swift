@testable import Audio
import Foundation
import TestSupport
import Testing

@Suite struct FourierTransformTests {
  private func transformed(_ real: [Float], _ imaginary: [Float]) -> ([Float], [Float]) {
    var (real, imaginary) = (real, imaginary)
    let transform = FourierTransform(count: real.count)
    unsafe real.withUnsafeMutableBufferPointer { real in
      unsafe imaginary.withUnsafeMutableBufferPointer { imaginary in
        guard let x = real.baseAddress, let y = imaginary.baseAddress else { return }
        unsafe transform.transform(x, y)
      }
    }
    return (real, imaginary)
  }

  private func noise(_ count: Int, seed: UInt64) -> [Float] {
    var random = SeededRandom(seed: seed)
    return (0..<count).map { _ in Float.random(in: -1...1, using: &random) }
  }

  @Test(arguments: [16, 32, 64, 128, 512, 1024])
  func `gives the sums of the definition`(count: Int) {
    let (x, y) = (noise(count, seed: 1), noise(count, seed: 2))
    let (real, imaginary) = transformed(x, y)
    var worst = 0.0
    for bin in 0..<count {
      var sum = (0.0, 0.0)
      for index in 0..<count {
        let angle = -2 * Double.pi * Double(bin * index % count) / Double(count)
        let (a, b) = (Double(x[index]), Double(y[index]))
        sum.0 += a * cos(angle) - b * sin(angle)
        sum.1 += a * sin(angle) + b * cos(angle)
      }
      worst = max(worst, abs(Double(real[bin]) - sum.0), abs(Double(imaginary[bin]) - sum.1))
    }
    #expect(worst < 2e-6 * Double(count).squareRoot() * 3)
  }

  @Test(arguments: [16, 2048, 8192, 16_384])
  func `with its parts exchanged it is the inverse`(count: Int) {
    let (x, y) = (noise(count, seed: 3), noise(count, seed: 4))
    let (real, imaginary) = transformed(x, y)
    let (backImaginary, backReal) = transformed(imaginary, real)
    let scale = 1 / Float(count)
    let worst = (0..<count).map {
      max(abs(backReal[$0] * scale - x[$0]), abs(backImaginary[$0] * scale - y[$0]))
    }
    #expect((worst.max() ?? 1) < 1e-6)
  }
}
