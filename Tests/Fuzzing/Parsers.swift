@testable import Audio
@testable import Intake
@testable import Media
@testable import PipelineModel
@testable import Platform
@testable import Plugins
@testable import Proof
@testable import Search
@testable import SoundEngine
@testable import Store
@testable import Transcripts

/// Our own parsers of bytes that others wrote. Whatever they are given, they end, with a result or an
/// error; where a writer belongs to one, its output is read back.
enum Parsers {
  static let all: [(name: String, parse: @Sendable ([UInt8]) -> Void)] =
    [
      ("values", json), ("sidecar", sidecar), ("command", command), ("yaml", yaml),
      ("manifest", manifest), ("parameters", parameters), ("names", names), ("search", search),
      ("container", container), ("chunks", chunks), ("comments", comments), ("movie", movie),
      ("tag", tag), ("messages", messages), ("events", events), ("receipt", receipt),
      ("timestamp", timeStamp), ("bag", bag), ("journal", journal), ("correction", correction),
    ] + TranscriptFormat.all.map { format in (format.name, { transcript($0, format) }) }

  private static func json(_ bytes: [UInt8]) {
    for value in [
      try? JSONReader.value(of: bytes, depthLimit: 64).value,
      try? JSONReader.strictValue(of: bytes, depthLimit: 64),
    ] {
      guard let text = value?.canonical else { continue }
      let again = try? JSONReader.canonicalValue(of: Array(text.utf8), depthLimit: 64)
      require(again?.canonical == text, "what is written is read as the same")
    }
  }

  private static func sidecar(_ bytes: [UInt8]) {
    let sidecar = Sidecar(json: bytes)
    require(sidecar == Sidecar(json: bytes), "equal bytes are equal sidecars")
    for problem in sidecar.problems { _ = "\(problem)" }
    _ = (sidecar.settings, sidecar.isEmpty)
  }

  private static func command(_ bytes: [UInt8]) {
    guard let name = FileName("a.command.json") else { return }
    _ = try? CommandReading.command(json: bytes, name: name, pipeline: "a", fallbackTime: 0)
  }

  private static func yaml(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    let problems = [
      ParsedPipeline(bytes).problems, ParsedSession(bytes).problems, ParsedWatch(text).problems,
      ParsedSettings(text).problems,
    ]
    for problems in problems { _ = problems.excerpts(of: text, at: "a.yaml", isColored: true) }
  }

  private static func manifest(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    let manifest = ManifestText(text)
    _ = manifest.problems.excerpts(of: text, at: "plugin.yaml", isColored: false)
    for kind in manifest.manifest?.kinds ?? [] { _ = kind.descriptor(of: "a") }
    _ = ScriptLine(bytes)
  }

  /// Values as they stand in a pipeline or behind `--set`, in every type.
  private static func parameters(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    for unit in Unit.declarable {
      guard let value = try? unit.parse(text) else { continue }
      require(value.isFinite, "a value is a finite number")
      require((try? unit.parse(unit.format(value))) != nil, "a written value can be read")
    }
    _ = (DateTime(iso8601: text), Value(json: text))
    guard let root = YAMLDocument(bytes).root else { return }
    var resolver = ParameterResolver(owner: "a", folder: "/a")
    let types: [ParameterType] = [
      .number(.decibels, -80...20), .number(.seconds, 0...1e6), .integer(0...Int.max), .flag,
      .range(of: .number(.lufs, -80...0)), .choice(["a"]), .text(maximumLength: 200), .path,
      .command(maximumLength: 200), .fileName(fields: ["stem"]),
      .list(of: .number(.hertz, 0...1e6), count: 1...8), .named(.flag, maximumCount: 8),
    ]
    for type in types { _ = resolver.resolve(root, as: type, name: "b") }
  }

  private static func names(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    if let words = ShellWords.words(of: text) {
      require(ShellWords.words(of: ShellWords.line(words)) == words, "quoted words stay the same")
    }
    let halves = text.split(separator: "\n", maxSplits: 1).map(String.init)
    if let first = halves.first { _ = Glob(first)?.matches(halves.last ?? "") }
    _ = try? NameTemplate(text)
    for name in [ExportName.safe(text), ExportName.fill("{stem}-a", recording: text)] {
      require(!name.utf8.contains(UInt8(ascii: "/")) && name.utf8.count <= 255, "a name is one")
      require(![".", "-"].contains { name.utf8.starts(with: $0.utf8) }, "a name is no option")
    }
    _ = (PrintableText.fileName(text, byteLimit: 200), RecordingFile.bytes(escaped: text))
    _ = (FileName(bytes: bytes), WordsText.transcript(of: text))
  }

  private static func search(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    let arguments = text.split(separator: "\n").map(String.init)
    for distance in [nil, 5] { _ = try? SearchQuery(arguments, near: distance) }
  }

  private static func container(_ bytes: [UInt8]) {
    let path = Fuzzing.file(bytes)
    let extent = ContainerExtent(ofFileAt: path)
    require(extent == ContainerExtent(ofFileAt: path), "equal bytes are equally whole")
    guard let file = try? ContainerBytes(path: path) else { return }
    let range = file.streamRange
    require(range.lowerBound >= 0 && range.upperBound <= bytes.count, "a stream lies in its file")
    let places = [0, file.tagEnd(at: 0) ?? 0]
    for place in places {
      _ = (file.declaredMPEGEnd(from: place), file.encoderPadding(at: place))
      _ = file.beginsRecording(from: place, before: bytes.count)
    }
    _ = (file.cafSoundEnd, file.applicationBlocks("riff"))
    var pages = OggPages()
    for place in stride(from: 0, to: min(bytes.count, 2048), by: 97) {
      _ = pages.isRepeated(pageAt: place, in: file)
    }
    var strange = StrangeBytes()
    unsafe bytes.withUnsafeBytes { all in
      for start in stride(from: 0, to: all.count, by: 417) {
        let end = min(start + 417, all.count)
        let packet = unsafe UnsafeRawBufferPointer(rebasing: all[start..<end])
        strange.give(unsafe strange.gap(before: packet) ?? 1)
      }
    }
  }

  /// The metadata of WAV, Wave64, AIFF and CAF, and of such files that a FLAC file keeps.
  private static func chunks(_ bytes: [UInt8]) {
    let path = Fuzzing.file(bytes)
    if let samples = try? BroadcastWave.Samples.open(path) {
      let count = min(samples.frameCount, 16)
      _ = try? samples.bytes(samples.frameCount - count..<samples.frameCount)
    }
    guard let metadata = try? BroadcastMetadata(of: path) else { return }
    _ = (metadata.digest, metadata.cues?.detail, metadata.cues?.markers(at: Hertz(48_000)))
    _ = metadata.cues?.moved { $0.count % 2 == 0 ? $0 : nil }
    if let bext = metadata.bext, let again = BroadcastExtension(bext.bytes) {
      require(again.bytes == bext.bytes, "a written extension is read as the same")
    }
    if let cues = metadata.cues {
      let again = CuePoints(cues.cue, lists: cues.list.map { [Array($0.dropFirst(4))] } ?? [])
      // Labels in older encodings are written in UTF-8.
      require(
        again.cue == cues.cue && again.list == cues.list,
        "written cue points are read as the same")
    }
  }

  private static func comments(_ bytes: [UInt8]) {
    let path = Fuzzing.file(bytes)
    guard let file = try? ContainerBytes(path: path), let comments = VorbisComments(file) else {
      return
    }
    _ = comments.commentAndDescription
    let several = comments.severalValues
    let draft = VorbisComments.draft(
      of: several.mapValues(VorbisComments.joined), severalValues: several)
    try? VorbisComments.name(draft.names, inFileAt: path)
  }

  private static func movie(_ bytes: [UInt8]) {
    func box(_ name: String, _ content: [UInt8]) -> [UInt8] {
      (8 + content.count).bigEndianBytes(4) + Array(name.utf8) + content
    }
    let header = box("mvhd", [UInt8](repeating: 0, count: 100))
    let model = box("moov", header + box("udta", Array("tags".utf8)))
    _ = Fuzzing.file(model, named: "tagged.m4a")
    guard let movie = try? TaggedMovie.open(Fuzzing.file(bytes)) else { return }
    _ = (movie.duration, movie.timeScale)
    _ = try? movie.write(to: "tagged.m4a", language: "deu", isDigestWanted: false)
  }

  private static func tag(_ bytes: [UInt8]) {
    let tag = ID3Tag.corrected(bytes, isTimeWithoutZone: true)
    require(ID3Tag.corrected(tag, isTimeWithoutZone: true) == tag, "a corrected tag stays as it is")
    guard let cover = CoverArt(bytes: bytes) else { return }
    _ = (cover.size, cover.obstacle)
  }

  private static func messages(_ bytes: [UInt8]) {
    let file = Fuzzing.file(bytes)
    guard let input = try? OpenFile(path: file, 0) else { return }
    var buffer = MessageBuffer()
    do {
      while true {
        while try buffer.next() != nil {}
        guard buffer.fill(from: input.descriptor) > 0 else { break }
      }
      _ = buffer.rest
    } catch {}
  }

  private static func events(_ bytes: [UInt8]) {
    var folders = WatchedFolders()
    for record in Inotify.Record.records(in: bytes[...]) { _ = folders.event(of: record) }
  }

  private static func receipt(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    if let receipt = ReceiptFile(bytes, at: "/a/a.receipt.json") {
      _ = (receipt.files, receipt.day, receipt.pipelineDigest)
    }
    if let envelope = try? Envelope(bytes) {
      require(Array(envelope.text.utf8) == bytes, "an envelope has one form")
    }
    if let value = try? JSONReader.signedValue(of: bytes) {
      _ = ReceiptForm.frame.flaw(in: value)
    }
    _ = try? TreeHead(text, at: "/a", keys: [])
    _ = (Withdrawal(text, keys: []), SampleTree(fileBytes: bytes), try? Quote(bytes))
    _ = VerifyingKey(pem: text)
  }

  private static func timeStamp(_ bytes: [UInt8]) {
    _ = try? TrustedCertificates(bytes, from: "a.pem")
    guard let certificates = authority else { return }
    let digest = SHA256.digest(of: "a")
    _ = try? TimeStampReply(bytes).verified(for: digest, by: certificates)
  }

  /// A certificate that is valid, and signed nothing.
  private static let authority = try? TrustedCertificates(at: "/etc/ssl/certs/ca-certificates.crt")

  private static func bag(_ bytes: [UInt8]) {
    for name in ["manifest-sha256.txt", "tagmanifest-sha512.txt", "fetch.txt"] {
      _ = Fuzzing.file(bytes, named: name)
    }
    _ = BagLists(".")
    let path = String(decoding: bytes, as: UTF8.self)
    require(Bag.decoded(Bag.encoded(path).utf8) == Array(path.utf8), "an encoded path is decoded")
  }

  private static func journal(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    if var state = try? PassState(jsonText: text) { state.prune(to: 16, byteLimit: 4096) }
    _ = try? RunRecord(jsonText: text)
  }

  /// A transcript, and behind a line of `===` its edited text.
  private static func correction(_ bytes: [UInt8]) {
    let texts = String(decoding: bytes, as: UTF8.self).split(separator: "===", maxSplits: 1)
    guard texts.count == 2 else { return }
    var transcript = WordsText.transcript(of: String(texts[0]))
    transcript.words = transcript.words.enumerated().map { index, word in
      TimedWord(word.text, start: Double(index), end: Double(index) + 1)
    }
    let edited = WordsText.transcript(of: String(texts[1]))
    let words = edited.words.map(\.text)
    for starts in [nil, edited.turnStarts] {
      let changes = Correction.changes(from: transcript, to: words, starts: starts)
      let correction = Correction(author: "a", time: "2026-01-01T00:00:00Z", changes: changes)
      let corrected = CorrectedTranscript(transcript, with: [correction]).transcript
      require(corrected.words.map(\.text) == words, "a correction makes the edited text")
    }
  }

  private static func transcript(_ bytes: [UInt8], _ format: TranscriptFormat) {
    _ = try? TranscriptFormat.recognised(in: bytes)
    guard let transcript = try? format.read(bytes, pieceLimit: 20_000) else { return }
    for word in transcript.words {
      let times = [word.start, word.end].compactMap(\.self)
      require(times.allSatisfy { $0.isFinite && $0 >= 0 }, "times are those of a recording")
      require(times == times.sorted(), "nothing ends before it starts")
    }
    let timed = transcript.interpolatingUntimed
    _ = SubtitleLayout().subtitles(of: timed)
    guard let text = try? format.write(timed) else { return }
    require((try? format.read(Array(text.utf8))) != nil, "a written transcript can be read")
  }
}
