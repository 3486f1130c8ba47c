import Audio
import Glibc
import Testing

@Suite("Bands as ears have them") struct MelSpectrumTests {
  /// Computed with numpy 2.4: `np.hamming`, `np.fft.rfft`, triangles by `np.interp`.
  @Test(
    "the powers of two tones are those of a reference",
    arguments: [
      (
        16_000.0, 0,
        [
          4.536920e-04, 3.370185e-04, 2.079925e-06, 3.499505e-07, 1.122022e-03, 2.117879e-03,
          1.028751e-05, 4.637964e-06,
        ]
      ),
      (
        16_000.0, 7,
        [
          5.141901e-04, 3.735472e-04, 9.838553e-08, 9.043028e-08, 1.261039e-03, 2.356096e-03,
          1.565006e-07, 5.874413e-08,
        ]
      ),
      (
        22_050.0, 7,
        [
          2.784367e-04, 2.022937e-04, 6.653333e-08, 7.114672e-08, 6.907128e-04, 1.290345e-03,
          5.554816e-08, 1.405879e-08,
        ]
      ),
    ])
  func reference(rate: Double, frame: Int, powers: [Double]) {
    let found = spectrum(rate).powers(of: tones(rate).span)
    for band in 0..<8 {
      let figure = Double(found[frame * 8 + band])
      // Single precision: 10⁻⁶ of the loudest band reaches the others.
      #expect(abs(figure - powers[band]) < 2e-3 * powers[band] + 2e-9, "band \(band)")
    }
  }

  @Test("there is a frame for every hundredth, and none of nothing")
  func frames() {
    let spectrum = spectrum(16_000)
    #expect(spectrum.frameCount(of: 1600) == 10)
    #expect(spectrum.powers(of: [Int16](repeating: 0, count: 1759).span).count == 10 * 8)
    #expect(spectrum.powers(of: [Int16]().span).isEmpty)
    #expect(spectrum.powers(of: [Int16](repeating: 0, count: 800).span).allSatisfy { $0 == 0 })
  }

  @Test("a frame does not depend on the one that shares its transform")
  func pairs() {
    let sound = tones(16_000)
    let all = spectrum(16_000).powers(of: sound.span)
    // Without the first frame every other one is paired differently.
    let later = spectrum(16_000).powers(of: sound.span.extracting(160...))
    for index in 8..<all.count - 8 where index >= 3 * 8 {
      #expect(abs(all[index] - later[index - 8]) < 1e-4 * all[index] + 2e-9)
    }
  }

  private func spectrum(_ rate: Double) -> MelSpectrum {
    MelSpectrum(sampleRate: Hertz(rate), bandCount: 8, range: Hertz(100)...Hertz(6500))
  }

  private func tones(_ rate: Double) -> [Int16] {
    (0..<3200).map { index in
      let time = Double(index) / rate
      let sum = 8000 * sin(2 * .pi * 440 * time) + 3000 * sin(2 * .pi * 2500 * time)
      return Int16(sum.rounded(.toNearestOrEven))
    }
  }
}
