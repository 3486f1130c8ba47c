import Glibc
internal import FoundationEssentials
public import Hashing
public import PipelineModel
internal import Synchronization

extension DiskStore: WorkClaims {
  public func claim(_ work: Digest, summary: String) throws(StoreError) -> ClaimAnswer {
    .granted(DevelopmentClaim(self, path + "/work-" + work.short))
  }
}

final class DevelopmentClaim: WorkClaim {
  let store: DiskStore
  let folder: String
  init(_ store: DiskStore, _ folder: String) {
    self.store = store
    self.folder = folder
    unsafe mkdir(folder, 0o700)
  }
  var lostSeconds: Double? { 1 }
  func lastNote() throws(StoreError) -> JournalNote? {
    guard let d = FileManager.default.contents(atPath: folder + "/note") else { return nil }
    return JournalNote(text: String(decoding: d, as: UTF8.self), notedAt: 0)
  }
  func note(_ text: String) throws(StoreError) {
    try? Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/note"), options: .atomic)
  }
  func makeDraft(_ name: String, _ kind: ArtifactKind) throws(StoreError) -> ArtifactDraft {
    ArtifactDraft(DevelopmentDraft(store, folder + "/" + name, kind, 0))
  }
  func resumeDraft(_ name: String, _ kind: ArtifactKind, byteCount: Int) throws(StoreError)
    -> ArtifactDraft?
  {
    let p = folder + "/" + name
    guard let s = try? FileStamp(at: p), s.byteCount >= byteCount else { return nil }
    return ArtifactDraft(DevelopmentDraft(store, p, kind, byteCount))
  }
  func commit(_ checkpoint: Checkpoint) throws(StoreError) { try store.commit(checkpoint) }
  func end() { try? FileManager.default.removeItem(atPath: folder) }
  func release() {}
}

final class DevelopmentDraft: DraftBacking {
  let path: String
  let store: DiskStore
  let kind: ArtifactKind
  let fd: CInt
  init(_ store: DiskStore, _ path: String, _ kind: ArtifactKind, _ count: Int) {
    self.store = store
    self.path = path
    self.kind = kind
    fd = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    ftruncate(fd, off_t(count))
    lseek(fd, 0, SEEK_END)
  }
  deinit { close(fd) }
  func append(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
    _ = unsafe write(fd, bytes.baseAddress, bytes.count)
  }
  func flush() throws(StoreError) { fdatasync(fd) }
  func seal() throws(StoreError) -> Artifact {
    let data = FileManager.default.contents(atPath: path) ?? Data()
    let d = try store.makeDraft(kind)
    try unsafe d.append(Array(data).span.bytes)
    return try d.seal()
  }
  func discard() {}
}
