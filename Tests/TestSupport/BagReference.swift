import Foundation

/// Who says whether a bag is valid, besides Spool: a few lines of Python that follow RFC 8493, and the
/// Library of Congress's `bagit` for Python where it is installed. That one takes `%25` in a manifest
/// for three characters, against the RFC, and is asked only where no name has a percent sign.
package struct BagReference: Sendable {
  private let python: Program
  private let hasLibrary: Bool

  /// Nil where Python itself is not installed.
  package init?() {
    let named = ProcessInfo.processInfo.environment["SPOOL_TEST_PYTHON"].map(Program.init(path:))
    guard let python = named ?? Program(named: "python3") else { return nil }
    self.python = python
    hasLibrary = (try? python.run(["-c", "import bagit"]))?.exitCode == 0
  }

  /// Whether the bag in a folder is complete and valid, for all who are asked.
  /// - Throws: where they do not agree.
  package func isValid(_ folder: String) throws -> Bool {
    let isValid = try python.run(["-c", Self.lines, folder]).exitCode == 0
    let manifest = try? String(contentsOfFile: folder + "/manifest-sha256.txt", encoding: .utf8)
    guard hasLibrary, manifest?.contains("%25") == false else { return isValid }
    let answer = try python.run(["-c", Self.library, folder])
    guard (answer.exitCode == 0) == isValid else {
      throw Disagreement(description: "bagit says of \(folder): \(answer.errorOutput)")
    }
    return isValid
  }

  private struct Disagreement: Error, CustomStringConvertible {
    let description: String
  }

  private static let library = """
    __import__('bagit').Bag(__import__('sys').argv[1]).validate()
    """

  private static let lines = """
    hashlib, os, sys = map(__import__, ('hashlib', 'os', 'sys'))
    root = sys.argv[1]
    def read(name): return open(os.path.join(root, name), 'rb').read()
    def listed(name):
        found = {}
        for line in read(name).decode('utf-8').split('\\n'):
            if not line: continue
            digest, path = line.split(None, 1)
            for code, character in (('%0A', '\\n'), ('%0D', '\\r'), ('%25', '%')):
                path = path.replace(code, character)
            assert path not in found
            found[path] = digest
        return found
    assert read('bagit.txt') == b'BagIt-Version: 1.0\\nTag-File-Character-Encoding: UTF-8\\n'
    payload, tags = listed('manifest-sha256.txt'), listed('tagmanifest-sha256.txt')
    there = {os.path.relpath(os.path.join(folder, name), root)
             for folder, _, names in os.walk(os.path.join(root, 'data')) for name in names}
    assert set(payload) == there, (set(payload) ^ there)
    assert set(tags) == {'bagit.txt', 'bag-info.txt', 'manifest-sha256.txt'}, tags
    for path, digest in list(payload.items()) + list(tags.items()):
        assert hashlib.sha256(read(path)).hexdigest() == digest, path
    entries = dict(line.split(': ', 1) for line in read('bag-info.txt').decode('utf-8').splitlines())
    size = sum(len(read(path)) for path in payload)
    assert entries['Payload-Oxum'] == '%d.%d' % (size, len(payload))
    """
}
