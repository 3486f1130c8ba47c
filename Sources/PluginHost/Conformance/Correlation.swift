/// By how many frames one sound is late in another.
struct Correlation {
  /// The delay in frames; nil where nothing in the sound is alike enough to tell.
  let lag: Int?

  /// Looks for `sound` in `other`, at every delay that leaves room for all of it. O(n · m).
  init(of sound: [Float], in other: [Float]) {
    let most = other.count - sound.count
    guard most >= 0, !sound.isEmpty else {
      lag = nil
      return
    }
    let own = sound.reduce(0) { $0 + Double($1) * Double($1) }
    var best = (lag: 0, likeness: 0.0)
    unsafe sound.withUnsafeBufferPointer { sound in
      unsafe other.withUnsafeBufferPointer { other in
        for lag in 0...most {
          var (sum, energy) = (0.0, 0.0)
          var index = 0
          let count = sound.count
          while index < count {
            let value = unsafe Double(other[lag + index])
            unsafe sum += value * Double(sound[index])
            energy += value * value
            index += 1
          }
          guard energy > 0 else { continue }
          let likeness = abs(sum) / (own * energy).squareRoot()
          if likeness > best.likeness { best = (lag, likeness) }
        }
      }
    }
    // White noise at a wrong delay is alike by about 1/√n.
    lag = best.likeness > 0.5 ? best.lag : nil
  }
}
