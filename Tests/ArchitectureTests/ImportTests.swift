import Foundation
import Testing

@Suite("Modules import only what they may")
struct ImportTests {
  @Test("every import is allowed")
  func imports() throws {
    var count = 0
    for file in try Package.swiftSources() {
      guard let module = file.module, let allowed = AllowedImports.table[module] else {
        Issue.record("\(file.path): AllowedImports does not list its module")
        continue
      }
      for (imported, place) in file.imports {
        count += 1
        #expect(
          allowed.contains(imported) || AllowedImports.everywhere.contains(imported),
          "\(place): \(module) may not import \(imported)")
      }
    }
    #expect(count > 0, "no import was found at all: the reader is broken")
  }

  @Test("the pipeline side never reaches sound, the sound side never reaches pipelines")
  func sides() {
    for module in AllowedImports.pipelineSide {
      let reached = AllowedImports.reach(of: module).intersection(AllowedImports.soundSide)
      #expect(reached.isEmpty, "AllowedImports lets \(module) hear of sound: \(reached)")
    }
    for module in AllowedImports.soundSide {
      let reached = AllowedImports.reach(of: module).intersection(AllowedImports.pipelineSide)
      #expect(reached.isEmpty, "AllowedImports lets \(module) hear of pipelines: \(reached)")
    }
  }

  @Test("no module reaches itself")
  func cycles() {
    for module in AllowedImports.table.keys {
      #expect(!AllowedImports.reach(of: module).contains(module), "\(module) imports itself")
    }
  }

  @Test("the list knows exactly the targets of the manifest")
  func targets() throws {
    let declared = try Package.targets()
    let wrapped = Set(AllowedImports.table.values.joined()).filter { $0.hasPrefix("C") }
    let listed = Set(AllowedImports.table.keys)
    let unlisted = declared.subtracting(listed).subtracting(wrapped).sorted()
    #expect(unlisted == [], "Package.swift declares what AllowedImports does not list")
    #expect(
      listed.subtracting(declared).sorted() == [],
      "AllowedImports lists what Package.swift does not declare")
    for folder in try Package.swiftSources().compactMap(\.module) {
      #expect(declared.contains(folder), "Sources/\(folder) is no target of Package.swift")
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
