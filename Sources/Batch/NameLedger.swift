import PipelineModel

/// Which names in the output folder are taken. The second file that wants a name gets it with `-2`,
/// the third with `-3`; nobody's exports take another's place.
struct NameLedger {
  /// The paths below the output folder of the exports that a file of this name will have.
  private let exports: (String) -> [String]
  private var taken: Set<ExactText> = []
  /// The number that is tried next, by wanted name.
  private var next: [ExactText: Int] = [:]

  /// Starts with nothing taken.
  init(exports: @escaping (String) -> [String]) { self.exports = exports }

  /// Something else is at this path below the output folder.
  mutating func reserve(_ path: String) { taken.insert(ExactText(path)) }

  /// Takes a name. - Returns: whether it was free.
  mutating func take(_ name: String) -> Bool {
    let paths = exports(name).map(ExactText.init)
    guard taken.isDisjoint(with: paths) else { return false }
    taken.formUnion(paths)
    return true
  }

  /// Takes the wanted name or, where it is taken, the next free one. O(1) amortised.
  mutating func assign(_ wanted: String) -> String {
    let key = ExactText(wanted)
    var number = next[key] ?? 1
    while true {
      let name = number == 1 ? wanted : "\(wanted)-\(number)"
      number += 1
      if take(name) {
        next[key] = number
        return name
      }
    }
  }

  /// Whether `name` is what `assign` may have given for `wanted`.
  static func isNumbered(_ name: String, of wanted: String) -> Bool {
    if ExactText(name) == ExactText(wanted) { return true }
    let (name, wanted) = (Array(name.utf8), Array(wanted.utf8) + [UInt8(ascii: "-")])
    guard name.starts(with: wanted) else { return false }
    let digits = name.dropFirst(wanted.count)
    return !digits.isEmpty && digits.allSatisfy { (48...57).contains($0) } && digits.first != 48
  }
}
