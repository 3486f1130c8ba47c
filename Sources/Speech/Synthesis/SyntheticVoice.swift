import CEspeak
import CSpeechLoader
package import Platform

/// A voice of libespeak-ng and what it speaks.
package struct SyntheticVoice: Hashable, Sendable {
  /// The name by which the library knows it: the file in which it is described.
  package let name: String
  /// Its languages in lower case, `de` or `pt-br`, each with a number: lower ones come first.
  let languages: [(tag: String, order: Int)]

  /// Two with the same name are the same.
  package static func == (a: SyntheticVoice, b: SyntheticVoice) -> Bool { a.name == b.name }
  /// By the name.
  package func hash(into hasher: inout Hasher) { hasher.combine(name) }

  /// The voice that speaks a language best: the language itself, else the one of which it is a
  /// variety (`de` for `de-CH`), else the language's first variety (`fr-fr` for `fr`).
  ///
  /// - Parameter language: a tag of BCP 47, in any case.
  package static func speaking(_ language: String) throws(SpoolError) -> SyntheticVoice {
    let voices = try Espeak.shared().voices()
    var parts = language.lowercased().split(whereSeparator: { $0 == "-" || $0 == "_" })
    while !parts.isEmpty {
      let tag = parts.joined(separator: "-")
      if let voice = best(voices, where: { $0 == tag })
        ?? best(voices, where: { $0.hasPrefix(tag + "-") })
      {
        return voice
      }
      parts.removeLast()
    }
    throw SpoolError(
      "cannot speak the language \(language)", reason: "libespeak-ng has no voice for it",
      advice: "espeak-ng \(option: "voices") lists the languages; or name a model and a dictionary")
  }

  private static func best(
    _ voices: [SyntheticVoice], where isWanted: (String) -> Bool
  ) -> SyntheticVoice? {
    voices.compactMap { voice in
      voice.languages.filter { isWanted($0.tag) }.map(\.order).min().map { (voice, $0) }
    }.min { ($0.1, $0.0.name) < ($1.1, $1.0.name) }?.0
  }

  /// The library's voices; its turn is taken. Those for MBROLA need another program, and are left out.
  static func all() -> [SyntheticVoice] {
    guard var voice = unsafe espeak_ListVoices(nil) else { return [] }
    var voices: [SyntheticVoice] = []
    while let description = unsafe voice.pointee {
      if let name = unsafe description.pointee.identifier.flatMap({
        unsafe String(validatingCString: $0)
      }), !name.hasPrefix("mb/"), let list = unsafe description.pointee.languages {
        voices.append(SyntheticVoice(name: name, languages: unsafe languages(in: list)))
      }
      unsafe voice += 1
    }
    return voices
  }

  /// A list of the library: a byte, which is the order, and the language as text, until the byte
  /// is 0.
  @unsafe private static func languages(
    in list: UnsafePointer<CChar>
  ) -> [(tag: String, order: Int)] {
    var languages: [(tag: String, order: Int)] = []
    var place = unsafe list
    while unsafe place.pointee != 0 {
      let tag = unsafe String(cString: place + 1)
      unsafe languages.append((tag.lowercased(), Int(UInt8(bitPattern: place.pointee))))
      unsafe place += tag.utf8.count + 2
    }
    return languages
  }
}
