internal import FoundationEssentials
internal import Hashing
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
      let value = try? JSONDecoder().decode(JSONShape.self, from: Data(text.utf8))
    else { return }
    texts.append(text)
    look(at: value)
  }

  private mutating func look(at value: JSONShape) {
    switch value {
    case .text(let text): look(in: text)
    case .list(let values): for value in values { look(at: value) }
    case .members(let members):
      if case .number(let count)? = members["byteCount"], case .text(let hex)? = members["digest"],
        let digest = Digest(hex: hex), members.count == 2
      {
        all.append(DraftPrefix(byteCount: Int(count), digest: digest))
      } else {
        for value in members.values { look(at: value) }
      }
    case .number, .other: break
    }
  }
}

/// Any JSON, as far as it is looked through.
private enum JSONShape: Decodable {
  case text(String)
  case number(Double)
  case list([JSONShape])
  case members([String: JSONShape])
  case other

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if let text = try? value.decode(String.self) {
      self = .text(text)
    } else if let number = try? value.decode(Double.self) {
      self = .number(number)
    } else if let members = try? value.decode([String: JSONShape].self) {
      self = .members(members)
    } else if let list = try? value.decode([JSONShape].self) {
      self = .list(list)
    } else {
      self = .other
    }
  }
}
