import PipelineModel
import Platform
@testable import Store
import Testing

@Suite("What holds the words of a recording follows from what was made of what")
struct KeptWordsTests {
  /// A derivation of named things: those that begin with `sound`, `words`, `moves` or `file` are of these
  /// kinds.
  private func make(_ outputs: [String], of inputs: [String: String]) -> Derivation {
    var made: [PortName: StepOutput] = [:]
    for name in outputs {
      let kind: ArtifactKind =
        name.hasPrefix("sound")
        ? .sound
        : name.hasPrefix("words") ? .transcript : name.hasPrefix("moves") ? .measurement : .file
      made[PortName(name)] = StepOutput(kind: kind, identity: digest(name))
    }
    return Derivation(
      key: nil,
      inputs: Dictionary(
        uniqueKeysWithValues: inputs.map { (PortName($0.key), digest($0.value)) }),
      outputs: made)
  }

  private func digest(_ name: String) -> Digest { SHA256.digest(of: name) }

  private func names(_ recordings: String..., among all: [Derivation]) -> Set<String> {
    Set(
      Derivation.ofWords(of: recordings.map { [digest($0)] }, among: all)
        .flatMap { $0.outputs.keys.map(\.name) })
  }

  @Test("transcripts of its sound, and what was made of them; sound and its exports stay")
  func chain() {
    let all = [
      make(["sound"], of: ["in": "talk"]), make(["words"], of: ["sound": "sound"]),
      make(["sound cut"], of: ["sound": "sound"]),
      make(["words moved"], of: ["transcript": "words", "changes.1": "sound cut"]),
      make(["file srt"], of: ["transcript": "words moved"]),
      make(["file page"], of: ["from": "file srt"]),
      make(["file wav"], of: ["sound": "sound cut"]),
    ]
    #expect(names("talk", among: all) == ["words", "words moved", "file srt", "file page"])
  }

  @Test("a text that was given for it alone counts, and one of another recording too does not")
  func given() {
    let first = [
      make(["sound 1"], of: ["in": "one"]),
      make(["words 1"], of: ["sound": "sound 1", "transcript": "text"]),
      make(["file srt"], of: ["transcript": "text"]),
    ]
    #expect(names("one", among: first) == ["words 1", "file srt"])
    let second = [
      make(["sound 2"], of: ["in": "two"]),
      make(["words 2"], of: ["sound": "sound 2", "transcript": "text"]),
    ]
    #expect(names("one", among: first + second) == ["words 1"])
    #expect(names("two", among: first + second) == ["words 2"])
  }

  @Test("the words of a mix are those of each of its recordings, but not their own words")
  func mix() {
    let all = [
      make(["sound 1"], of: ["in": "one"]), make(["sound 2"], of: ["in": "two"]),
      make(["sound mix"], of: ["a": "sound 1", "b": "sound 2"]),
      make(["words mix"], of: ["sound": "sound mix"]),
      make(["words 2"], of: ["sound": "sound 2"]),
    ]
    #expect(names("one", among: all) == ["words mix"])
    #expect(names("two", among: all) == ["words mix", "words 2"])
    #expect(names("one", "two", among: all) == ["words mix"])
    #expect(names("one", "three", among: all) == [])
  }

  @Test(
    "words that were moved to where the sounds of several were joined are those of one recording")
  func joined() {
    let all = [
      make(["sound 1"], of: ["in": "one"]), make(["sound 2"], of: ["in": "two"]),
      make(["words 1"], of: ["sound": "sound 1"]), make(["words 2"], of: ["sound": "sound 2"]),
      make(["sound whole", "moves"], of: ["parts.1": "sound 1", "parts.2": "sound 2"]),
      make(["words moved 1"], of: ["transcript": "words 1", "changes.1": "moves"]),
      make(["words moved 2"], of: ["transcript": "words 2", "changes.1": "moves"]),
      make(["file 1"], of: ["transcript": "words moved 1"]),
    ]
    #expect(names("one", among: all) == ["words 1", "words moved 1", "file 1"])
    #expect(names("two", among: all) == ["words 2", "words moved 2"])
  }
}
