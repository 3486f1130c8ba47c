internal import PipelineModel
internal import Platform

extension StoreConformance {
  private var work: Digest { SHA256.digest(of: "work") }

  func oneOwner() throws {
    let store = try makeStore()
    let first = try store.granted(work)
    if case .granted = try store.claim(work, summary: "again") {
      throw Broken(description: "it was granted twice")
    }
    let other = try store.granted(SHA256.digest(of: "other work"))
    try require(first.folder != other.folder, "two pieces of work have one folder")
    first.release()
    first.release()
    _ = try store.granted(work)
  }

  func notes() throws {
    let store = try makeStore()
    let words = [#"{"frames":48000}"#, #"{"words":"naïve\n\u0000"}"#]
    do {
      let claim = try store.granted(work)
      try require(claim.lastEntry() == nil, "there is a note before the first")
      try require(claim.lostSeconds == nil, "new work has lost something")
      for text in words {
        try claim.record(text)
        try require(claim.lastEntry()?.text == text, "the note reads otherwise")
      }
    }
    let claim = try store.granted(work)
    try require(claim.lastEntry()?.text == words[1], "the next claim does not find the note")
    try require((claim.lastEntry()?.notedAt ?? 0) > 0, "the note has no time")
    try require((claim.lostSeconds ?? -1) >= 0, "nothing is known of what was lost")
  }

  func resumedDraft() throws {
    let store = try makeStore()
    do {
      let draft = try store.granted(work).makeDraft("sound", .sound)
      try draft.append(Array("one two thr".utf8))
      try draft.flush()
    }
    let claim = try store.granted(work)
    guard let draft = try claim.resumeDraft("sound", .sound, DraftPrefix(byteCount: 8)) else {
      throw Broken(description: "the draft is gone")
    }
    try draft.append(Array("drei".utf8))
    let artifact = try draft.seal()
    try require(artifact.kind == .sound && artifact.byteCount == 12, "it is \(artifact)")
    try require(artifact.digest == SHA256.digest(of: "one two drei"), "the digest is another")
    try require(
      try bytes(atPath: store.path(of: artifact)) == Array("one two drei".utf8), "the bytes differ")
  }

  func newDraft() throws {
    let store = try makeStore()
    let claim = try store.granted(work)
    do {
      let draft = try claim.makeDraft("sound", .sound)
      try draft.append(Array("before".utf8))
    }
    let draft = try claim.makeDraft("sound", .sound)
    try draft.append(Array("after".utf8))
    try require(draft.seal().digest == SHA256.digest(of: "after"), "it was not empty")
    for name in ["", ".", "..", "a/b", "/a"] {
      try require((try? claim.makeDraft(name, .sound).path) == nil, "\"\(name)\" is a name")
    }
  }

  func shortDraft() throws {
    let store = try makeStore()
    let claim = try store.granted(work)
    try require(
      claim.resumeDraft("sound", .sound, DraftPrefix(byteCount: 0))?.path == nil, "there is none")
    do {
      let draft = try claim.makeDraft("sound", .sound)
      try draft.append(Array("four".utf8))
    }
    for count in [5, -1] {
      try require(
        claim.resumeDraft("sound", .sound, DraftPrefix(byteCount: count))?.path == nil,
        "it has \(count) bytes")
    }
    let whole = try claim.resumeDraft("sound", .sound, DraftPrefix(byteCount: 4))?.seal()
    try require(whole?.digest == SHA256.digest(of: "four"), "its own length is refused")
  }

  func damagedDraft() throws {
    let store = try makeStore()
    let noted: DraftPrefix
    let path: String
    do {
      let draft = try store.granted(work).makeDraft("sound", .sound)
      let prefix = draft.prefix
      try require(prefix().digest == SHA256.digest(of: ""), "nothing has another digest")
      try draft.append(Array("one two".utf8))
      noted = prefix()
      try draft.append(Array(" thr".utf8))
      path = draft.path
    }
    try require(
      noted == DraftPrefix(byteCount: 7, digest: SHA256.digest(of: "one two")), "it is \(noted)")
    let claim = try store.granted(work)
    let wrong = DraftPrefix(byteCount: 7, digest: SHA256.digest(of: "one too"))
    try require(claim.resumeDraft("sound", .sound, wrong)?.path == nil, "it is not what was noted")
    try require(
      try bytes(atPath: path) == Array("one two thr".utf8), "what was refused was cut off")
    guard let draft = try claim.resumeDraft("sound", .sound, noted) else {
      throw Broken(description: "the draft is gone")
    }
    try draft.append(Array(" drei".utf8))
    let whole = DraftPrefix(byteCount: 12, digest: SHA256.digest(of: "one two drei"))
    try require(draft.prefix() == whole, "the prefix is \(draft.prefix())")
    try require(draft.seal().digest == whole.digest, "the digest is another")
  }

  func sealedAgain() throws {
    let store = try makeStore()
    let claim = try store.granted(work)
    let draft = try claim.makeDraft("file", .file)
    try draft.append(Array("whole".utf8))
    let artifact = try draft.seal()
    claim.release()
    let next = try store.granted(work)
    let again = try next.resumeDraft("file", .file, DraftPrefix(byteCount: 5))?.seal()
    try require(again == artifact, "it is \(String(describing: again))")
  }

  func draftSealedSince() throws {
    let store = try makeStore()
    var noted = DraftPrefix(byteCount: 0)
    var artifact: Artifact?
    do {
      let draft = try store.granted(work).makeDraft("sound", .sound)
      let prefix = draft.prefix
      try draft.append(Array("one two".utf8))
      noted = prefix()
      try draft.append(Array(" three".utf8))
      artifact = try draft.seal()
    }
    guard let artifact else { return }
    let claim = try store.granted(work)
    guard let draft = try claim.resumeDraft("sound", .sound, noted) else {
      throw Broken(description: "what was sealed after its last entry is gone")
    }
    try require(draft.prefix() == noted, "it has \(draft.prefix())")
    try draft.append(Array(" drei".utf8))
    try require(
      try bytes(atPath: store.path(of: artifact)) == Array("one two three".utf8),
      "the artifact changed")
    let other = try draft.seal()
    try require(other.digest == SHA256.digest(of: "one two drei"), "it is \(other)")
    let wrong = DraftPrefix(byteCount: 7, digest: SHA256.digest(of: "one too"))
    try require(claim.resumeDraft("sound", .sound, wrong)?.path == nil, "it is not what was noted")
  }

  func sealedDraft() throws {
    let store = try makeStore()
    let claim = try store.granted(work)
    func seal() throws -> Artifact {
      let draft = try claim.makeDraft("file", .file)
      try draft.append(Array("whole".utf8))
      return try draft.seal()
    }
    let path = try store.path(of: try seal())
    if let draft = try claim.resumeDraft("file", .file, DraftPrefix(byteCount: 3)) {
      try? draft.append(Array("XX".utf8))
    }
    try require(try bytes(atPath: path) == Array("whole".utf8), "cutting the draft off cut it off")
    _ = try seal()
    if let draft = try claim.resumeDraft("file", .file, DraftPrefix(byteCount: 5)) {
      try? draft.append(Array("XX".utf8))
    }
    try require(try bytes(atPath: path) == Array("whole".utf8), "it grew with the draft")
    let anew = try claim.makeDraft("file", .file)
    try anew.append(Array("other".utf8))
    try require(try bytes(atPath: path) == Array("whole".utf8), "a new draft wrote into it")
    claim.end()
    try require(try bytes(atPath: path) == Array("whole".utf8), "it went with the work")
  }

  func endedWork() throws {
    let store = try makeStore()
    let claim = try store.granted(work)
    let draft = try claim.makeDraft("sound", .sound)
    try claim.record("{}")
    claim.end()
    claim.end()
    try require((try? bytes(atPath: draft.path)) == nil, "its draft is still there")
    let next = try store.granted(work)
    try require(next.lastEntry() == nil && next.lostSeconds == nil, "it is not as new")
    try require(
      next.resumeDraft("sound", .sound, DraftPrefix(byteCount: 0))?.path == nil, "it has a draft")
  }

  func formerOwner() throws {
    let store = try makeStore()
    for isEnded in [true, false] {
      let claim = try store.granted(work)
      let draft = try claim.makeDraft("sound", .sound)
      if isEnded { claim.end() } else { claim.release() }
      let checkpoint = Checkpoint(components: .sample("former", "\(isEnded)"), outputs: [:])
      try require((try? claim.record("{}")) == nil, "it may note")
      try require((try? claim.commit(checkpoint)) == nil, "it may commit")
      try require((try? claim.makeDraft("other", .sound).path) == nil, "it may start a draft")
      try require((try? draft.append([1])) == nil, "its draft may be written")
      try require((try? draft.seal()) == nil, "its draft may be sealed")
      try require(try store.checkpoint(for: checkpoint.key) == nil, "it was recorded")
      try require(try store.granted(work).lastEntry() == nil, "it was noted")
    }
  }

  func claimedCheckpoint() throws {
    let store = try makeStore()
    let claim = try store.granted(work)
    let draft = try claim.makeDraft("sound", .sound)
    try draft.append([1, 2, 3])
    let checkpoint = Checkpoint(
      components: .sample("claimed", "1"), outputs: [.sound: StepOutput(try draft.seal())],
      memo: "{}", hint: "h")
    try claim.commit(checkpoint)
    try require(try store.checkpoint(for: checkpoint.key) == checkpoint, "it reads otherwise")
    let absent = Artifact(kind: .file, digest: SHA256.digest(of: "absent"), byteCount: 6)
    let broken = Checkpoint(
      components: .sample("claimed", "2"), outputs: [.sound: StepOutput(absent)])
    try require((try? claim.commit(broken)) == nil, "it names what is not there")
  }
}
