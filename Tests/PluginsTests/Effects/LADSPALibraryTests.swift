import Foundation
import Glibc
import Platform
@testable import Plugins
import TestSupport
import Testing

@Suite("A library of LADSPA plugins")
struct LADSPALibraryTests {
  @Test("ends at the colon before its label, which may be a URL")
  func parts() throws {
    let folder = try ScratchFolder()
    for name in ["tools.so", "odd:one.so"] {
      try Data().write(to: URL(filePath: folder.file(name)))
    }
    let url = "http://example.org/plugins/ladspa/limiter"
    for (identity, library, label) in [
      ("tools:\(url)", "tools", url), ("tools:hpf", "tools", "hpf"), ("tools", "tools", ""),
      ("odd:one:\(url)", "odd:one", url), ("missing:\(url)", "missing", url),
      ("\(folder.file("tools.so")):\(url)", folder.file("tools.so"), url),
    ] {
      let parts = LADSPALibrary.parts(of: identity, in: [folder.path])
      #expect(parts.library == library && parts.label == label, "\(identity): \(parts)")
    }
  }

  @Test("is a plain file: a pipe in its place is refused before anybody opens it")
  func pipe() throws {
    let folder = try ScratchFolder()
    let path = folder.file("pipe.so")
    try #require(unsafe mkfifo(path, 0o600) == 0)
    let error = #expect(throws: SpoolError.self) { _ = try LADSPALibrary(path) }
    #expect(error?.reason == "it is no plain file")
  }
}
