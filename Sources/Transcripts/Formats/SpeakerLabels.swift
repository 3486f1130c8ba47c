/// Which labels of a plain text name speakers, by how the whole text uses them.
///
/// A label is a speaker's where it is in capitals or brackets, where it begins two paragraphs or more,
/// or where labels of the form of names, at least two different ones, begin most of the paragraphs.
/// Everything else is spoken text.
struct SpeakerLabels {
  private var counts: [String: Int] = [:]
  private var areUsual = false

  /// Looks a text through, as paragraphs of lines without white space at their ends. O(n).
  init(in paragraphs: [[String]]) {
    var turnCount = 0
    var named: [String: Int] = [:]
    for paragraph in paragraphs {
      var isLabelled = false
      for (index, line) in paragraph.enumerated() where index == 0 || isLabelled {
        guard let label = SpeakerLabel(line) else {
          if index == 0 { turnCount += 1 }
          continue
        }
        isLabelled = true
        turnCount += 1
        counts[label.name, default: 0] += 1
        let isTurn = !label.rest.isEmpty || index + 1 < paragraph.count
        if isTurn, label.hasNameForm { named[label.name, default: 0] += 1 }
      }
    }
    areUsual = named.count >= 2 && 2 * named.values.reduce(0, +) > turnCount
  }

  /// The speaker's label at the beginning of a line; nil where it begins with something else. O(1).
  func label(_ line: String) -> SpeakerLabel? {
    guard let label = SpeakerLabel(line) else { return nil }
    return label.isMarked || recurs(label) || areUsual && label.hasNameForm ? label : nil
  }

  /// Whether a label stands in several places.
  func recurs(_ label: SpeakerLabel) -> Bool { counts[label.name, default: 0] > 1 }
}
