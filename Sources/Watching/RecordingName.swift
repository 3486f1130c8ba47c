internal import Sidecars
internal import Inbox

/// What an arrived file is called from here on: its own name, made fit to be part of any path.
struct RecordingName: Hashable, Sendable {
  /// The name without its ending.
  let stem: String
  /// The ending with its dot; empty where there is none.
  let ending: String

  /// Takes a name that is fit already, and the recording's own ending.
  init(stem: String, endingOf name: FileName?) {
    self.stem = stem
    ending = RecordingName(name).ending
  }

  /// Cleans a name. Never fails: a name of which nothing is left becomes `recording`.
  init(_ name: FileName?) {
    guard let name else {
      (stem, ending) = ("recording", "")
      return
    }
    let bytes = name.bytes
    let stemBytes = name.stem
    stem = SafeName(String(decoding: stemBytes, as: UTF8.self))?.text ?? "recording"
    let rest = String(decoding: bytes.dropFirst(stemBytes.count + 1), as: UTF8.self)
    let isPlain = rest.utf8.allSatisfy {
      (0x30...0x39).contains($0) || (0x61...0x7a).contains($0 | 0x20)
    }
    ending = isPlain && (1...8).contains(rest.utf8.count) ? "." + rest : ""
  }

  /// The whole name, with something between stem and ending where it has to be told from others.
  func text(marked mark: String? = nil) -> String {
    stem + (mark.map { "-\($0)" } ?? "") + ending
  }

  /// The whole name as that of a file whose exports are to have all of the stem: whoever names
  /// exports takes away what follows the last dot, which must not be a part of the stem.
  func fileName(marked mark: String? = nil) -> String {
    text(marked: mark) + (ending.isEmpty && stem.contains(".") ? ".recording" : "")
  }
}

extension InboxPath {
  /// The folders around it, each made fit to be part of any path.
  var safeFolders: [String] {
    folder.names.map { SafeName(String(decoding: $0.bytes, as: UTF8.self))?.text ?? "folder" }
  }
}
