import Foundation
@testable import Plugins
import TestSupport
import Testing

@Suite("The folders of plugins go, however they were left")
struct PrivateFolderTests {
  @Test("lost folders are removed, and neither those at work nor what is called otherwise")
  func sweep() throws {
    let folder = try ScratchFolder()
    let names = ["\(PrivateFolder.prefix)lost", "\(PrivateFolder.prefix)used", "spool-other"]
    for name in names {
      try FileManager.default.createDirectory(
        atPath: folder.file("\(name)/inner"), withIntermediateDirectories: true)
    }
    let used = unsafe open(folder.file(names[1]), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { close(used) }
    #expect(flock(used, LOCK_EX | LOCK_NB) == 0)
    PrivateFolder.sweep(folder.path)
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(left == names.dropFirst().sorted())
  }

  @Test("what is closed, and what is deeper than any path, goes as well, and no link is followed")
  func removal() throws {
    let folder = try ScratchFolder()
    let other = try folder.write("x", to: "kept.txt")
    let lost = folder.file("lost")
    let made = try #require(Program(named: "sh")).run([
      "-c",
      """
      mkdir "$1" && cd "$1" && ln -s "$2" link && ln -s .. up && mkdir closed closed/in && : >closed/in/a
      name=folder-of-a-long-name-that-fills-the-path-soon; n=0
      while [ $n -lt 120 ]; do mkdir $name && cd -P $name || exit 1; : >file; n=$((n + 1)); done
      chmod 0 "$1/closed/in" "$1/closed"
      """, "sh", lost, other,
    ])
    try #require(made.exitCode == 0, "\(made.errorOutput)")
    FolderRemoval.remove(lost)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["kept.txt"])
  }
}
