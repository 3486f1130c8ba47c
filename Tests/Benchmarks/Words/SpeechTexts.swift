import Foundation

/// What is spoken in the benchmarks of words.
enum SpeechTexts {
  /// Sentences of novels, of a treatise on printing, of sonnets and of a telephone call.
  static let sentences = [
    """
    and mister john dashwood had then leisure to consider how much there might be prudently in \
    his power to do for them
    """,
    """
    he was not an ill disposed young man unless to be rather cold hearted and rather selfish is \
    to be ill disposed
    """,
    "the quick brown fox jumps over the lazy dog while seven wizards quietly mix a box of jugs",
    """
    printing in the only sense with which we are at present concerned differs from most if not \
    from all the arts and crafts represented in the exhibition
    """,
    """
    please call me back on monday morning because the meeting with the client was moved to the \
    second floor
    """,
    """
    from fairest creatures we desire increase that thereby beauty rose might never die but as the \
    riper should by time decease his tender heir might bear his memory
    """,
  ]

  /// What others say in the background.
  static let babble = [
    """
    it is a truth universally acknowledged that a single man in possession of a good fortune must \
    be in want of a wife however little known the feelings or views of such a man may be
    """,
    """
    call me ishmael some years ago never mind how long precisely having little or no money in my \
    purse and nothing particular to interest me on shore i thought i would sail about a little
    """,
    """
    it was the best of times it was the worst of times it was the age of wisdom it was the age of \
    foolishness it was the epoch of belief it was the epoch of incredulity
    """,
    """
    when in the course of human events it becomes necessary for one people to dissolve the \
    political bands which have connected them with another and to assume among the powers
    """,
  ]

  /// The words of long documents that every Debian system has, in order, in lower case.
  static func documents() throws(BenchmarkError) -> [String] {
    var words: [String] = []
    for name in ["GPL-3", "GFDL-1.3", "MPL-2.0", "Artistic"] {
      let path = "/usr/share/common-licenses/" + name
      guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
        throw BenchmarkError("there is no text at \(path)", "on Debian: apt install base-files")
      }
      words += text.lowercased().split { !($0.isASCII && $0.isLetter) }.map(String.init)
    }
    return words
  }
}
