@testable import Speech
import TestSupport
import Testing

@Suite("The means of a model follow what is heard") struct MeanTransformTests {
  @Test("sound whose features are those of the model, changed linearly, changes the model so")
  func recovered() throws {
    var densities = try SoundModel(folder: AcousticModel.english.folder).densities
    let before = densities
    var random = SeededRandom(seed: 3)
    let width = DensityCodebooks.width
    let rows = (0..<width).map { row in
      (0..<width).map { column in
        Float(row == column ? 0.8 : 0) + Float(random.next() % 100) / 1000
      }
    }
    let groups = (0..<5).flatMap { before.groups(codebook: $0, part: 0) }
    func moved(_ group: Int, _ row: Int) -> SIMD4<Float> {
      (0..<width).reduce(SIMD4(repeating: Float(row))) {
        $0 + rows[row][$1] * before[group, $1]
      }
    }
    var equations = MeanTransform.Equations()
    for group in groups {
      for lane in 0..<4 {
        equations.add(
          count: 2, sum: { 2 * moved(group, $0)[lane] }, mean: { before[group, $0][lane] },
          precision: { before.precision(of: group, $0)[lane] })
      }
    }
    let transform = try #require(MeanTransform(solving: equations))
    for group in groups { transform.move(group, of: &densities) }
    for group in groups {
      for row in 0..<width {
        let off = densities[group, row] - moved(group, row)
        #expect((off * off).max() < 1e-4)
      }
    }
    #expect(MeanTransform(solving: MeanTransform.Equations()) == nil)
  }

  @Test("every frame is counted once in each part, by the densities of its phone")
  func counted() throws {
    let model = try SoundModel(folder: AcousticModel.english.folder)
    let features = try Self.features(of: try SpeechSamples.spoken("Monday morning"), model)
    let state = Int32(model.weights.places[0])
    let states = [Int32](repeating: state, count: features.frameCount)
    let heard = DensityStatistics(of: features, states, model)
    for part in 0..<DensityCodebooks.partCount {
      let groups = model.densities.groups(
        codebook: model.weights.phone(of: Int(state)), part: part)
      let count = groups.reduce(0) { $0 + heard.counts[$1].sum() }
      #expect(count <= Float(features.frameCount) + 0.1)
      #expect(count > 0.9 * Float(features.frameCount))
    }
    let whole = heard.counts.reduce(0) { $0 + $1.sum() }
    #expect(whole <= Float(3 * features.frameCount) + 0.1)
  }

  private static func features(of sound: [Int16], _ model: SoundModel) throws -> SpeechFeatures {
    try CepstralAnalysis(parameters: model.parameters).features(of: sound.span)
  }
}
