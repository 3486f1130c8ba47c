#!/usr/bin/env python3
# Checks that clip.wav is part of a recording whose root somebody signed. It needs Python 3 and
# openssl (3.0 or newer), and nothing of the program that wrote it. Read it before you run it.
#
#   python3 verify.py [PUBLIC-KEY]
#
# PUBLIC-KEY is the signer's key as you got it from the signer. Without it, the key that lies in
# this folder is taken: that shows that the files belong together, not who signed them.
#
# Exit code: 0 all is as it was signed, 4 something is not, 2 it could not be checked.
from base64 import b64decode, b64encode
from hashlib import sha256
from json import dumps, loads
from os import path
from struct import pack
from subprocess import DEVNULL, PIPE, run
from sys import argv, exit, stderr
from tempfile import TemporaryDirectory

folder = path.dirname(path.abspath(__file__))
key = path.abspath(argv[1]) if len(argv) > 1 else path.join(folder, "spool.pub")
whose = argv[1] if len(argv) > 1 else "the key that lies beside it"


def broken(culprit, what):
    print("BROKEN   %s: %s" % (culprit, what))
    exit(4)


def size(name):
    place = path.join(folder, name)
    if path.islink(place) or not path.isfile(place):
        broken(name, "it is missing")
    return path.getsize(place)


def read(name, limit):
    if size(name) > limit:
        broken(name, "it is longer than any is")
    with open(path.join(folder, name), "rb") as file:
        return file.read()


def unique(pairs):
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a name comes twice in one object")
    return dict(pairs)


def parse(data, culprit):
    try:
        return loads(data.decode("utf-8"), object_pairs_hook=unique)
    except (ValueError, RecursionError) as error:
        broken(culprit, "it is no JSON that means one thing: %s" % error)


def canonical(value):
    try:
        text = dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return text.encode("utf-8")
    except ValueError:
        return b""


def openssl(*words):
    try:
        return run(
            ("openssl",) + words, stdout=PIPE, stderr=DEVNULL)
    except FileNotFoundError:
        print("cannot check: openssl is missing", file=stderr)
        exit(2)


# 1. The receipt: one line that holds a statement and a signature, both in base64.
receipt = read("receipt.json", 16 << 20)
envelope = parse(receipt, "receipt.json")
try:
    payload = b64decode(envelope["payload"], validate=True)
    (signature,) = envelope["signatures"]
    keyid = signature["keyid"]
    signature = b64decode(signature["sig"], validate=True)
except (KeyError, TypeError, ValueError):
    broken("receipt.json", "it is no receipt as it was written")
kind = b"application/vnd.in-toto+json"
written = {
    "payload": b64encode(payload).decode(), "payloadType": kind.decode(),
    "signatures": [{"keyid": keyid, "sig": b64encode(signature).decode()}]}
if receipt != canonical(written) + b"\n":
    broken("receipt.json", "it is no receipt as it was written")

# 2. The signature. What was signed is: DSSEv1, then the type and the statement, each with its
#    length before it (the pre-authentication encoding of DSSE).
fingerprint = sha256(
    openssl("pkey", "-pubin", "-in", key, "-outform", "DER").stdout).hexdigest()
with TemporaryDirectory() as work:
    signed, sig = path.join(work, "signed"), path.join(work, "signature")
    with open(signed, "wb") as file:
        file.write(b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload))
    with open(sig, "wb") as file:
        file.write(signature)
    if openssl("pkeyutl", "-verify", "-pubin", "-inkey", key, "-rawin", "-in", signed,
               "-sigfile", sig).returncode != 0:
        if fingerprint != keyid:
            broken(path.basename(key), "it is not the key that the receipt names: that is %s,"
                   " this is %s" % (ascii(keyid), fingerprint))
        broken("receipt.json", "the signature does not fit the statement: one was changed")
print("signed   receipt.json is signed by %s:\n         %s" % (whose, fingerprint))

# 3. The root: the signed statement names the export, and the root over its samples.
line = read("quote.json", 1 << 20)
quote = parse(line, "quote.json")
try:
    if quote["receipt"] != sha256(receipt).hexdigest():
        broken("receipt.json", "it is not the receipt that is quoted")
    subjects = parse(payload, "receipt.json")["subject"]
    (subject,) = [s for s in subjects if s["name"] == quote["export"]] or [None]
    if subject is None:
        broken("quote.json", "the receipt names no export %s" % ascii(quote["export"]))
    samples = subject["annotations"].get("samples")
    if samples is None or canonical(samples) != canonical(quote["samples"]):
        broken("quote.json", "the samples are not those that were signed")
    bits = {"s16le": 16, "s24le": 24, "f32le": 32}[samples["format"]]
    rate, channels, frames = samples["rate"], samples["channels"], samples["frames"]
    start, end = quote["range"]["from"], quote["range"]["to"]
    first, count = quote["blocks"]["first"], quote["blocks"]["count"]
    numbers = (rate, channels, frames, start, end, first, count)
    if any(type(number) is not int for number in numbers) or min(rate, channels) < 1:
        broken("receipt.json", "it does not say what the samples are")
    if not 0 <= start < end <= frames:
        broken("quote.json", "its range does not lie within the recording")
    if first != start // rate or first + count != -(-end // rate):
        broken("quote.json", "its blocks are not those that its range lies in")
    siblings = [bytes.fromhex(sibling) for sibling in quote["siblings"]]
    written = {
        "type": "urn:spool:quote:v1", "receipt": quote["receipt"], "export": quote["export"],
        "samples": samples, "range": {"from": start, "to": end},
        "blocks": {"first": first, "count": count},
        "siblings": [sibling.hex() for sibling in siblings]}
    if line != canonical(written) + b"\n":
        broken("quote.json", "it is no quote as it was written")
except (KeyError, TypeError, ValueError, AttributeError):
    broken("quote.json", "it is no quote of this receipt")
blocks = -(-frames // rate)
print("named    the receipt names %s: %d blocks of one second (%d Hz, %d channels, %s), root\n"
      "         %s" % (ascii(quote["export"]), blocks, rate, channels, samples["format"],
                       samples["root"]))

# 4. The clip: a header that follows from the above, and whole blocks; nothing else.
width = channels * bits // 8
held = range(first * rate, min((first + count) * rate, frames))
length = len(held) * width
if size("clip.wav") != 44 + length + length % 2:
    broken("clip.wav", "it has %d bytes, and blocks %d to %d have %d" % (
        size("clip.wav"), first, first + count - 1, 44 + length + length % 2))
header = pack(
    "<4sI8sIHHIIHH4sI", b"RIFF", 36 + length + length % 2, b"WAVEfmt ", 16,
    3 if samples["format"] == "f32le" else 1, channels, rate, rate * width, width, bits, b"data",
    length)
leaves = []
with open(path.join(folder, "clip.wav"), "rb") as clip:
    if clip.read(44) != header:
        broken("clip.wav", "its header is not the one that follows from the receipt")
    while length > 0:
        block = clip.read(min(length, rate * width))
        leaves.append(sha256(b"\x00" + block).digest())
        length -= len(block) or broken("clip.wav", "it ends too early")
    if clip.read().strip(b"\x00"):
        broken("clip.wav", "what follows the samples is no zero")
print("hashed   clip.wav is %d blocks, from block %d" % (count, first))


# 5. The tree (RFC 6962): a part of it without a block of the clip is a sibling, a single block is
#    its hash, and any other part is split at the largest power of two below its size.
def walk(start, size):
    if start + size <= first or start >= first + count:
        return next(rest)
    if size == 1:
        return leaves[start - first]
    left = 1 << (size - 1).bit_length() - 1
    pair = walk(start, left) + walk(start + left, size - left)
    return sha256(b"\x01" + pair).digest()


rest = iter(siblings)
try:
    root = walk(0, blocks)
except StopIteration:
    broken("quote.json", "it has too few siblings")
if next(rest, None) is not None:
    broken("quote.json", "it has too many siblings")
if root.hex() != samples["root"]:
    broken("clip.wav", "its blocks and the siblings in quote.json do not lead to the root in the"
           " receipt: one of them was changed, or they stand elsewhere")
print("proven   the blocks and %d sibling hashes lead to the signed root" % len(siblings))


def time(frame):
    seconds, part = divmod(frame * 1000 // rate, 1000)
    return "%02d:%02d:%02d.%03d" % (seconds // 3600, seconds // 60 % 60, seconds % 60, part)


# 6. The time stamps of the receipt (RFC 3161): one of each authority that it names.
authorities = parse(payload, "receipt.json")["predicate"]["origin"].get("authorities", [])
for place, number in enumerate(("", ".2", ".3", ".4")):
    token = "receipt%s.tsr" % number
    if not path.lexists(path.join(folder, token)):
        if place < len(authorities):
            broken(token, "it is missing: %s was asked for it, and has not answered or it was"
                   " taken away" % ascii(authorities[place]))
        continue
    names = [token, token + ".pem"]
    sums = [sha256(read(name, 256 << 10)).hexdigest() for name in names]
    lines = read(token + ".sha256", 4 << 10).split(b"\n")
    if openssl("ts", "-verify", "-data", path.join(folder, "receipt.json"), "-in",
               path.join(folder, token), "-CAfile",
               path.join(folder, token + ".pem")).returncode != 0:
        listed = [("%s  %s" % pair).encode() in lines for pair in zip(sums, names)]
        if listed == [True, False]:
            broken(names[1], "it was changed: it is not the one that %s.sha256 lists" % token)
        broken(token, "it is no time stamp of receipt.json, or its certificate has expired")
    # Not every byte of a token is signed; the list beside it tells of the others.
    for name, sum, line in zip(names, sums, lines + [b""] * 2):
        if line != ("%s  %s" % (sum, name)).encode():
            broken(token + ".sha256", "it lists another %s than is here, and yet the time stamp"
                   " holds: one was changed" % name)
    if lines[2:] != [b""]:
        broken(token + ".sha256", "it was changed: it is not its two lines and nothing else")
    print("stamped  receipt.json has a time stamp in %s" % token)

print("\nclip.wav is %s to %s of %s; the quote is" % (
    time(held.start), time(held.stop), ascii(quote["export"])))
print("         %s to %s of it, %s into the clip." % (
    time(start), time(end), time(start - held.start)))
if path.exists(path.join(folder, "words.json")):
    print("words.json is not proven by this: listen to the clip.")
if len(argv) < 2:
    print("Whose key it is, this cannot show: compare the 64 digits with what its owner says.")
