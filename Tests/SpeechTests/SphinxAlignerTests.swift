import Foundation
import Platform
@testable import Speech
import TestSupport
import Testing

@Suite("Words that libpocketsphinx places") struct SphinxAlignerTests {
  @Test("a dictionary that is none, or too long for one, is refused before it is read")
  func dictionaries() throws {
    let folder = try ScratchFolder()
    let long = try folder.write("", to: "long.dict")
    // A file with a hole takes no room.
    try #require(unsafe truncate(long, off_t(AcousticModel.longestDictionary) + 1) == 0)
    for (path, reason) in [(long, "longer than 128 MB"), ("/dev/zero", "it is a device")] {
      let model = AcousticModel(
        folder: AcousticModel.english.folder, dictionary: path, languageModel: nil)
      let error = #expect(throws: SpoolError.self) {
        try SphinxEngine(model).lexicon(of: ["quick"])
      }
      #expect(error?.message.contains(path) == true)
      #expect(error?.reason?.contains(reason) == true, "\(path): \(String(describing: error))")
    }
  }

  @Test("do not depend on what was heard before, also with a model that carries its mean on")
  func order() throws {
    let folder = try ScratchFolder()
    let english = AcousticModel.english
    for name in try FileManager.default.contentsOfDirectory(atPath: english.folder) {
      try FileManager.default.createSymbolicLink(
        atPath: folder.file(name), withDestinationPath: english.folder + "/" + name)
    }
    let settings = try String(contentsOfFile: folder.file("feat.params"), encoding: .utf8)
    #expect(settings.contains("-cmn batch"))
    try FileManager.default.removeItem(atPath: folder.file("feat.params"))
    try settings.replacingOccurrences(of: "-cmn batch", with: "-cmn prior")
      .write(toFile: folder.file("feat.params"), atomically: true, encoding: .utf8)
    let model = AcousticModel(
      folder: folder.path, dictionary: english.dictionary, languageModel: nil)

    let words = ["quick", "brown", "fox"].map { SpokenWord($0) }
    let sound = try SpeechSamples.spoken("quick brown fox")
    let other = sound.map { $0 / 8 }
    let lexicon = try SphinxEngine(model).lexicon(of: ["quick", "brown", "fox"])
    let error = #expect(throws: SpoolError.self) {
      try SphinxEngine(model).makeAligner(lexicon)
    }
    #expect(error?.message.hasSuffix(folder.file("feat.params")) == true)
    #expect(error?.advice?.hasPrefix("set engine: pocketsphinx") == true)
    let aligner = try SphinxEngine(model, usesLibrary: true).makeAligner(lexicon)
    for isExact in [true, false] {
      let first = try aligner.align(words, in: sound.span, isExact: isExact)
      _ = try aligner.align(words, in: other.span, isExact: isExact)
      #expect(try aligner.align(words, in: sound.span, isExact: isExact) == first)
      #expect(first?.count == 3)
    }
    let score = try aligner.scores(of: [words], in: sound.span)
    _ = try aligner.scores(of: [words], in: other.span)
    #expect(try aligner.scores(of: [words], in: sound.span) == score)
  }
}
