/// Names for files that leave the store. Whatever a recording is called, or says about itself,
/// ends up as one harmless name in the output folder.
package enum ExportName {
  /// The longest name in bytes, so that an extension and a temporary suffix still fit into 255.
  private static let maximumByteCount = 200

  /// A recording's name without folder and extension.
  package static func stem(of path: String?) -> String {
    let name = path?.split(separator: "/").last.map(String.init) ?? ""
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return safe(name) }
    return safe(String(name[..<dot]))
  }

  /// Fills a name template.
  package static func fill(_ template: String, recording: String?) -> String {
    var result = ""
    var rest = template[...]
    while let range = rest.firstRange(of: "{stem}") {
      result += rest[..<range.lowerBound] + stem(of: recording)
      rest = rest[range.upperBound...]
    }
    return safe(result + rest)
  }

  /// A name without separators, control characters or a leading dot, short enough for any file
  /// system.
  package static func safe(_ name: String) -> String {
    var result = ""
    for scalar in name.unicodeScalars {
      let isHarmless =
        scalar.value >= 0x20 && scalar.value != 0x7F && !"/\\\0".contains(Character(scalar))
      result.unicodeScalars.append(isHarmless ? scalar : "_")
    }
    while result.first == " " { result.removeFirst() }
    while result.last == " " { result.removeLast() }
    if result.first == "." || result.first == "-" { result = "_" + result.dropFirst() }
    while result.utf8.count > maximumByteCount { result.removeLast() }
    return result.isEmpty ? "recording" : result
  }
}
