internal import CLibAV
internal import CLibAVLoader

extension [String: String] {
  /// The entries of a libav dictionary, names in lower case.
  static func tags(_ dictionary: OpaquePointer?) -> [String: String] {
    var tags: [String: String] = [:]
    var entry: UnsafeMutablePointer<AVDictionaryEntry>?
    while let next = unsafe av_dict_get(dictionary, "", entry, AV_DICT_IGNORE_SUFFIX) {
      unsafe tags[String(cString: next.pointee.key).lowercased()] = String(
        cString: next.pointee.value)
      unsafe entry = unsafe next
    }
    return tags
  }

  /// The entries of two libav dictionaries; the first one wins.
  static func tags(_ first: OpaquePointer?, over second: OpaquePointer?) -> [String: String] {
    unsafe tags(first).merging(tags(second)) { kept, _ in kept }
  }
}

/// One owner of a libav dictionary of options or tags.
@safe struct Options: ~Copyable {
  var pointer: OpaquePointer?

  /// Copies the entries, in the order of their names, so that what is written is always the same.
  init(_ entries: [String: String] = [:]) {
    for (name, value) in entries.sorted(by: { $0.key < $1.key }) {
      unsafe av_dict_set(&pointer, name, value, 0)
    }
  }

  deinit {
    var pointer = unsafe pointer
    unsafe av_dict_free(&pointer)
  }
}
