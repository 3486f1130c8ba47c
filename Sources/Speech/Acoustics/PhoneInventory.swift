import Platform

/// Which states stand for a phone among its neighbours: the file `mdef` of a model.
///
/// A phone that no recording of the training had between these two has the states of the nearest
/// that one had: at another place in the word, beside silence, or without neighbours.
struct PhoneInventory: Sendable {
  /// A phone in a word.
  enum Place: Int, Sendable {
    case inside, beginning, end, alone

    /// The place of one of the phones of a word.
    init(of index: Int, among count: Int) {
      switch index {
      case 0: self = count == 1 ? .alone : .beginning
      case count - 1: self = .end
      default: self = .inside
      }
    }
  }

  /// How many states of each phone are distinguished.
  static let stateCount = 3
  /// The number of the phone that is silence.
  let silence: Int
  /// The numbers of the phones that stand for silence and noises.
  let fillers: [Int]
  /// The numbers of all others.
  let sounds: [Int]
  /// How many states there are in all models.
  let senoneCount: Int
  /// The phone that each state belongs to, whose neighbours do not count.
  let phoneOfSenone: [Int]

  private let numbers: [String: Int]
  /// Nodes of the tree: the number of a place or phone, how many nodes are below it, and where they
  /// begin, or else the number of the model.
  private let tree: [(context: Int, count: Int, next: Int)]
  private let phones: [(sequence: Int, transitions: Int)]
  private let sequences: [Int]

  /// Reads the file in its binary form.
  init(from path: String) throws(SpoolError) {
    var file = try ModelBytes(of: path)
    guard try file.take(4).elementsEqual(Array("BMDF".utf8)) else {
      throw file.error("it is not in the binary form")
    }
    _ = try file.integer()
    _ = try file.take(try file.integer())
    let counts = try file.integers(10)
    guard counts[2] == Self.stateCount, counts[7] == 3, counts.allSatisfy({ $0 >= 0 }) else {
      throw file.error("its phones do not have three states")
    }
    let phoneCount = counts[0]
    silence = counts[9]
    senoneCount = counts[4]
    var numbers: [String: Int] = [:]
    for number in 0..<phoneCount { numbers[try file.text()] = number }
    self.numbers = numbers
    file.alignToWords()
    var tree: [(context: Int, count: Int, next: Int)] = []
    tree.reserveCapacity(counts[8])
    let nodes = try file.integers(2 * counts[8])
    for index in 0..<counts[8] {
      // Two numbers of 16 bits, and one of 32.
      let both = UInt32(truncatingIfNeeded: nodes[2 * index])
      let context = Int16(truncatingIfNeeded: both)
      let count = Int16(truncatingIfNeeded: both >> 16)
      tree.append((Int(context), Int(count), nodes[2 * index + 1]))
    }
    self.tree = tree
    var phones: [(sequence: Int, transitions: Int)] = []
    phones.reserveCapacity(counts[1])
    var fillers: [Int] = []
    let fields = try file.integers(3 * counts[1])
    for number in 0..<counts[1] {
      phones.append((fields[3 * number], fields[3 * number + 1]))
      if number < phoneCount, fields[3 * number + 2] & 0xFF != 0 { fillers.append(number) }
    }
    self.phones = phones
    self.fillers = fillers
    sounds = (0..<phoneCount).filter { !fillers.contains($0) }
    guard try file.integer() == counts[6] * Self.stateCount else {
      throw file.error("its states are not counted right")
    }
    sequences = try file.shorts(counts[6] * Self.stateCount)
    // A state belongs to the phone whose model without neighbours lies at the root of its tree.
    var owners = [Int](repeating: 0, count: counts[4])
    for (number, phone) in phones.enumerated() where number < phoneCount {
      for state in 0..<Self.stateCount {
        owners[sequences[phone.sequence * Self.stateCount + state]] = number
      }
    }
    phoneOfSenone = Self.owners(
      owners, tree, phones.map(\.sequence), sequences, phoneCount: phoneCount)
  }

  /// The number of a phone by its name.
  func number(of name: String) -> Int? { numbers[name] }

  /// The number of the model of a phone between two others. A phone's own number is that of its model
  /// whatever the neighbours are.
  func model(of phone: Int, after left: Int, before right: Int, _ place: Place) -> Int {
    exact(phone, left, right, place)
      ?? [.inside, .beginning, .end, .alone].lazy.compactMap { exact(phone, left, right, $0) }.first
      ?? nearest(phone, left, right, place) ?? phone
  }

  /// What a model sounds like: the numbers of its three states, and of its transitions.
  func states(of model: Int) -> (numbers: [Int], transitions: Int) {
    let (sequence, transitions) = phones[model]
    return (
      Array(sequences[sequence * Self.stateCount..<(sequence + 1) * Self.stateCount]), transitions
    )
  }

  /// A model of the phone beside silence, where it is at the edge of a word.
  private func nearest(_ phone: Int, _ left: Int, _ right: Int, _ place: Place) -> Int? {
    let newLeft = place == .beginning || place == .alone ? silence : left
    let newRight = place == .end || place == .alone ? silence : right
    guard newLeft != left || newRight != right else { return nil }
    return [place, .inside, .beginning, .end, .alone].lazy
      .compactMap { exact(phone, newLeft, newRight, $0) }.first
  }

  /// The number of the model of a phone at a place, where there is one.
  private func exact(_ phone: Int, _ left: Int, _ right: Int, _ place: Place) -> Int? {
    var range = 0..<min(4, tree.count)
    func context(_ phone: Int) -> Int { fillers.contains(phone) ? silence : phone }
    let path = [place.rawValue, phone, context(left), context(right)]
    for (level, wanted) in path.enumerated() {
      guard let node = range.first(where: { tree[$0].context == wanted }) else { return nil }
      let (_, count, next) = tree[node]
      if count == 0 { return level == path.count - 1 && next >= 0 ? next : nil }
      guard next >= 0, next + count <= tree.count else { return nil }
      range = next..<next + count
    }
    return nil
  }

  /// The phones of the states of all models, by the tree that leads to them.
  private static func owners(
    _ known: [Int], _ tree: [(context: Int, count: Int, next: Int)], _ phones: [Int],
    _ sequences: [Int], phoneCount: Int
  ) -> [Int] {
    var owners = known
    func visit(_ node: Int, _ level: Int, _ phone: Int) {
      let (context, count, next) = tree[node]
      let owner = level == 1 ? context : phone
      if count == 0 {
        guard phones.indices.contains(next) else { return }
        for state in 0..<stateCount { owners[sequences[phones[next] * stateCount + state]] = owner }
      } else {
        for below in next..<min(tree.count, next + count) { visit(below, level + 1, owner) }
      }
    }
    for node in 0..<min(4, tree.count) { visit(node, 0, 0) }
    return owners
  }
}
