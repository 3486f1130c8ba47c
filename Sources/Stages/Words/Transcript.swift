import PipelineEngine
import PipelineModel
import Platform
import SoundEngine
import Transcripts

/// `transcript`: writes words and their times as files.
struct TranscriptStage: DeclaredStage, WholeStage, PublishingStage {
  struct Parameters: Codable, Sendable {
    let formats: [String]?
    let words: Bool
    let speakers: Bool
    let lineLength: Int
    let lines: Int
    let readingSpeed: Int
    let name: String
  }

  static let descriptor = StageDescriptor(
    kind: "transcript", revision: 2,
    summary: "Write words and their times as subtitles, text, JSON and other formats",
    discussion: """
      Every format comes from the same words. Subtitles (srt, vtt) are laid out anew: lines of at \
      most 42 characters, two a subtitle, broken at punctuation and never within a word, as long on \
      the screen as they take to read. The other formats keep the paragraphs of the text. Words \
      without times are given places between their neighbours where a format needs them. A file that \
      was edited stays as it is: the new one is written beside it, as NAME.spool.srt. Words that \
      were corrected with spool words edit are written as they were corrected.
      """,
    flow: .whole,
    inputs: [Port(.transcript, .transcript, "the words", intake: .both)],
    outputs: TranscriptFormat.all.map {
      Port(PortName($0.name), .file, "the \($0.name) file, where it is asked for")
    },
    parameters: [
      ParameterDescriptor(
        "formats",
        .list(
          of: .choice(TranscriptFormat.all.map(\.name)), count: 1...TranscriptFormat.all.count),
        .optional, "the files to write; without it json, srt and vtt"),
      ParameterDescriptor(
        "words", .flag, .defaulted("true"), "whether words have their own times, where that goes"),
      ParameterDescriptor(
        "speakers", .flag, .defaulted("true"), "whether it is said who speaks"),
      ParameterDescriptor(
        "line-length", .integer(10...200), .defaulted("42"), "characters in a line of a subtitle"),
      ParameterDescriptor(
        "lines", .integer(1...4), .defaulted("2"), "lines of a subtitle"),
      ParameterDescriptor(
        "reading-speed", .integer(5...100), .defaulted("20"),
        "characters of a subtitle that are read in a second"),
      ParameterDescriptor(
        "name", .fileName(fields: ["stem"]), .defaulted("{stem}"),
        "the files' name; {stem} is the recording's", isInKey: false),
    ],
    shorthand: "formats")

  private let formats: [TranscriptFormat]
  private let options: WritingOptions
  private let layout: SubtitleLayout
  private let name: String

  init(_ parameters: Parameters) throws(SpoolError) {
    var formats: [TranscriptFormat] = []
    for word in parameters.formats ?? ["json", "srt", "vtt"] {
      guard let format = TranscriptFormat(named: word) else {
        throw SpoolError("transcript knows no format \(word)")
      }
      if !formats.contains(format) { formats.append(format) }
    }
    self.formats = formats
    options = WritingOptions(
      hasWordTimes: parameters.words, namesSpeakers: parameters.speakers)
    var layout = SubtitleLayout()
    layout.lineLength = parameters.lineLength
    layout.lineCount = parameters.lines
    layout.charactersPerSecond = Double(parameters.readingSpeed)
    self.layout = layout
    name = parameters.name
  }

  var correctedInput: PortName? { .transcript }

  func run(_ context: StageContext) throws(SpoolError) -> [PortName: StepOutput] {
    let transcript = try TranscriptFile.read(
      context.inputs[.corrected] == nil ? .transcript : .corrected, of: context)
    var outputs: [PortName: StepOutput] = [:]
    for format in formats {
      let shape =
        format.isSubtitles
        ? layout.subtitles(of: transcript)
        : format.needsTimes ? transcript.interpolatingUntimed : transcript
      let text = try format.write(shape.rounded, options)
      outputs[PortName(format.name)] = StepOutput(try context.store.keep(text, as: .file))
    }
    return outputs
  }

  func fileNames(of step: StepID, recordings: [String]) -> [String] {
    let stem = ExportName.fill(name, recording: recordings.first)
    return formats.map { stem + $0.fileEnding }
  }

  func publish(_ context: PublishingContext) throws(SpoolError) -> [PublishedFile] {
    let stem = ExportName.fill(name, recording: context.names.first)
    var files: [PublishedFile] = []
    for format in formats {
      guard let artifact = context.outputs[PortName(format.name)]?.artifact else { continue }
      let name = freeName(stem, format.fileEnding, for: artifact, in: context)
      files.append(try context.publish(artifact, as: name))
    }
    return files
  }

  /// The name of a file, or another beside it where an edited file is: it stays, and
  /// stops no run. What is no transcript, as the description of a recording, stays even where files are
  /// replaced.
  private func freeName(
    _ stem: String, _ ending: String, for artifact: Artifact, in context: PublishingContext
  ) -> String {
    let usual = stem + ending
    func isTaken(_ name: String) -> Bool {
      context.exportFolder.isForeign(context.folder + "/" + name, to: artifact.digest)
    }
    guard isTaken(usual) else { return usual }
    let isTranscript = Self.isTranscript(context.folder + "/" + usual)
    if context.isReplacing, isTranscript { return usual }
    let others = (1...Self.otherNames).map { "\(stem).spool\($0 == 1 ? "" : "-\($0)")\(ending)" }
    guard let free = others.first(where: { context.isReplacing || !isTaken($0) }) else {
      return usual
    }
    context.warn(
      isTranscript
        ? "\(usual) was edited, or Spool did not write it: it stays as it is, and the new words are "
          + "in \(free); \(command: .wordsEdit) RECORDING \(option: .from) \(usual) takes its "
          + "words in"
        : "\(usual) is no transcript: it stays as it is, and the words are in \(free)")
    return free
  }

  /// Whether a file may be replaced by words: it is no JSON, or JSON that has words.
  private static func isTranscript(_ path: String) -> Bool {
    guard path.lowercased().hasSuffix(".json"),
      let bytes = try? FileOperations.system.bytes(following: path)
    else { return true }
    return TranscriptFormat.all.contains {
      $0.isUsual(for: path) && (try? $0.read(bytes))?.words.isEmpty == false
    }
  }

  /// So many edited files may lie beside each other.
  private static let otherNames = 9
}
