"""What a transcript says in short, by rules that anyone can read."""
import collections, json, re, shlex, subprocess, sys

# What a sentence must say to be a task, a decision, or urgent.
RULES = {
    "actions": [
        r"need(?:s)? to", r"have to", r"has to", r"must", r"please", r"remember to", r"don't forget",
        r"make sure", r"follow up", r"call (?:me|him|her|them) back", r"can you", r"could you",
        r"i(?:'ll| will)", r"we(?:'ll| will)", r"to[- ]do", r"action item", r"send (?:me|him|her|them|us)"],
    "decisions": [
        r"(?:we|i|they) (?:have )?decided", r"decided to", r"(?:we|they) (?:have )?agreed",
        r"let's go with", r"(?:we|i) (?:will|'ll) go with", r"(?:is|was|has been) approved",
        r"the decision is", r"it(?:'s| is) settled", r"was moved to", r"(?:is|was) cancell?ed"],
    "urgent": [
        r"urgent(?:ly)?", r"asap", r"as soon as possible", r"immediately", r"right away", r"emergency",
        r"critical", r"deadline", r"at once", r"by (?:tonight|today|tomorrow)", r"overdue"],
}
COMMON = set("""a about after all also am an and any are as at be because been before but by can could did do
does for from get go had has have he her here him his how i if in into is it its just know like me more my no
not now of on one or our out over really said say see she so some that the their them then there they thing
this those to too up us very was we well were what when which who will with would yes you your""".split())


def say(kind, **members):
    print(json.dumps(members | {"type": kind}), flush=True)


def sentences_of(text, words):
    """Sentences with the time at which each begins, where that is known."""
    sentences, place = [], 0
    for paragraph in re.split(r"\n\s*\n", text):
        for sentence in re.split(r"(?<=[.!?…])[\"”’)]*\s+", " ".join(paragraph.split())):
            if sentence:
                start = words[place].get("startTime") if place < len(words) else None
                sentences.append({"text": sentence, "startTime": start})
                place += len(sentence.split())
    return sentences


def read(path):
    text = open(path, encoding="utf-8-sig").read()
    if not text.lstrip().startswith(("{", "[")):
        # Subtitles: numbers, times and the head are no words.
        kept = [line for line in text.splitlines()
                if "-->" not in line and not line.strip().isdigit() and line.strip() != "WEBVTT"]
        return "\n".join(kept), []
    document = json.loads(text)
    if isinstance(document, list):
        document = {"segments": document}
    pieces = document.get("segments") or document.get("transcription") or []
    whole = document.get("text") or "\n\n".join(piece.get("text", "").strip() for piece in pieces)
    return whole, document.get("words") or []


def content(sentence):
    return [word for word in re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)?", sentence.lower())
            if word not in COMMON]


def gist(sentences, count):
    """The sentences whose words are said most, in their order."""
    times = collections.Counter(word for s in sentences for word in content(s["text"]))
    def weight(sentence):
        words = content(sentence["text"])
        return sum(times[word] for word in set(words)) / (len(words) + 5) if words else 0
    best = sorted(range(len(sentences)), key=lambda n: (-weight(sentences[n]), n))[:count]
    return [sentences[n] for n in sorted(best)]


def found(sentences, phrases):
    rule = re.compile(r"(?<!\w)(?:" + "|".join(phrases) + r")(?!\w)", re.IGNORECASE)
    return [s | {"phrase": match[0]} for s in sentences if (match := rule.search(s["text"]))]


def fail(message, reason=None, advice=None, cause="input"):
    say("error", message=message, reason=reason, advice=advice, cause=cause)
    sys.exit(1)


def asked(command, text):
    try:
        parts = shlex.split(command)
    except ValueError as error:
        fail("the command cannot be read", str(error), "close every quotation mark")
    if not parts:
        fail("there is no command", advice="name a program that reads the text, or leave command out")
    try:
        result = subprocess.run(parts, input=text.encode(), stdout=subprocess.PIPE)
    except OSError as error:
        fail(f"{parts[0][:100]} cannot be started", error.strerror,
             "install it, and see that it is on PATH", "environment")
    if result.returncode != 0:
        # Its own words are on standard error, which Spool shows.
        raise SystemExit(f"{parts[0][:100]} ended with exit code {result.returncode}")
    return result.stdout.decode("utf-8", "replace").strip()


def clock(seconds):
    return "" if seconds is None else f" ({int(seconds) // 60}:{int(seconds) % 60:02d})"


def page(report):
    parts = ["# Summary", "", report["summary"] or "Nothing was said.", ""]
    for name, title in [("actions", "To do"), ("decisions", "Decided"), ("urgent", "Urgent")]:
        if report[name]:
            parts += [f"## {title}", ""]
            parts += [f"- {item['text']}{clock(item['startTime'])}" for item in report[name]] + [""]
    return "\n".join(parts)


def main():
    hello = json.loads(sys.stdin.readline())
    say("ready", protocol=1)
    settings = hello["parameters"]
    text, words = read(hello["inputs"]["transcript"])
    text = text.replace("’", "'")
    sentences = sentences_of(text, words)
    if settings["command"]:
        summary, origin = asked(settings["command"], text), "command"
    else:
        summary = " ".join(s["text"] for s in gist(sentences, settings["sentences"]))
        origin = "rules"
    report = {"summary": summary, "origin": origin}
    report |= {name: found(sentences, phrases) for name, phrases in RULES.items()}
    with open(hello["outputs"]["summary"], "w", encoding="utf-8") as file:
        json.dump(report, file, ensure_ascii=False, indent=2)
        file.write("\n")
    with open(hello["outputs"]["page"], "w", encoding="utf-8") as file:
        file.write(page(report))
    say("measurement", value={name: len(report[name]) for name in RULES})
    say("done")


main()
