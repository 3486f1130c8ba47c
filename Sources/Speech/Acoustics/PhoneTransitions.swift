import Glibc

/// How the three states of a phone follow each other: the logarithms of staying in each and of
/// going on. None is ever passed over.
struct PhoneTransitions: Sendable {
  let stay: SIMD4<Float>
  let leave: SIMD4<Float>

  /// Reads all of a model.
  static func read(from path: String) throws(SpeechError) -> [PhoneTransitions] {
    var file = try ModelBytes(of: path)
    try file.passHead()
    let counts = try file.integers(4)
    let states = PhoneInventory.stateCount
    guard counts[0] > 0, counts[1] == states, counts[2] == states + 1,
      counts[3] == counts[0] * states * (states + 1)
    else { throw file.error("its phones do not have three states") }
    var all: [PhoneTransitions] = []
    for _ in 0..<counts[0] {
      var stay = SIMD4<Float>.zero
      var leave = SIMD4<Float>.zero
      for state in 0..<states {
        let row = try file.floats(states + 1)
        let sum = row.reduce(0, +)
        for (next, value) in row.enumerated() where next != state && next != state + 1 {
          guard value == 0 else { throw file.error("states are passed over") }
        }
        stay[state] = logf(row[state] / sum)
        leave[state] = logf(row[state + 1] / sum)
      }
      all.append(PhoneTransitions(stay: stay, leave: leave))
    }
    return all
  }
}
