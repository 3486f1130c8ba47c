internal import Hashing
internal import JSONText
internal import PipelineModel

/// The beginnings of files that a note vouches for, wherever in it they are told. Notes are JSON, and
/// hold what parts of the work noted as texts that are JSON again.
struct DraftPrefixes {
  private(set) var all: [DraftPrefix] = []
  /// What parts of the work noted in their own terms: the texts in the note that are JSON again.
  private(set) var texts: [String] = []

  init(in note: String) { look(in: note) }

  private mutating func look(in text: String) {
    guard text.hasPrefix("{") || text.hasPrefix("["),
      let value = try? JSONReader.strictValue(of: Array(text.utf8), depthLimit: 64)
    else { return }
    texts.append(text)
    look(at: value)
  }

  private mutating func look(at value: JSONValue) {
    switch value {
    case .text(let text): look(in: text)
    case .list(let values): for value in values { look(at: value) }
    case .object(let members):
      if members.count == 2, let count = members["byteCount"]?.integer,
        let digest = members["digest"]?.text.flatMap({ Digest(hex: $0) })
      {
        all.append(DraftPrefix(byteCount: count, digest: digest))
      } else {
        for value in members.values { look(at: value) }
      }
    case .number, .boolean, .null: break
    }
  }
}
