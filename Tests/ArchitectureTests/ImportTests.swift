import Foundation
import Testing

@Suite("Modules import only what they may")
struct ImportTests {
  @Test("every import is allowed")
  func imports() throws {
    var count = 0
    for file in try Package.swiftSources() {
      guard let module = file.module, AllowedImports.modules.contains(module) else {
        Issue.record("\(file.path): AllowedImports does not list its module")
        continue
      }
      for (imported, place) in file.imports {
        count += 1
        #expect(
          AllowedImports.allow(imported, in: module),
          "\(place): \(module) may not import \(imported)")
      }
    }
    #expect(count > 0, "no import was found at all: the reader is broken")
  }

  @Test("every module is on one side, on neither, or where they meet")
  func sides() {
    let groups = [
      AllowedImports.pipelineSide, AllowedImports.soundSide, AllowedImports.neutral,
      AllowedImports.meetingPoints,
    ]
    for module in AllowedImports.modules {
      #expect(groups.count { $0.contains(module) } == 1, "\(module) belongs to one group")
    }
    #expect(Set(groups.joined()) == AllowedImports.modules)
  }

  @Test("a module of a higher layer, of its own layer or of the other side is refused")
  func refusals() {
    #expect(AllowedImports.allow("Platform", in: "Audio"))
    #expect(AllowedImports.allow("Media", in: "SoundEngine"))
    #expect(!AllowedImports.allow("Stages", in: "Store"))
    #expect(!AllowedImports.allow("Store", in: "PipelineEngine"))
    #expect(!AllowedImports.allow("Media", in: "Intake"))
    #expect(!AllowedImports.allow("PipelineModel", in: "Media"))
    #expect(!AllowedImports.allow("CSQLite", in: "Media"))
    #expect(!AllowedImports.allow("Foundation", in: "Store"))
  }

  @Test("the list knows exactly the targets of the manifest")
  func targets() throws {
    let declared = try Package.targets()
    let wrapped = Set(AllowedImports.libraries.values.joined())
    let unlisted = declared.subtracting(AllowedImports.modules).subtracting(wrapped).sorted()
    #expect(unlisted == [], "Package.swift declares what AllowedImports does not list")
    #expect(
      AllowedImports.modules.subtracting(declared).sorted() == [],
      "AllowedImports lists what Package.swift does not declare")
    for folder in try Package.swiftSources().compactMap(\.module) {
      #expect(declared.contains(folder), "Sources/\(folder) is no target of Package.swift")
    }
  }

  @Test("README's table names every module once")
  func table() throws {
    let readme = try String(
      contentsOf: Package.root.appendingPathComponent("README.md"), encoding: .utf8)
    let rows = readme.matches(of: /(?m)^\| `([A-Za-z]+)` \|/).map { String($0.1) }
    #expect(rows.sorted() == AllowedImports.modules.sorted())
  }

  @Test("no folder holds more than 25 files")
  func folders() throws {
    let folders = Dictionary(grouping: try Package.swiftSources()) { file in
      file.path.split(separator: "/").dropLast().joined(separator: "/")
    }
    for (folder, files) in folders where files.count > 25 {
      Issue.record("\(folder) holds \(files.count) files")
    }
  }

  @Test(
    "imports are recognised in every form",
    arguments: [
      ("import Glibc", "Glibc"), ("public import AudioModel", "AudioModel"),
      ("@preconcurrency import Glibc", "Glibc"), ("  internal import CCrypto // why", "CCrypto"),
      ("@testable import DSP", "DSP"), ("import struct Foundation.Data", "Foundation"),
      ("@_spi(X) public import Media", "Media"), ("import Foundation.NSObject", "Foundation"),
      ("import Media; import DSP", "Media"), ("// import Media", nil), ("/// import Media", nil),
      ("let importance = 1", nil), ("important()", nil), ("", nil),
    ] as [(String, String?)])
  func forms(line: String, module: String?) {
    #expect(SourceFile.importedModule(line) == module)
  }
}
