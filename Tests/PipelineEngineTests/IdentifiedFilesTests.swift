import Foundation
@testable import PipelineEngine
import PipelineModel
import Platform
import Store
import TestSupport
import Testing

@Suite("Files that were identified")
struct IdentifiedFilesTests {
  private let scratch: ScratchFolder
  private let file: SourceFile
  private let files: IdentifiedFiles

  init() throws {
    scratch = try ScratchFolder()
    file = SourceFile(try scratch.write("a tape", to: "tape.wav"), named: "/tapes/4.wav")
    try letClockTick(after: file.path, in: scratch)
    files = IdentifiedFiles([file: try FileStamp(following: file.path)])
  }

  @Test("are those of the identity until they are written to, with whatever bytes")
  func writing() throws {
    try files.check()
    let handle = try #require(FileHandle(forWritingAtPath: file.path))
    try handle.write(contentsOf: Data("a tape".utf8))
    try handle.close()
    let error = try #require(throws: SpoolError.self) { try files.check() }
    #expect(error.message == "/tapes/4.wav changed while it was read")
    #expect(error.kind == .changed)
  }

  @Test("are others where their times are set back")
  func timesSetBack() throws {
    let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
    let date = try #require(attributes[.modificationDate] as? Date)
    try scratch.write("b tape", to: "tape.wav")
    try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file.path)
    #expect(throws: SpoolError.self) { try files.check() }
  }

  @Test("are others where they were replaced, or are gone")
  func replacing() throws {
    try FileManager.default.moveItem(atPath: file.path, toPath: scratch.file("aside"))
    #expect(throws: SpoolError.self) { try files.check() }
    try scratch.write("a tape", to: "tape.wav")
    #expect(throws: SpoolError.self) { try files.check() }
  }

  @Test("are only those that the work reads")
  func choosing() throws {
    try scratch.write("b tape", to: "tape.wav")
    try files.of([]).check()
    #expect(throws: SpoolError.self) { try files.of([file]).check() }
  }

  @Test("leave no progress and no result behind once they have changed, as if the process had died")
  func claim() throws {
    let store = try DiskStore(at: scratch.file("store"))
    let work = SHA256.digest(of: "work")
    func granted(in store: DiskStore) throws -> any WorkClaim {
      guard case .granted(let claim) = try store.claim(work, summary: "decode") else {
        throw SpoolError("the work is taken")
      }
      return claim
    }
    let claim = FileCheckingClaim(try granted(in: store), reading: files)
    try claim.record("a third")
    try scratch.write("b tape", to: "tape.wav")
    #expect(throws: SpoolError.self) { try claim.record("two thirds") }
    let result = Checkpoint(
      components: KeyComponents(
        kind: "decode", revision: 1, parameters: "{}", inputs: [:], libraries: [:]),
      outputs: [:])
    #expect(throws: SpoolError.self) { try claim.commit(result) }
    #expect(try store.checkpoint(for: result.key) == nil)
    claim.release()

    let later = try granted(in: DiskStore(at: scratch.file("store")))
    #expect(try later.lastEntry()?.text == "a third")
    later.end()
  }
}
