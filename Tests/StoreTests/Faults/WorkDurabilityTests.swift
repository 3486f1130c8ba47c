import Foundation
import PipelineModel
import Platform
@testable import Store
import TestSupport
import Testing

@Suite struct WorkDurabilityTests {
  private let scratch: ScratchFolder
  private let probe = FileProbe()
  private let store: DiskStore
  private let work = SHA256.digest(of: "work")
  private var root: String { scratch.file("new") }

  init() throws {
    scratch = try ScratchFolder()
    store = try DiskStore(at: scratch.file("new/store"), files: probe.files)
  }

  @Test("what a note vouches for outlives a power cut: the bytes, their name, the folder's")
  func notedDraft() throws {
    let claim = try store.granted(work)
    let draft = try claim.makeDraft("sound", .sound)
    try draft.append([1, 2, 3])
    try draft.flush()
    let cut = PowerCut(after: probe.operations)
    #expect(cut.spares(draft.path, under: root) && cut.sparesBytes(of: draft.path))
    try draft.append([4])
    #expect(!PowerCut(after: probe.operations).sparesBytes(of: draft.path))
  }

  @Test("a folder that somebody else made is vouched for by a flush of one's own")
  func foundFolder() throws {
    do { _ = try store.granted(work).makeDraft("sound", .sound).path }
    let probe = FileProbe()
    let other = try DiskStore(at: store.path, files: probe.files)
    let claim = try other.granted(work)
    #expect(probe.operations.contains(.flushFolder(store.path + "/work")))
    #expect(try claim.resumeDraft("sound", .sound, DraftPrefix(byteCount: 0))?.path != nil)
    #expect(probe.operations.contains(.flushFolder(claim.folder)))
  }

  @Test("a sealed draft is flushed, then linked, then its new name is flushed", arguments: [0, 3])
  func sealedDraft(presentCount: Int) throws {
    let claim = try store.granted(work)
    do {
      let draft = try claim.makeDraft("sound", .sound)
      try draft.append([1, 2, 3])
      try draft.flush()
    }
    let draft = try found(
      try claim.resumeDraft("sound", .sound, DraftPrefix(byteCount: presentCount)))
    try draft.append([9])
    let path = draft.path
    let artifact = try draft.seal()
    let place = try store.path(of: artifact)
    let operations = probe.operations
    let cut = PowerCut(after: operations)
    #expect(cut.mistakes == [])
    #expect(cut.spares(place, under: root) && cut.sparesBytes(of: place))
    let write = try #require(operations.lastIndex(of: .write(path, byteCount: 1)))
    let flush = try #require(operations.lastIndex(of: .flush(path)))
    let link = try #require(operations.firstIndex(of: .link(from: path, to: place)))
    let folder = try #require(
      operations.lastIndex(of: .flushFolder(FilePath.folder(of: place))))
    #expect(write < flush && flush < link && link < folder)
    #expect(names(in: claim.folder) == ["lock", "sound"])
  }

  @Test("a draft that is sealed a second time is flushed again before it is vouched for")
  func sealedAgain() throws {
    let claim = try store.granted(work)
    let draft = try claim.makeDraft("sound", .sound)
    try draft.append([1, 2, 3])
    let artifact = try draft.seal()
    // As if the first process had died before the link: its flush need not have come that far.
    try FileManager.default.removeItem(atPath: try store.path(of: artifact))
    let before = probe.operations.count
    let again = try claim.resumeDraft("sound", .sound, DraftPrefix(byteCount: 3))?.seal()
    #expect(again == artifact)
    let operations = Array(probe.operations[before...])
    let flush = try #require(operations.firstIndex(of: .flush(claim.folder + "/sound")))
    let link = try #require(
      operations.firstIndex { if case .link = $0 { true } else { false } })
    #expect(flush < link)
    #expect(PowerCut(after: probe.operations).mistakes == [])
  }
}
