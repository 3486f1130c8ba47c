import PipelineModel
import Platform
import Search
import Store
import Transcripts

/// A recording whose words a user names: by its file, by a run, or by a stage of a run.
struct NamedRecording {
  /// The digests of the files of its sound, that of the named one first; of several recordings, those
  /// of the whole that they make.
  let recordings: [Digest]
  /// The digests of the files of its sound, for each of the recordings that it was made of: usually one.
  let parts: [[Digest]]
  /// Its files: as they were named, or where they are now, or where they were when they were run.
  let paths: [String]
  /// The words that are meant, the best first; empty if there are none.
  private var found: [Found]
  /// Whether a run was named: its words are shown where it has moved them.
  private let isRun: Bool
  /// The commands that find its words, where its file alone does not do; nil elsewhere.
  var wayToWords: String?

  private typealias Found = (run: RunRecord, told: RunRecord.ToldTranscript)

  var path: String { paths.joined(separator: " + ") }
  var name: String { paths.recordingName }

  /// The words whose corrections count, whatever recording they are kept under; nil if only those of
  /// the recording do.
  var correctedTranscript: Digest? { found.first?.told.correctedTranscript }

  /// The words of the recording that count.
  func words(in store: DiskStore) throws(SpoolError) -> RecordingWords {
    guard let best = found.first else {
      if TranscriptFormat.all.contains(where: { $0.isUsual(for: path) }) {
        throw .usage(
          "\(path) is no recording", reason: "by its name it is a text",
          advice: "name the recording whose words they are")
      }
      throw SpoolError(
        "there are no words of \(name)", reason: "no run has found any, or they are not kept",
        advice: wayToWords ?? "spool run words \(ShellWords.line([path]))")
    }
    return try RecordingWords(
      best.told, of: best.run, recordings: recordings, paths: paths, isMoved: isRun, in: store)
  }

  /// The same recording, of whose words those of a run come first.
  func preferring(_ run: RunRecord?) -> NamedRecording {
    var recording = self
    recording.found = found.withFirst { $0.run.id == run?.id }
    return recording
  }

  /// The words that an edited text was most likely made of: those that are shown, or the same ones where
  /// they were heard, or where a run has moved them.
  func words(
    behind edited: Transcript, in store: DiskStore
  ) throws(SpoolError) -> (words: RecordingWords, changes: [WordChange]) {
    let shown = try words(in: store)
    let heard = shown.told.heard.artifact.digest
    var ways: [TimelineMap?] = [nil]
    for (_, told) in found where told.heard.artifact.digest == heard {
      if let way = told.moved?.by, !ways.contains(way) { ways.append(way) }
    }
    func hasTimes(of words: RecordingWords) -> Bool {
      !Correction.ignored(in: edited, over: words.transcript).times
    }
    var best = (words: shown, changes: shown.changes(to: edited))
    for way in ways {
      let other = shown.moved(by: way)
      let changes = other.changes(to: edited)
      let isCloser =
        changes.wordCount == best.changes.wordCount
        ? !hasTimes(of: best.words) && hasTimes(of: other)
        : changes.wordCount < best.changes.wordCount
      if isCloser { best = (other, changes) }
    }
    return best
  }
}

extension Sequence {
  /// The elements, those first that something is true of, both in their order. O(n).
  func withFirst(where isFirst: (Element) -> Bool) -> [Element] {
    filter(isFirst) + filter { !isFirst($0) }
  }
}

extension [WordChange] {
  /// How many words differ.
  fileprivate var wordCount: Int {
    reduce(0) { $0 + Swift.max($1.removed.count, $1.inserted.count) }
  }

  /// How many words have nothing in their place.
  var deletedWordCount: Int {
    reduce(0) { $0 + Swift.max(0, $1.removed.count - $1.inserted.count) }
  }

  /// How many words take the place of none.
  var addedWordCount: Int {
    reduce(0) { $0 + Swift.max(0, $1.inserted.count - $1.removed.count) }
  }

  /// Says how many of them take earlier corrections back, as those of a text from before; nil for none.
  func takenBack(from corrections: [Correction]) -> String? {
    let earlier = corrections.flatMap(\.changes)
    let count = count { change in
      earlier.contains { $0.inserted == change.removed && $0.removed == change.inserted }
    }
    if count == 0 { return nil }
    return "note:  \(count) of these \(count == 1 ? "takes" : "take") an earlier correction back, "
      + "which the text does not have"
  }

  /// `2 places, 3 words added`
  var summary: String {
    let counts = [(deletedWordCount, "deleted"), (addedWordCount, "added")].filter { $0.0 > 0 }
    return ([Count.of(count, "place")] + counts.map { "\(Count.of($0, "word")) \($1)" })
      .joined(separator: ", ")
  }
}

extension NamedRecording {
  /// The recording of a file: of its words, aligned ones come before recognised ones, and then the
  /// newest, with the times of the recording itself. Without words of its own, it is the whole that a
  /// run has made of it and others.
  init(file path: String, in store: DiskStore) throws(SpoolError) {
    try self.init(store.digest(ofFile: path), at: path, in: store)
  }

  /// The same of a recording whose file may be gone.
  init(_ digest: Digest, at path: String, in store: DiskStore) throws(SpoolError) {
    let recordings = try store.recordings(likeThat: digest)
    var own: [Found] = []
    var wholes: [[Found]] = []
    var owner: String?
    for run in try store.runs.mentioning(recordings) where run.state == .done {
      for told in try run.keptTranscripts(in: store).reversed() {
        if !told.inputs.contains(where: { run.recordings?[$0].map(recordings.contains) == true }) {
          if run.isText(digest) { owner = owner ?? told.inputs.first.flatMap { run.inputs[$0] } }
        } else if !told.isOfWhole {
          own.append((run, told))
        } else if let place = wholes.firstIndex(where: { $0.first?.told.sound == told.sound }) {
          wholes[place].append((run, told))
        } else {
          wholes.append([(run, told)])
        }
      }
    }
    if own.isEmpty, let whole = wholes.first {
      guard wholes.count == 1 else { throw Self.ambiguous(path, wholes) }
      let found = Self.inOrder(whole)
      try self.init(found[0].told, of: found[0].run, found: found, isRun: false, in: store)
      return
    }
    if own.isEmpty, let owner {
      throw .usage(
        "\(path) is no recording", reason: "it is a text of \(owner)",
        advice: "name the recording: \(ShellWords.line([owner]))")
    }
    self.init(
      recordings: recordings, parts: [recordings], paths: [path], found: Self.inOrder(own),
      isRun: false)
  }

  /// The recording of words that a run has found.
  private init(
    _ told: RunRecord.ToldTranscript, of run: RunRecord, found: [Found], isRun: Bool,
    in store: DiskStore
  ) throws(SpoolError) {
    let parts = try store.parts(told.inputs, of: run)
    self.init(
      recordings: told.isOfWhole ? try store.wholes(likeThat: told, of: run) : parts[0],
      parts: parts, paths: try store.places(of: told.inputs, in: run), found: found, isRun: isRun)
  }

  /// Aligned words come before recognised ones.
  private static func inOrder(_ found: [Found]) -> [Found] {
    found.withFirst(where: \.told.isAligned)
  }

  private static func ambiguous(_ path: String, _ wholes: [[Found]]) -> SpoolError {
    let names = wholes.prefix(3).compactMap(\.first).map { found in
      "\(found.told.inputs.compactMap { found.run.inputs[$0] }.recordingName) of run \(found.run.id), "
        + Format.time(found.run.startedAt)
    }
    let rest = wholes.count - names.count
    return .usage(
      "\(path) is part of several recordings with words",
      reason: (names + (rest > 0 ? ["\(rest) more"] : [])).joined(separator: "; "),
      advice: "name one of these runs, or a recording that only one of them has")
  }

  /// The recording of a run's words.
  /// - Parameter stage: the stage whose words are meant; nil for the run's result.
  init(_ run: RunRecord, stage: String?, in store: DiskStore) throws(SpoolError) {
    let told = try run.keptTranscripts(of: stage.map { StepID($0) }, in: store)
    guard let best = told.last(where: \.isAligned) ?? told.last, let digest = best.recording else {
      throw try Self.wordless(run, stage, in: store)
    }
    let others = told.filter { $0.recording == digest && $0.result.step != best.result.step }
    let found = [(run, best)] + others.map { (run, $0) }
    try self.init(best, of: run, found: found, isRun: true, in: store)
  }

  /// The recording of a run, which may have no words any more: that of its words, or else its sounds.
  init(wordlessRun run: RunRecord, in store: DiskStore) throws(SpoolError) {
    let told = try run.transcripts(in: store)
    if let best = told.last(where: \.isAligned) ?? told.last, best.recording != nil {
      try self.init(best, of: run, found: [], isRun: true, in: store)
      return
    }
    let inputs = run.orderedInputs.map(\.name).filter { input in
      guard let recording = run.recordings?[input] else { return false }
      return run.soundInputs?.contains(input) ?? !run.sounds(of: recording).isEmpty
    }
    guard !inputs.isEmpty else {
      throw SpoolError(
        "there is no recording in run \(run.id)", reason: "it has not read any sound",
        advice: "name the recording's file")
    }
    let parts = try store.parts(inputs, of: run)
    self.init(
      recordings: parts.count == 1 ? parts[0] : [], parts: parts,
      paths: try store.places(of: inputs, in: run), found: [], isRun: true)
  }

  private static func wordless(
    _ run: RunRecord, _ stage: String?, in store: DiskStore
  ) throws(SpoolError) -> SpoolError {
    guard let stage else {
      return SpoolError(
        "there are no words in run \(run.id)",
        reason: "it has not ended with a transcript, or its words were forgotten",
        advice: "name a run of a pipeline like words, or the recording's file")
    }
    var names: [String] = []
    for step in run.steps where try !run.keptTranscripts(of: step.id, in: store).isEmpty {
      names.append(step.id.name)
    }
    return .usage(
      "there are no words of stage \(stage) in run \(run.id)",
      advice: names.isEmpty
        ? "spool runs show \(run.id) shows its stages"
        : "it has words of \(names.joined(separator: ", "))")
  }
}

extension RunRecord {
  /// Its transcripts that are in the store.
  fileprivate func keptTranscripts(
    of stage: StepID? = nil, in store: DiskStore
  ) throws(SpoolError) -> [ToldTranscript] {
    try transcripts(of: stage, in: store).filter {
      store.file(of: $0.result.artifact.digest) != nil
    }
  }
}

extension RunRecord {
  /// Whether a file came in as a text, and not as a sound.
  fileprivate func isText(_ file: Digest) -> Bool {
    let names = orderedInputs.map(\.name).filter { recordings?[$0] == file }
    if let soundInputs { return !names.isEmpty && !names.contains(where: soundInputs.contains) }
    return steps.contains { $0.inputs?[PortName("transcript")] == file }
  }
}

extension DiskStore {
  /// The files of the sound of each recording that a run read for some inputs. O(runs).
  fileprivate func parts(
    _ inputs: [String], of run: RunRecord
  ) throws(SpoolError) -> [[Digest]] {
    try inputs.compactMap { run.recordings?[$0] }.map { (part) throws(SpoolError) in
      try recordings(likeThat: part)
    }
  }

  /// The wholes of the same sounds as that of words, whose own is the first. O(runs).
  func wholes(
    likeThat told: RunRecord.ToldTranscript, of run: RunRecord
  ) throws(SpoolError) -> [Digest] {
    var wholes = [told.recording].compactMap(\.self)
    guard let part = told.inputs.last.flatMap({ run.recordings?[$0] }) else { return wholes }
    for run in try runs.mentioning(recordings(likeThat: part)) where run.state == .done {
      for other in try run.transcripts(in: self) where other.sound == told.sound {
        if let digest = other.recording, !wholes.contains(digest) { wholes.append(digest) }
      }
    }
    return wholes
  }

  /// Where the recordings of a run lie now: see ``place(of:named:)``.
  func places(of inputs: [String], in run: RunRecord) throws(SpoolError) -> [String] {
    try inputs.map { (input) throws(SpoolError) in
      let path = run.inputs[input] ?? run.id.name
      guard let recording = run.recordings?[input] else { return path }
      return try place(of: recording, named: path)
    }
  }

  /// The recordings of the same sound as one: the same file with other tags, or in another container.
  /// - Returns: their digests, first that of the recording itself. O(runs).
  func recordings(likeThat recording: Digest) throws(SpoolError) -> [Digest] {
    var recordings = [recording]
    var sounds: Set<Digest> = []
    var next = 0
    while next < recordings.count {
      let own = recordings[next]
      next += 1
      for sound in try runs.mentioning([own]).flatMap({ $0.sounds(of: own) })
      where sounds.insert(sound).inserted {
        for run in try runs.mentioning([sound]) {
          recordings += Set((run.recordings ?? [:]).values).sorted { $0.hex < $1.hex }.filter {
            !recordings.contains($0) && run.sounds(of: $0).contains(sound)
          }
        }
      }
    }
    return recordings
  }

  /// Where a recording lies now: the path under which a run read it, if that holds the same bytes, or
  /// another one that does, or one of the same sound. The path itself where no file does. Reads files
  /// whose digests are unknown.
  func place(of recording: Digest, named path: String) throws(SpoolError) -> String {
    func holds(_ path: String, _ recording: Digest) -> Bool {
      FilePath.exists(path) && (try? digest(ofFile: path)) == recording
    }
    // Those of an inbox are in the store.
    let own = self.path + "/"
    if path.hasPrefix(own) || holds(path, recording) { return path }
    let recordings = try recordings(likeThat: recording)
    let runs = try runs.mentioning(recordings)
    for recording in recordings {
      for run in runs {
        for (input, other) in run.orderedInputs
        where run.recordings?[input] == recording && !other.hasPrefix(own) {
          if holds(other, recording) { return other }
        }
      }
    }
    return path
  }

  /// The hits, each with the files in which its recording lies now.
  func placed(_ hits: [SearchHit]) throws(SpoolError) -> [SearchHit] {
    var places: [[String]: (paths: [String], isElsewhere: Bool)] = [:]
    return try hits.map { (hit) throws(SpoolError) in
      guard let recording = hit.digest else { return hit }
      let key = [recording.hex] + hit.paths
      var placed = hit
      if let arrived = try arrival(of: hit, recording) {
        (placed.paths, placed.key) = ([arrived.path], arrived.key.name)
        return placed
      }
      if places[key] == nil { places[key] = try self.places(of: hit, recording) }
      if let place = places[key] { (placed.paths, placed.isElsewhere) = place }
      return placed
    }
  }

  /// An inbox's recording, and where it arrived; nil for other recordings, and for forgotten ones.
  private func arrival(
    of hit: SearchHit, _ recording: Digest
  ) throws(SpoolError) -> (path: String, key: RecordingKey)? {
    guard hit.paths.count == 1, isOfInbox(hit.paths[0]),
      let known = try recordings.recording(of: recording, pipeline: hit.pipeline)
    else { return nil }
    let path = try recordings.arrivalPaths(of: [known])[known.key]?.first
    return (known.inbox + "/" + known.shownPath(path), known.key)
  }

  /// The files of a hit, and whether one of them is another recording by now.
  private func places(
    of hit: SearchHit, _ recording: Digest
  ) throws(SpoolError) -> (paths: [String], isElsewhere: Bool) {
    if hit.paths.count == 1 {
      let path = try place(of: recording, named: hit.paths[0])
      return ([path], try holdsOther(path, than: recording))
    }
    guard let run = try runs.run(named: hit.run), run.id.name == hit.run else {
      return (hit.paths, false)
    }
    let inputs = hit.paths.compactMap { path in
      run.orderedInputs.first { $0.path == path }?.name
    }
    guard inputs.count == hit.paths.count else { return (hit.paths, false) }
    let paths = try places(of: inputs, in: run)
    for (input, path) in zip(inputs, paths) {
      if let own = run.recordings?[input], try holdsOther(path, than: own) { return (paths, true) }
    }
    return (paths, false)
  }
}
