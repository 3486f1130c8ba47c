import FoundationEssentials

extension Value: Decodable {
  /// Reads any JSON.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let flag = try? container.decode(Bool.self) {
      self = .flag(flag)
    } else if let number = try? container.decode(Double.self) {
      self = .number(number)
    } else if let text = try? container.decode(String.self) {
      self = .text(text)
    } else if let values = try? container.decode([Value].self) {
      self = .list(values)
    } else {
      self = .group(try container.decode([String: Value].self))
    }
  }

  /// Reads what `canonicalJSON` wrote; nil for what is not JSON.
  public init?(json: String) {
    guard let value = try? JSONDecoder().decode(Value.self, from: Data(json.utf8)) else {
      return nil
    }
    self = value
  }
}
