import Foundation
import TestSupport
import Testing

/// What somebody may do to receipts and to what lies beside them, with the signer's key or without:
/// each deed is a few lines of Python, with `openssl` where something is to be signed.
@Suite(
  "Whatever is done to a receipt, its files, its time stamp or a quote, the culprit is named",
  .serialized,
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct HostileReceiptTests {
  static let deeds: [Deed] = [
    Deed("a flipped bit in an export", "note.wav", "flip('out/note.wav', 1000)"),
    Deed("a flipped bit in the public key", "spool.pub", "flip('out/spool.pub', 60)"),
    Deed("a flipped bit in the token", "note.receipt.tsr", "flip('out/note.receipt.tsr', -20)"),
    Deed("a flipped bit in the receipt", "note.receipt.json", "flip('out/note.receipt.json', 700)"),
    Deed(
      "bits of the signature that say nothing", "note.receipt.json",
      """
      text = open(receipt).read()
      place = text.index('=="}]}') - 1
      letters = string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/"
      other = letters[letters.index(text[place]) ^ 1]
      open(receipt, "w").write(text[:place] + other + text[place + 1:])
      """),
    Deed(
      "bytes behind the envelope", "note.receipt.json", "open(receipt, 'a').write('{}\\n')"),
    Deed(
      "space within the payload", "note.receipt.json", isForScript: false,
      "sign(json.dumps(statement()).encode())"),
    Deed(
      "fields of the payload in another order", "note.receipt.json", isForScript: false,
      """
      pairs = ",".join(json.dumps(k) + ":" + canon(v).decode() for k, v in reversed(statement().items()))
      sign(("{" + pairs + "}").encode())
      """),
    Deed(
      "a key that comes twice in the payload", "note.receipt.json", isForScript: false,
      "sign(canon(statement())[:-1] + b',\"predicateType\":\"urn:spool:receipt:v1\"}')"),
    Deed(
      "a key that comes twice in the envelope", "note.receipt.json",
      "text = open(receipt).read(); open(receipt, 'w').write('{\"payload\":\"\",' + text[1:])"),
    Deed(
      "a receipt of 100 MB", "note.receipt.json",
      "open(receipt, 'r+b').truncate(100 << 20)"),
    Deed(
      "the receipt of another recording", "note.receipt.json", isForScript: false,
      """
      for name in ("receipt.json", "sha256"): shutil.copy("out/other." + name, "out/note." + name)
      os.remove("out/other.wav")
      """),
    Deed(
      "a path that leads out of the folder", "../secret", isForScript: false,
      "s = statement(); s['subject'][0]['name'] = '../secret'; forge(s)"),
    Deed(
      "a stage that is gone, by the signer", "the stage export", isForScript: false,
      "s = statement(); del s['predicate']['stages'][1]; forge(s)"),
    Deed(
      "a stage that is gone, by anybody", "note.receipt.json",
      "s = statement(); del s['predicate']['stages'][1]; forge(s, key='stranger.pem')"),
    Deed(
      "a member that no receipt has", "the stage decode", isForScript: false,
      "s = statement(); s['predicate']['stages'][0]['extra'] = 1; forge(s)"),
    Deed(
      "a time stamp of another digest", "note.receipt.tsr",
      """
      for end in ("", ".pem", ".sha256"):
          text = open("out/other.receipt.tsr" + end, "rb").read()
          if end == ".sha256": text = text.replace(b"other", b"note")
          open("out/note.receipt.tsr" + end, "wb").write(text)
      """),
    Deed(
      "a time stamp that is gone", "note.receipt.tsr",
      "[os.remove(p) for p in glob.glob('out/note.receipt.tsr*')]"),
    Deed(
      "the list of a time stamp that is gone", "note.receipt.tsr.sha256",
      "os.remove('out/note.receipt.tsr.sha256')"),
    Deed(
      "the certificates of a time stamp that are gone", "note.receipt.tsr.pem",
      "os.remove('out/note.receipt.tsr.pem')"),
    Deed(
      "a flipped bit in the separator of a time stamp's list", "note.receipt.tsr.sha256",
      "flip('out/note.receipt.tsr.sha256', 64)"),
    Deed(
      "a flipped bit in a digest of a time stamp's list", "note.receipt.tsr.sha256",
      "flip('out/note.receipt.tsr.sha256', 3)"),
    Deed(
      "a line that a time stamp's list has too many", "note.receipt.tsr.sha256",
      "open('out/note.receipt.tsr.sha256', 'a').write('\\n')"),
    Deed(
      "a flipped bit in a certificate", "note.receipt.tsr.pem",
      "flip('out/note.receipt.tsr.pem', 200)"),
    Deed(
      "a certificate that became a link", "note.receipt.tsr.pem",
      "os.rename('out/note.receipt.tsr.pem', 'kept.pem'); "
        + "os.symlink('../kept.pem', 'out/note.receipt.tsr.pem')"),
    Deed(
      "an export that became a link", "note.wav",
      "os.rename('out/note.wav', 'note.kept'); os.symlink('../note.kept', 'out/note.wav')"),
    Deed(
      "a truncated clip", "clip.wav", at: "quote", isForScript: false,
      "open('quote/clip.wav', 'r+b').truncate(os.path.getsize('quote/clip.wav') - 5)"),
    Deed(
      "the clip of another second", "clip.wav", at: "quote/quote.json", isForScript: false,
      "flip('quote/clip.wav', 400)"),
    Deed(
      "the time stamp of a quote", "receipt.tsr", at: "quote", isForScript: false,
      "flip('quote/receipt.tsr', -20)"),
    Deed(
      "the time stamp of a quote that is gone", "receipt.tsr", at: "quote", isForScript: false,
      "[os.remove(p) for p in glob.glob('quote/receipt.tsr*')]"),
    Deed(
      "a flipped bit in the list of a quote's time stamp", "receipt.tsr.sha256", at: "quote",
      isForScript: false, "flip('quote/receipt.tsr.sha256', 3)"),
    Deed(
      "a flipped bit in the certificate of a quote's time stamp", "receipt.tsr.pem", at: "quote",
      isForScript: false, "flip('quote/receipt.tsr.pem', 200)"),
    Deed(
      "a quote whose script is gone", "verify.py", at: "quote", isForScript: false,
      "os.remove('quote/verify.py')"),
    Deed(
      "a bag whose list of what to fetch leads out of it", "fetch.txt, line 1", at: "bags/note",
      isForScript: false,
      "open('bags/note/fetch.txt', 'w').write('http://x/y 3 data/../../x\\n')"),
    Deed(
      "a bag with a second manifest that says something else", "manifest-md5.txt",
      at: "bags/note", isForScript: false,
      "open('bags/note/manifest-md5.txt', 'w').write('0' * 32 + '  data/note.wav\\n')"),
    Deed(
      "a bag whose payload is a link", "data", at: "bags/note", isForScript: false,
      "os.rename('bags/note/data', 'kept'); os.symlink('../../kept', 'bags/note/data')"),
    Deed(
      "a bag with a file that is a link", "data/note.wav", at: "bags/note", isForScript: false,
      """
      os.rename('bags/note/data/note.wav', 'kept.wav')
      os.symlink('../../../kept.wav', 'bags/note/data/note.wav')
      """),
    Deed(
      "a bag that leads out of itself", "leads out of the bag", at: "bags/note",
      isForScript: false,
      """
      path = 'bags/note/manifest-sha256.txt'
      text = open(path).read()
      open(path, 'w').write(text + "0" * 64 + "  data/../../secret\\n")
      """),
  ]

  private static let tools = """
    import base64, glob, hashlib, json, os, shutil, string, subprocess, sys
    receipt = "out/note.receipt.json"
    def flip(path, place):
        data = bytearray(open(path, "rb").read())
        data[place] ^= 1
        open(path, "wb").write(data)
    def canon(value):
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    def digest(value): return hashlib.sha256(canon(value)).hexdigest()
    def statement():
        return json.loads(base64.b64decode(json.load(open(receipt))["payload"]))
    def sign(payload, key="keys/signing.pem"):
        envelope = json.load(open(receipt))
        kind = envelope["payloadType"].encode()
        open("signed", "wb").write(b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload))
        if not os.path.exists(key):
            subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", key], check=True)
        subprocess.run(["openssl", "pkeyutl", "-sign", "-rawin", "-inkey", key, "-in", "signed",
            "-out", "signature"], check=True)
        envelope["payload"] = base64.b64encode(payload).decode()
        envelope["signatures"][0]["sig"] = base64.b64encode(open("signature", "rb").read()).decode()
        open(receipt, "wb").write(canon(envelope) + b"\\n")
    def forge(statement, key="keys/signing.pem"):
        predicate = statement["predicate"]
        previous = digest(predicate["origin"])
        for stage in predicate["stages"]:
            stage["previous"] = previous
            previous = digest(stage)
        predicate["chain"] = previous
        sign(canon(statement), key)

    """

  private func python(_ program: String, in folder: String) throws {
    let result = try #require(Program(named: "python3")).run(["-c", program], folder: folder)
    try #require(result.exitCode == 0, "\(result.errorOutput)")
  }

  @Test("for every deed")
  func all() throws {
    let bench = try StampBench()
    let place = bench.place
    #expect(try bench.run().exitCode == 0)
    try Reference.record(place.file("other.wav"), seconds: 0.5)
    #expect(try place.run(bench.pipeline(), [place.file("other.wav")]).exitCode == 0)
    let bagged = try place.pipeline(
      """
      pipeline: bagged
      inputs: { note: sound }
      stages: [decode, { export: [wav] }, { proof: { bag: true } }]
      """, named: "bagged.yaml")
    let bags = try place.spool(["run", bagged, bench.recording, "--out", place.file("bags")])
    #expect(bags.exitCode == 0, "\(bags.errorOutput)")
    let quote = try place.spool([
      "proof", "quote", place.out + "/note.wav", "--from", "0", "--to", "0.2", "--out",
      place.file("quote"),
    ])
    #expect(quote.exitCode == 0, "\(quote.errorOutput)")
    let root = place.folder.path
    try python(
      "import shutil; [shutil.copytree(n, 'kept-' + n) for n in ('out', 'bags', 'quote')]", in: root
    )
    for deed in Self.deeds {
      let words = ["verify", place.file(deed.place), "--no-ledger"]
      let before = try place.spool(words)
      #expect(before.exitCode == 0, "\(deed.testDescription): \(before.text)")
      try python(Self.tools + deed.program, in: root)
      let after = try place.spool(words)
      #expect(after.exitCode == 4, "\(deed.testDescription): \(after.text)\(after.errorOutput)")
      #expect(after.text.contains(deed.culprit), "\(deed.testDescription): \(after.text)")
      if deed.isForScript {
        let script = try bench.script()
        #expect(script.exitCode != 0, "\(deed.testDescription): \(script.text)")
        #expect(
          (script.text + script.errorOutput).contains(deed.culprit),
          "\(deed.testDescription): \(script.text)")
      }
      try python(
        """
        import os, shutil
        for name in ("out", "bags", "quote"):
            shutil.rmtree(name)
            shutil.copytree("kept-" + name, name)
        """, in: root)
    }
  }

  @Test("an innocent file beside a time stamp is not accused, and the quote's script says the same")
  func innocent() throws {
    let bench = try StampBench()
    #expect(try bench.run().exitCode == 0)
    let folder = bench.place.file("quote")
    let quote = try bench.place.spool([
      "proof", "quote", bench.place.out + "/note.wav", "--from", "0", "--to", "0.2", "--out",
      folder,
    ])
    #expect(quote.exitCode == 0, "\(quote.errorOutput)")
    let root = bench.place.folder.path
    try python("import shutil; shutil.copytree('quote', 'kept')", in: root)
    for (end, place) in [("", -20), (".pem", 200), (".sha256", 3), (".sha256", 64)] {
      try python(Self.tools + "flip('quote/receipt.tsr\(end)', \(place))", in: root)
      let found = try bench.place.spool(["verify", folder, "--no-ledger", "--json"])
      #expect(found.exitCode == 4)
      for name in ["", ".pem", ".sha256"] {
        #expect(
          found.text.contains("\"name\":\"receipt.tsr\(name)\"") == (name == end),
          "\(end): \(found.text)")
      }
      let script = try #require(Program(named: "python3")).run([folder + "/verify.py"])
      #expect(script.exitCode == 4)
      #expect(script.text.contains("BROKEN   receipt.tsr\(end):"), "\(end): \(script.text)")
      try python(
        "import shutil; shutil.rmtree('quote'); shutil.copytree('kept', 'quote')", in: root)
    }
    try python(
      "open('quote/verify.py', 'a').write('# more'); open('quote/more.wav', 'w')", in: root)
    let noted = try bench.place.spool(["verify", folder, "--no-ledger"])
    #expect(noted.exitCode == 0, "\(noted.text)")
    #expect(noted.text.contains("note    verify.py   it is not the one that this version writes"))
    #expect(noted.text.contains("note    more.wav   it is no part of the quote"))
  }

  @Test("a quote by its own name is checked from within its folder")
  func quoteName() throws {
    let bench = try StampBench()
    #expect(try bench.run().exitCode == 0)
    let folder = bench.place.file("quote")
    let quote = try bench.place.spool([
      "proof", "quote", bench.place.out + "/note.wav", "--from", "0", "--to", "0.2", "--out",
      folder,
    ])
    #expect(quote.exitCode == 0, "\(quote.errorOutput)")
    let verified = try SpoolProgram.program.run(
      ["verify", "quote.json"], environment: bench.place.environment, folder: folder)
    #expect(verified.exitCode == 0, "\(verified.text)\(verified.errorOutput)")
    #expect(verified.text.contains("stamped receipt.tsr"), "\(verified.text)")
    let script = try #require(Program(named: "python3")).run([folder + "/verify.py"])
    #expect(script.exitCode == 0, "\(script.text)\(script.errorOutput)")
    #expect(script.text.contains("stamped  receipt.json has a time stamp in receipt.tsr"))
  }
}
