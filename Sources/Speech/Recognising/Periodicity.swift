/// The period of a short sound, where it repeats itself.
enum Periodicity {
  /// Samples that are looked at: 40 ms of 4 kHz.
  static let window = 160
  /// The periods that voices have, in samples of 4 kHz: 400 to 60 Hz.
  private static let periods = 10...66
  /// Samples that are compared with those a period later.
  private static let length = window - periods.upperBound
  /// How much the sound must resemble itself: 1 for a tone.
  private static let likeness: Float = 0.55

  /// The period in samples, between two of them where it lies there; 0 where there is none.
  static func period(of sound: Span<Float>) -> Float {
    var energy: Float = 0
    for index in 0..<length { energy += sound[index] * sound[index] }
    guard energy > 1e-9 else { return 0 }
    var laterEnergy: Float = 0
    for index in 0..<length {
      laterEnergy += sound[index + periods.lowerBound] * sound[index + periods.lowerBound]
    }
    var likenesses: [Float] = []
    likenesses.reserveCapacity(periods.count)
    for period in periods {
      var product: Float = 0
      for index in 0..<length { product += sound[index] * sound[index + period] }
      likenesses.append(product / (energy * max(laterEnergy, 1e-12)).squareRoot())
      guard period < periods.upperBound else { break }
      laterEnergy += sound[period + length] * sound[period + length]
      laterEnergy -= sound[period] * sound[period]
    }
    guard let best = likenesses.max(), best >= likeness,
      // A sound that repeats itself after a period does so after two: the first counts.
      var place = likenesses.firstIndex(where: { $0 > 0.9 * best })
    else { return 0 }
    while place + 1 < likenesses.count, likenesses[place + 1] > likenesses[place] { place += 1 }
    guard place > 0, place + 1 < likenesses.count else {
      return Float(periods.lowerBound + place)
    }
    let (before, peak, after) = (likenesses[place - 1], likenesses[place], likenesses[place + 1])
    let bend = before - 2 * peak + after
    let shift = bend < 0 ? (before - after) / (2 * bend) : 0
    return Float(periods.lowerBound + place) + shift
  }
}
