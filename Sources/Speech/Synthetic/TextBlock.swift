/// Utterances that are aligned together: about half a minute.
enum TextBlock {
  /// How much a block holds at most, in letters.
  private static let size = 500
  /// What is spoken of a digit or an ideogram, in letters.
  private static let long = 4

  /// Groups utterances, in order.
  ///
  /// Complexity: O(*n*) in the length of the text.
  static func group(_ utterances: [Utterance]) -> [[Utterance]] {
    var blocks: [[Utterance]] = []
    var room = 0
    for utterance in utterances {
      let weight = utterance.text.unicodeScalars.reduce(0) {
        $0 + ($1.properties.isIdeographic || $1.properties.numericType != nil ? long : 1)
      }
      if blocks.isEmpty || room < weight {
        blocks.append([])
        room = size
      }
      blocks[blocks.count - 1].append(utterance)
      room -= weight
    }
    return blocks
  }
}
