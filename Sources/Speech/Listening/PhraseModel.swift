import Glibc

/// How likely the words of one text follow each other: a trigram model with back-off.
///
/// Recognition that listens for one text only is far better than recognition that listens for
/// everything, and it may still skip and repeat. Probabilities are discounted absolutely (Ney,
/// Essen and Kneser 1994): half a count of every n-gram goes to what was not seen.
struct PhraseModel {
  /// The model in the form of ARPA.
  let text: String

  private static let discount = 0.5

  /// Counts what follows what in sentences, whose words are keys of a lexicon.
  ///
  /// Complexity: O(*n* log *n*) in the number of words.
  init(of sentences: [[String]]) {
    var single: [String: Int] = [:]
    var pairs: [Pair: Int] = [:]
    var triples: [Triple: Int] = [:]
    for sentence in sentences {
      let words = ["<s>"] + sentence + ["</s>"]
      for index in words.indices {
        single[words[index], default: 0] += 1
        if index >= 1 { pairs[Pair(words[index - 1], words[index]), default: 0] += 1 }
        if index >= 2 {
          triples[Triple(words[index - 2], words[index - 1], words[index]), default: 0] += 1
        }
      }
    }
    let total = single.values.reduce(0, +)
    var kindsAfterWord: [String: Int] = [:]
    for pair in pairs.keys { kindsAfterWord[pair.first, default: 0] += 1 }
    var kindsAfterPair: [Pair: Int] = [:]
    for triple in triples.keys {
      kindsAfterPair[Pair(triple.first, triple.second), default: 0] += 1
    }

    func logarithm(_ probability: Double) -> String {
      String(Int((log10(probability) * 10_000).rounded())).dotted
    }
    var lines = ["", "\\data\\"]
    lines += [
      "ngram 1=\(single.count)", "ngram 2=\(pairs.count)", "ngram 3=\(triples.count)", "",
      "\\1-grams:",
    ]
    for (word, count) in single.sorted(by: { $0.key < $1.key }) {
      let probability = word == "<s>" ? 1e-9 : Double(count) / Double(total)
      let spared = Self.discount * Double(kindsAfterWord[word] ?? 0) / Double(count)
      lines.append("\(logarithm(probability)) \(word) \(logarithm(max(spared, 1e-9)))")
    }
    lines += ["", "\\2-grams:"]
    for (pair, count) in pairs.sorted(by: { $0.key < $1.key }) {
      let probability = (Double(count) - Self.discount) / Double(single[pair.first] ?? 1)
      let spared = Self.discount * Double(kindsAfterPair[pair] ?? 0) / Double(count)
      lines.append(
        "\(logarithm(probability)) \(pair.first) \(pair.second) \(logarithm(max(spared, 1e-9)))")
    }
    lines += ["", "\\3-grams:"]
    for (triple, count) in triples.sorted(by: { $0.key < $1.key }) {
      let before = pairs[Pair(triple.first, triple.second)] ?? 1
      let probability = (Double(count) - Self.discount) / Double(before)
      lines.append("\(logarithm(probability)) \(triple.first) \(triple.second) \(triple.third)")
    }
    lines += ["", "\\end\\", ""]
    text = lines.joined(separator: "\n")
  }

  private struct Pair: Hashable, Comparable {
    let first: String
    let second: String

    init(_ first: String, _ second: String) {
      self.first = first
      self.second = second
    }

    static func < (left: Pair, right: Pair) -> Bool {
      (left.first, left.second) < (right.first, right.second)
    }
  }

  private struct Triple: Hashable, Comparable {
    let first: String
    let second: String
    let third: String

    init(_ first: String, _ second: String, _ third: String) {
      self.first = first
      self.second = second
      self.third = third
    }

    static func < (left: Triple, right: Triple) -> Bool {
      (left.first, left.second, left.third) < (right.first, right.second, right.third)
    }
  }
}

extension String {
  /// Ten-thousandths as a decimal number.
  fileprivate var dotted: String {
    let isNegative = hasPrefix("-")
    let digits = isNegative ? String(dropFirst()) : self
    let padded = String(repeating: "0", count: max(0, 5 - digits.count)) + digits
    return (isNegative ? "-" : "") + padded.dropLast(4) + "." + padded.suffix(4)
  }
}
