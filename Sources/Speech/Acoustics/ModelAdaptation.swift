/// Fits a model to the voice, the room and the noise of a piece of sound whose words are known.
///
/// The means of all densities of speech are moved together, and those of silence and noises; each of
/// the three parts of the features by itself. It is as if some frames had been heard before that fit
/// the model exactly, so that short pieces, and sounds that hardly occur, change little.
struct ModelAdaptation {
  /// So many frames fit the model as it is.
  private static let trust: Float = 200

  private let model: SoundModel
  /// Phones whose means move together.
  private let classes: [[Int]]
  /// By class and part, the equations of the frames that fit.
  private let prior: [[MeanTransform.Equations]]

  /// Prepares to fit a model.
  init(of model: SoundModel) {
    self.model = model
    let quiet = Set(model.phones.fillers)
    let all = 0..<model.densities.count
    classes = [all.filter { !quiet.contains($0) }, all.filter { quiet.contains($0) }]
    prior = classes.map { phones in
      (0..<DensityCodebooks.partCount).map { part in
        let count = Self.trust / Float(max(1, phones.count * model.densities.densityCount))
        return Self.equations(phones, part, model.densities) { group, lane in
          (count, { count * model.densities[group, $0][lane] })
        }
      }
    }
  }

  /// The model, fitted to sound.
  ///
  /// - Parameter states: by frame, the place of its state.
  func model(fitting features: SpeechFeatures, _ states: [Int32]) -> SoundModel {
    let heard = DensityStatistics(of: features, states, model)
    let width = DensityCodebooks.width
    var densities = model.densities
    for (phones, prior) in zip(classes, prior) {
      for part in 0..<DensityCodebooks.partCount {
        let own = Self.equations(phones, part, model.densities) { group, lane in
          (heard.counts[group][lane], { heard.sums[group * width + $0][lane] })
        }
        guard let transform = MeanTransform(solving: own + prior[part]) else { continue }
        for phone in phones {
          for group in densities.groups(codebook: phone, part: part) {
            transform.move(group, of: &densities)
          }
        }
      }
    }
    return model.with(densities)
  }

  /// The equations of a part of some phones, by how many frames each density explains and what their
  /// features sum up to.
  private static func equations(
    _ phones: [Int], _ part: Int, _ densities: DensityCodebooks,
    _ heard: (_ group: Int, _ lane: Int) -> (count: Float, sum: (Int) -> Float)
  ) -> MeanTransform.Equations {
    var equations = MeanTransform.Equations()
    for phone in phones {
      for group in densities.groups(codebook: phone, part: part) {
        for lane in 0..<4 {
          let (count, sum) = heard(group, lane)
          guard count > 0 else { continue }
          equations.add(
            count: count, sum: sum, mean: { densities[group, $0][lane] },
            precision: { densities.precision(of: group, $0)[lane] })
        }
      }
    }
    return equations
  }
}
