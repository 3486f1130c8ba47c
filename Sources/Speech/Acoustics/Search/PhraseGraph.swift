import Glibc

/// What a listener may hear who knows a text: its words in its order, and, off that order, any of
/// its words.
///
/// The words of the text are a chain of phones with silence between any two. Beside it stands a
/// tree of all words that occur, which share their beginnings: a search that has lost its place goes
/// through the tree, or through sounds that belong to no word of the text, and takes the thread up
/// again behind any place where the word occurs that was just heard.
struct PhraseGraph {
  /// What it costs to lose the thread, and to say a word off it, as logarithms.
  static let losing: Float = 20
  static let lostWord: Float = 35
  /// What a sound costs that belongs to no word: what resembles the words of the text less than any
  /// sounds is none of them.
  static let sound: Float = 60
  /// What silence costs.
  static let silence: Float = 3
  /// What it costs to take the thread up again behind a word that occurs once; behind one that
  /// occurs more often, it costs more.
  private static let finding: Float = 2
  private static let crowd: Float = 3

  /// A phone of the chain or of the tree.
  struct Node {
    let states: PhoneStates
    let role: Role
  }

  /// What comes after a phone.
  enum Role {
    /// The next one.
    case inside
    /// Another word of the chain, or the silence before it: the place of this one in the text.
    case wordEnd(Int32)
    /// The word at this place.
    case silence(Int32)
    /// Other phones of the tree, and the words that end here: places in the lists.
    case branch(Int32)
    /// Any word, by the tree, or any sound.
    case lost
  }

  /// Lists of numbers, one behind the other in one array.
  struct Lists {
    private var stretches: [Range<Int32>] = []
    private var numbers: [Int32] = []

    @inline(__always)
    subscript(index: Int32) -> ArraySlice<Int32> {
      let stretch = stretches[Int(index)]
      return numbers[Int(stretch.lowerBound)..<Int(stretch.upperBound)]
    }

    fileprivate mutating func append(_ list: [Int32]) {
      stretches.append(Int32(numbers.count)..<Int32(numbers.count + list.count))
      numbers += list
    }
  }

  private(set) var nodes: [Node] = []
  /// The phones of the tree: what may follow each, and the words that it ends.
  private(set) var branchNodes = Lists()
  private(set) var branchWords = Lists()
  /// The phones that words of the tree begin with.
  private(set) var roots: [Int32] = []
  /// The silence among lost words.
  private(set) var lostSilence: Int32 = 0
  /// The sounds of words that the text lacks: every phone, whatever its neighbours are.
  private(set) var sounds: Range<Int32> = 0..<0
  /// The words, by their numbers.
  private(set) var keys: [String] = []
  /// For each place in the text, the number of its word.
  private(set) var words: [Int32] = []
  /// For each place, the phones that its word may begin with.
  private(set) var beginnings = Lists()
  /// For each place, the silence after it; below 0 where a sentence ends.
  private(set) var silences: [Int32] = []
  /// For each word, the places where it occurs with another one behind it.
  private(set) var occurrences = Lists()
  /// For each word, what it costs to take the thread up again behind it.
  private(set) var findings: [Float] = []

  private let model: SoundModel

  /// Lays out sentences, whose words are keys of a lexicon; words without phones end the thread.
  init(of sentences: [[String]], _ lexicon: Lexicon, _ model: SoundModel) {
    self.model = model
    var numbers: [String: Int32] = [:]
    var spoken: [[[Int]]] = []
    for key in sentences.joined() where numbers[key] == nil {
      numbers[key] = Int32(keys.count)
      keys.append(key)
      spoken.append(
        (lexicon.pronunciations[key] ?? []).map {
          $0.compactMap(model.phones.number)
        }.filter { !$0.isEmpty })
    }
    for sentence in sentences {
      let known = sentence.compactMap { numbers[$0] }.filter { !spoken[Int($0)].isEmpty }
      for (index, word) in known.enumerated() {
        let before = index > 0 ? spoken[Int(known[index - 1])].first?.last : nil
        let after = index + 1 < known.count ? spoken[Int(known[index + 1])].first?.first : nil
        addToChain(word, spoken[Int(word)], before, after)
      }
    }
    addOccurrences()
    addTree(spoken)
  }

  private mutating func addOccurrences() {
    var found = [[Int32]](repeating: [], count: keys.count)
    for (place, word) in words.enumerated() where silences[place] >= 0 {
      found[Int(word)].append(Int32(place))
    }
    for list in found {
      occurrences.append(list)
      findings.append(Self.finding + Self.crowd * logf(Float(max(1, list.count))))
    }
  }

  private mutating func addToChain(
    _ word: Int32, _ variants: [[Int]], _ before: Int?, _ after: Int?
  ) {
    let place = Int32(words.count)
    words.append(word)
    var first: [Int32] = []
    for phones in variants {
      first.append(Int32(nodes.count))
      for index in phones.indices {
        let isLast = index + 1 == phones.count
        nodes.append(
          Node(
            states: states(
              phones, index, before ?? model.phones.silence, after ?? model.phones.silence),
            role: isLast ? .wordEnd(place) : .inside))
      }
    }
    beginnings.append(first)
    silences.append(after == nil ? -1 : Int32(nodes.count))
    if after != nil { nodes.append(Node(states: quiet, role: .silence(place + 1))) }
  }

  /// The states of a phone of a word between two others.
  private func states(_ phones: [Int], _ index: Int, _ before: Int, _ after: Int) -> PhoneStates {
    model.states(
      of: model.phones.model(
        of: phones[index], after: index == 0 ? before : phones[index - 1],
        before: index == phones.count - 1 ? after : phones[index + 1],
        PhoneInventory.Place(of: index, among: phones.count)))
  }

  private var quiet: PhoneStates { model.states(of: model.phones.silence) }

  /// Lays out the tree: words share a phone where they share all up to it.
  private mutating func addTree(_ spoken: [[[Int]]]) {
    struct Step: Hashable {
      let parent: Int32?
      let states: PhoneStates
    }
    var known: [Step: Int32] = [:]
    var next: [[Int32]] = []
    var ended: [[Int32]] = []
    let start = Int32(nodes.count)
    let silence = model.phones.silence
    for (word, variants) in spoken.enumerated() {
      for phones in variants {
        var parent: Int32?
        for index in phones.indices {
          let step = Step(parent: parent, states: states(phones, index, silence, silence))
          if known[step] == nil {
            let node = start + Int32(next.count)
            known[step] = node
            nodes.append(Node(states: step.states, role: .branch(node - start)))
            next.append([])
            ended.append([])
            if let parent { next[Int(parent - start)].append(node) } else { roots.append(node) }
          }
          parent = known[step]
        }
        if let parent { ended[Int(parent - start)].append(Int32(word)) }
      }
    }
    for list in next { branchNodes.append(list) }
    for list in ended { branchWords.append(list) }
    lostSilence = Int32(nodes.count)
    nodes.append(Node(states: quiet, role: .lost))
    for phone in model.phones.sounds {
      nodes.append(Node(states: model.states(of: phone), role: .lost))
    }
    sounds = lostSilence + 1..<Int32(nodes.count)
  }
}
