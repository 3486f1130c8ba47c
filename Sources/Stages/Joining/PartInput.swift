import AudioModel
import PipelineModel

/// One part of a whole, and what can be told of it from its header.
struct PartInput {
  /// For messages: `part 2 (chorus.wav)`.
  let title: String
  /// What it is by itself; nil while nothing is known of it.
  let outline: SoundOutline?

  private let input: SoundInput

  /// Looks at a recording's header, or at kept sound.
  /// - Parameter number: counted from 1.
  init(_ input: SoundInput, number: Int) throws(StageError) {
    self.input = input
    switch input.origin {
    case .recording(let path):
      title = "part \(number) (\(path.split(separator: "/").last ?? ""))"
      outline = try PartInput.decode.outline(of: [input])
    case .kept(let sound):
      title = "part \(number)"
      outline = sound.outline
    case .awaited:
      title = "part \(number)"
      outline = nil
    }
  }

  /// Opens it, brought to a format.
  func open(as format: AudioFormat) throws(StageError) -> any SoundSource {
    let source: any SoundSource
    switch input.origin {
    case .recording: source = try PartInput.decode.open([input])
    case .kept(let sound): source = try sound.open()
    case .awaited: throw StageError("\(title) is not made yet")
    }
    guard let fitting = try SoundFitting(from: source.outline.format, to: format, of: title) else {
      return source
    }
    return FittedSource(source, fitting)
  }

  /// A part is decoded as the stage of that name does it.
  private static let decode = DecodeStage(
    DecodeStage.Parameters(sampleRate: nil, channels: nil, stream: nil, damaged: "refuse"))
}
