import Glibc

/// The sounds of a language as Spool itself scores them: a model of CMU Sphinx whose mixtures are
/// phonetically tied, as the packaged one is.
///
/// It gives the figures of libpocketsphinx at a tenth of the cost, because whole codebooks are
/// evaluated four frames and four densities at a time, and all states of all phones are scored, so
/// that scores of different sounds can be compared. Read once, used by all threads.
struct SoundModel: Sendable {
  let phones: PhoneInventory
  private(set) var densities: DensityCodebooks
  let weights: MixtureWeights
  /// By the numbers of transitions.
  let transitions: [PhoneTransitions]
  /// The file that says how sound is analysed.
  let parameters: String

  /// What a model must say of itself; what it does not say must be what it says here.
  private static let wanted = [
    "-feat": ["1s_c_d_dd"], "-svspec": ["0-12/13-25/26-38"], "-model": ["ptm"], "-agc": ["none"],
    "-cmn": ["batch", "current"], "-varnorm": ["no"],
  ]

  /// Reads the files of a folder; throws where one is missing or the model is of another kind.
  init(folder: String) throws(SpeechError) {
    parameters = folder + "/feat.params"
    var file = try ModelBytes(of: parameters)
    let fields = String(decoding: try file.rest(), as: UTF8.self).split(
      whereSeparator: \.isWhitespace
    )
    .map(String.init)
    for (name, values) in Self.wanted {
      guard let index = fields.firstIndex(of: name), index + 1 < fields.count,
        values.contains(fields[index + 1])
      else { throw file.error("\(name) is not \(values.joined(separator: " or "))") }
    }
    guard unsafe access(folder + "/feature_transform", F_OK) != 0 else {
      throw file.error("its features are transformed")
    }
    phones = try PhoneInventory(from: folder + "/mdef")
    densities = try DensityCodebooks(
      means: folder + "/means", variances: folder + "/variances")
    guard densities.densityCount < 256, (phones.phoneOfSenone.max() ?? 0) < densities.count else {
      throw file.error("its densities do not go with its phones")
    }
    weights = try MixtureWeights(
      from: folder + "/sendump", densityCount: densities.densityCount,
      phoneOfSenone: phones.phoneOfSenone, phoneCount: densities.count)
    transitions = try PhoneTransitions.read(from: folder + "/transition_matrices")
  }

  /// The same model with other densities.
  func with(_ densities: DensityCodebooks) -> SoundModel {
    var model = self
    model.densities = densities
    return model
  }

  /// The places of a phone's three states among the scores, and its transitions.
  func places(of model: PhoneInventory.Model) -> PhoneStates {
    PhoneStates(
      first: Int32(weights.places[model.first]), second: Int32(weights.places[model.second]),
      third: Int32(weights.places[model.third]), transitions: Int32(model.transitions))
  }
}

/// A phone's three states: where their scores are, and how they follow each other.
struct PhoneStates: Hashable {
  let first: Int32
  let second: Int32
  let third: Int32
  let transitions: Int32
}
