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
    kind: "transcript", revision: 3,
    summary: "Write words and their times as subtitles, text, JSON and other formats",
    discussion: """
      Every format comes from the same words. Subtitles (srt, vtt) are laid out anew: lines of at \
      most 42 characters, two a subtitle, broken at punctuation and never within a word, as long on \
      the screen as they take to read. The other formats keep the paragraphs of the text. Words \
      without times are given places between their neighbours where a format needs them. A file that \
      was edited stays as it is, also with --replace: the new one is written beside it, as \
      NAME.spool.srt. Words that were corrected with spool words edit are written as they were \
      corrected.
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
        "line-length", .integer(10...200), .defaulted("42"),
        "characters in a line of a subtitle, with the speaker's label"),
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
      let text = try format.write(transcript, in: layout, options)
      outputs[PortName(format.name)] = StepOutput(try context.store.keep(text, as: .file))
    }
    return outputs
  }

  func fileNames(of step: StepID, recordings: [String]) -> [String] {
    let stem = ExportName.fill(name, recording: recordings.first)
    return formats.map { stem + $0.fileEnding }
  }

  var stepsAside: Bool { true }

  func publish(_ context: PublishingContext) throws(SpoolError) -> [PublishedFile] {
    let stem = ExportName.fill(name, recording: context.names.first)
    var files: [PublishedFile] = []
    for format in formats {
      guard let artifact = context.outputs[PortName(format.name)]?.artifact else { continue }
      let place = CaptionPlace(stem, format.fileEnding, for: artifact, in: context)
      let name = place.name
      files.append(try context.publish(artifact, as: name))
      for stale in place.stale {
        guard (try? context.exportFolder.withdraw(place.path(stale), isReplacing: false)) != nil
        else { continue }
        context.warn("\(stale) was removed: \(name) has these words again")
      }
      if let why = place.reason(of: format) { context.warn(why) }
    }
    return files
  }
}

/// Where a file of words goes: to its usual name, or to another one beside it where that is taken by what
/// Spool did not write, as captions that were edited. Those stay, whatever may be replaced.
private struct CaptionPlace {
  let name: String
  private let usual: String
  private let artifact: Artifact
  private let context: PublishingContext

  init(_ stem: String, _ ending: String, for artifact: Artifact, in context: PublishingContext) {
    usual = stem + ending
    self.artifact = artifact
    self.context = context
    var name = usual
    var number = 0
    while Self.isForeign(name, to: artifact, in: context)
      || number > 0 && Self.isOfOthers(name, in: context)
    {
      number += 1
      name = Self.other(stem, number, ending)
    }
    self.name = name
    stale =
      number > 0
      ? []
      : Self.others(stem, ending, in: context).filter {
        context.exportFolder.byteCount(ofPublished: context.folder + "/" + $0) != nil
          && !Self.isForeign($0, to: artifact, in: context) && !Self.isOfOthers($0, in: context)
      }
  }

  /// The files beside it that are needed no more.
  let stale: [String]

  func path(_ name: String) -> String { context.folder + "/" + name }

  private static func other(_ stem: String, _ number: Int, _ ending: String) -> String {
    "\(stem).spool\(number == 1 ? "" : "-\(number)")\(ending)"
  }

  /// The names beside the usual one that are in use, without a gap.
  private static func others(
    _ stem: String, _ ending: String, in context: PublishingContext
  ) -> [String] {
    var names: [String] = []
    while case let name = other(stem, names.count + 1, ending),
      FilePath.exists(context.folder + "/" + name)
    {
      names.append(name)
    }
    return names
  }

  /// Whether a name is that of a file that the run reads, or that Spool did not write as it is.
  private static func isForeign(
    _ name: String, to artifact: Artifact, in context: PublishingContext
  ) -> Bool {
    let path = context.folder + "/" + name
    return context.exportFolder.isForeign(path, to: artifact.digest)
      || context.recordings.contains { context.exportFolder.isSameFile($0.path, path) }
  }

  /// Whether a name is that of an export that may not be replaced. One of the same file, which had
  /// another sound then, may be where files are replaced.
  private static func isOfOthers(_ name: String, in context: PublishingContext) -> Bool {
    let path = context.folder + "/" + name
    let source = ExportSource(context.recording)
    guard (try? context.exportFolder.refusal(toReplace: path, with: source)) != nil else {
      return false
    }
    let earlier = try? context.exportFolder.recording(ofPublished: path)
    return !context.isReplacing || earlier?.path != context.recording?.path
  }

  /// Why the file has another name than the usual one; nil if it has not.
  func reason(of format: TranscriptFormat) -> String? {
    guard name != usual else { return nil }
    if context.recordings.contains(where: {
      context.exportFolder.isSameFile($0.path, path(usual))
    }) {
      return "\(usual) is what the run has read: it stays as it is, and the words are in \(name)"
    }
    guard Self.isTranscript(path(usual)) else {
      return "\(usual) is no transcript: it stays as it is, and the words are in \(name)"
    }
    let anew = "deleted or moved, \(usual) is written again"
    if let hasSameTimes = sameWords(as: format) {
      let times = hasSameTimes ? "" : ", but at other times: it does not fit the new sound"
      return
        "\(usual) was edited, and has the same words\(times): it stays as it is, and the new file "
        + "is \(name); \(anew)"
    }
    let recording = context.recording.map { ShellWords.line([$0.path]) } ?? "RECORDING"
    let edited = ShellWords.line([path(usual)])
    return
      "\(usual) was edited, or Spool did not write it: it stays as it is, and the new words are "
      + "in \(name); \(anew); to take its words in: "
      + "\(command: .wordsEdit) \(recording) \(option: .from) \(edited)"
  }

  /// Whether the file in the usual place, which has the words of the new one, has their times too, as far
  /// as both have any; nil if it has other words.
  private func sameWords(as format: TranscriptFormat) -> Bool? {
    func transcript(_ path: String?) -> Transcript? {
      guard let path, let bytes = try? FileOperations.system.bytes(following: path) else {
        return nil
      }
      return try? format.read(bytes)
    }
    guard let own = transcript(path(usual)),
      let new = transcript(try? context.store.path(of: artifact)),
      own.words.map(\.text) == new.words.map(\.text)
    else { return nil }
    func differ(_ one: Double?, _ other: Double?, by limit: Double) -> Bool {
      guard let one, let other else { return false }
      return abs(one - other) > limit
    }
    // One caption may have been moved by hand; how long it stays is a matter of taste.
    let (owns, news) = (own.captionStarts, new.captionStarts)
    let shared = owns.keys.filter { news[$0] != nil }.sorted()
    let moved = shared.filter { differ(owns[$0], news[$0], by: 0.3) }
    return ![shared.first, shared.last].contains { $0.map(moved.contains) == true }
      && moved.count * 4 <= shared.count
      && !differ(own.segments.last?.knownEnd, new.segments.last?.knownEnd, by: 1.5)
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
}

extension Transcript {
  /// When captions begin, by how many words are before them.
  fileprivate var captionStarts: [Int: Double] {
    var (starts, count): ([Int: Double], Int) = ([:], 0)
    for segment in segments {
      starts[count] = segment.knownStart
      count += segment.words.count
    }
    return starts
  }
}
