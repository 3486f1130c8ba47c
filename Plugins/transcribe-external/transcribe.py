"""Runs a recogniser that writes JSON as Whisper does, and makes a Spool transcript of that."""
import json, os, shlex, subprocess, sys


def say(kind, **members):
    print(json.dumps(members | {"type": kind}), flush=True)


def fail(message, reason=None, advice=None, cause="input"):
    say("error", message=message, reason=reason, advice=advice, cause=cause)
    sys.exit(1)


def word(text, start, end, confidence):
    members = {"text": text.strip(), "startTime": start, "endTime": end}
    if confidence is not None and 0 <= confidence <= 1.001:
        members["confidence"] = round(min(confidence, 1), 6)
    return {name: value for name, value in members.items() if value is not None}


def words_of_tokens(tokens):
    """whisper.cpp: a word begins where a token begins with a space; times are milliseconds."""
    groups = []
    for token in tokens:
        if token["text"].startswith("[_"):
            continue
        if token["text"].startswith(" ") or not groups:
            groups.append([])
        groups[-1].append(token)
    words = []
    for group in groups:
        text = "".join(token["text"] for token in group)
        if text.strip():
            odds = [token["p"] for token in group if "p" in token]
            words.append(word(
                text, group[0]["offsets"]["from"] / 1000, group[-1]["offsets"]["to"] / 1000,
                sum(odds) / len(odds) if odds else None))
    return words


def words_of_pieces(pieces):
    """openai-whisper and faster-whisper: words. The server of whisper.cpp calls tokens words: where most begin
    with a space, one that does not goes on with the word before it. Some languages have no spaces."""
    spaced = 2 * sum(piece["word"].startswith(" ") for piece in pieces) >= len(pieces)
    groups = []
    for piece in pieces:
        if not groups or not spaced or piece["word"].startswith(" "):
            groups.append([])
        groups[-1].append(piece)
    words = []
    for group in groups:
        odds = [odd for odd in (piece.get("probability", piece.get("score")) for piece in group)
                if odd is not None]
        words.append(word(
            "".join(piece["word"] for piece in group), group[0].get("start"), group[-1].get("end"),
            sum(odds) / len(odds) if odds else None))
    return words


def segments_of(document):
    """The text, times and words of every segment, whoever wrote them."""
    if isinstance(document, list):
        document = {"segments": document}
    if "transcription" in document:
        for piece in document["transcription"]:
            times = piece.get("offsets", {})
            start, end = times.get("from"), times.get("to")
            yield (piece["text"], start if start is None else start / 1000,
                   end if end is None else end / 1000, words_of_tokens(piece.get("tokens", [])))
    elif "segments" in document:
        for piece in document["segments"]:
            yield (piece["text"], piece.get("start"), piece.get("end"),
                   words_of_pieces(piece.get("words") or []))
    else:
        yield document["text"], None, None, []


def transcript(document, language):
    words, segments = [], []
    for text, start, end, own in segments_of(document):
        # Without words of their own, segments give theirs without times.
        own = own or [{"text": part} for part in text.split()]
        if not own:
            continue
        segment = {"text": text.strip(), "startTime": start, "endTime": end, "wordCount": len(own)}
        segments.append({name: value for name, value in segment.items() if value is not None})
        words += own
    spoken = None
    if isinstance(document, dict):
        spoken = document.get("language") or document.get("result", {}).get("language")
    return {
        "text": " ".join(segment["text"] for segment in segments), "words": words, "isFinal": True,
        "language": spoken or language, "segments": segments}


def recognise(hello):
    settings = hello["parameters"]
    output = os.path.join(hello["temporary"], "recognised")
    places = {"input": hello["inputs"]["sound"], "output": output,
              "model": settings["model"] or "", "language": settings["language"]}
    try:
        command = shlex.split(settings["command"])
    except ValueError as error:
        fail("the command cannot be read", str(error), "close every quotation mark")
    for name, value in places.items():
        command = [part.replace("{" + name + "}", value) for part in command]
    if not command:
        fail("there is no command", advice='command: "whisper-cli -m {model} -ojf -of {output} {input}"')
    try:
        result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    except OSError as error:
        fail(f"{command[0][:100]} cannot be started", error.strerror,
             "install it, and see that it is on PATH", "environment")
    if result.returncode != 0:
        # Its own words are on standard error, which Spool shows.
        raise SystemExit(f"{command[0][:100]} ended with exit code {result.returncode}")
    written = [path for path in (output, output + ".json") if os.path.isfile(path)]
    return open(written[0], "rb").read() if written else result.stdout


def main():
    hello = json.loads(sys.stdin.readline())
    say("ready", protocol=1)
    text = recognise(hello)
    try:
        # whisper.cpp cuts letters of several bytes in two where a token ends.
        document = json.loads(text.decode("utf-8", "replace"))
        result = transcript(document, hello["parameters"]["language"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        fail("what the recogniser wrote is no JSON of Whisper", f"{type(error).__name__}: {error}",
             "let it write JSON to {output}, or to standard output")
    if not result["words"]:
        say("log", level="warning", message="the recogniser has heard no words")
    with open(hello["outputs"]["transcript"], "w", encoding="utf-8") as file:
        json.dump(result, file, ensure_ascii=False, indent=1)
    say("measurement", value={"words": len(result["words"]), "segments": len(result["segments"])})
    say("done")


main()
