import Glibc

/// The sounds of a language as a recogniser knows them: files of CMU Sphinx.
public struct AcousticModel: Hashable, Sendable {
  /// The folder of the sounds: `mdef`, `means`, `variances` and so on.
  public let folder: String
  /// The pronunciations of known words, in the form of cmudict.
  public let dictionary: String
  /// How likely words follow each other; nil where recognition is not wanted.
  public let languageModel: String?

  /// Names the files of a model.
  public init(folder: String, dictionary: String, languageModel: String?) {
    self.folder = folder
    self.dictionary = dictionary
    self.languageModel = languageModel
  }

  /// Whether its files are there, before any of them is opened.
  /// - Throws: where one cannot be read; the folder is named before the dictionary.
  func check() throws(SpeechError) {
    for (path, part) in [(folder, "/mdef"), (dictionary, "")] {
      if unsafe access(path, R_OK) != 0 {
        throw SpeechError(.model, on: path, why: unsafe String(cString: strerror(errno)))
      }
      if !part.isEmpty, unsafe access(path + part, R_OK) != 0 {
        throw SpeechError(
          .model, on: path, why: "it has no mdef, as the folders of CMU Sphinx's models do")
      }
    }
  }

  /// US English, as Debian's package pocketsphinx-en-us installs it.
  public static let english = AcousticModel(
    folder: "/usr/share/pocketsphinx/model/en-us/en-us",
    dictionary: "/usr/share/pocketsphinx/model/en-us/cmudict-en-us.dict",
    languageModel: "/usr/share/pocketsphinx/model/en-us/en-us.lm.bin")
}
