internal import CSQLite
internal import PipelineModel
import Platform

/// How the full text search takes text apart: it folds case and diacritics, and words end where
/// letters and digits do.
@safe struct SearchTokenizer: ~Copyable {
  /// A piece of text that is found as a whole.
  struct Token: Hashable {
    /// As it is compared.
    let text: String
    /// Where it begins in the text, in bytes.
    let start: Int
  }

  /// As it is named where a table is made, and here taken apart.
  static let arguments = ["remove_diacritics", "2"]
  static let name = "unicode61"

  private let calls: fts5_tokenizer
  private let instance: OpaquePointer

  /// Finds the tokenizer of a connection that has the full text search.
  init(_ api: UnsafeMutablePointer<fts5_api>, path: String) throws(SpoolError) {
    var calls = fts5_tokenizer()
    var user: UnsafeMutableRawPointer?
    var made: OpaquePointer?
    let status = unsafe api.pointee.xFindTokenizer?(api, Self.name, &user, &calls)
    guard status == SQLITE_OK, let create = unsafe calls.xCreate else {
      throw SpoolError("search", path, reason: "this SQLite has no tokenizer \(Self.name)")
    }
    let outcome = unsafe Self.arguments[0].withCString { name in
      unsafe Self.arguments[1].withCString { value in
        var arguments: [UnsafePointer<CChar>?] = unsafe [name, value]
        return unsafe create(user, &arguments, CInt(arguments.count), &made)
      }
    }
    guard outcome == SQLITE_OK, let instance = unsafe made else {
      throw SpoolError("search", path, reason: "the tokenizer cannot be made")
    }
    unsafe (self.calls, self.instance) = (calls, instance)
  }

  deinit { unsafe calls.xDelete?(instance) }

  /// The tokens of a text, in order. O(n).
  func tokens(of text: String, isQuery: Bool) -> [Token] {
    let purpose = isQuery ? FTS5_TOKENIZE_QUERY : FTS5_TOKENIZE_DOCUMENT
    var tokens: [Token] = []
    let text = text
    unsafe withUnsafeMutablePointer(to: &tokens) { tokens in
      let bytes = Array(text.utf8)
      unsafe bytes.withUnsafeBytes { bytes in
        _ = unsafe calls.xTokenize?(
          instance, tokens, purpose, bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
          CInt(bytes.count), collectToken)
      }
    }
    return tokens
  }
}

/// Called for each token, with the list that it goes into. Not a closure: it is C that calls.
private func collectToken(
  list: UnsafeMutableRawPointer?, flags: CInt, token: UnsafePointer<CChar>?, byteCount: CInt,
  start: CInt, end: CInt
) -> CInt {
  guard let list = unsafe list, let token = unsafe token else { return SQLITE_OK }
  let bytes = unsafe UnsafeRawBufferPointer(start: token, count: Int(byteCount))
  let text = unsafe String(decoding: bytes, as: UTF8.self)
  unsafe list.assumingMemoryBound(to: [SearchTokenizer.Token].self).pointee.append(
    SearchTokenizer.Token(text: text, start: Int(start)))
  return SQLITE_OK
}
