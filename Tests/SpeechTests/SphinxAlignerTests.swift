import Foundation
@testable import Speech
import TestSupport
import Testing

@Suite("Words that libpocketsphinx places") struct SphinxAlignerTests {
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
    let error = #expect(throws: SpeechError.self) {
      try SphinxEngine(model).makeAligner(lexicon, isJudging: true)
    }
    #expect(error?.subject == folder.file("feat.params") && error?.doing == .ownModel)
    _ = try SphinxEngine(model, usesLibrary: true).makeAligner(lexicon, isJudging: true)
    let aligner = try SphinxAligner(
      model, lexicon: lexicon, SphinxSettings(beam: 1e-120, scoresEverySound: true))
    let first = try aligner.align(words, in: sound.span)
    _ = try aligner.align(words, in: other.span)
    let again = try aligner.align(words, in: sound.span)
    #expect(first?.words == again?.words && first?.score == again?.score)
    #expect(first?.words.count == 3)
  }
}
