internal import FoundationEssentials
internal import Hashing

/// What an encoder says of its progress to the process that goes on with it.
struct EncodingState: Hashable, Sendable, Codable {
  /// Everything but the sound that the file's bytes depend on, as a digest.
  let settings: Digest
  /// Tells this encoding's files from those of any other with the same settings.
  let nonce: UInt64
  /// The extent reached.
  var extent = EncodingExtent()

  /// The state of a new encoding.
  init(settings: Digest) {
    self.settings = settings
    nonce = .random(in: 0 ... .max)
  }

  /// Reads what `json` gave; nil for anything else.
  init?(json: String) {
    guard let state = try? JSONDecoder().decode(EncodingState.self, from: Data(json.utf8)),
      state.extent.frames >= 0, state.extent.byteCount >= 0,
      state.extent.hash?.frames ?? 0 >= 0
    else { return nil }
    self = state
  }

  /// The state in one line. Integers and a digest can always be written; were it otherwise, an
  /// empty text would only mean a new start.
  var json: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  /// What this encoding's own files bear, and no others.
  var owner: Digest { SHA256.digest(of: "\(settings.hex) \(nonce)") }
}
