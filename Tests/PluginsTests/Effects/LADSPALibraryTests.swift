import Glibc
import Platform
@testable import Plugins
import TestSupport
import Testing

@Suite("A library of LADSPA plugins")
struct LADSPALibraryTests {
  @Test("is a plain file: a pipe in its place is refused before anybody opens it")
  func pipe() throws {
    let folder = try ScratchFolder()
    let path = folder.file("pipe.so")
    try #require(unsafe mkfifo(path, 0o600) == 0)
    let error = #expect(throws: SpoolError.self) { _ = try LADSPALibrary(path) }
    #expect(error?.reason == "it is no plain file")
  }
}
