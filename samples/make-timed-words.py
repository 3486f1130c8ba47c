#!/usr/bin/env python3
"""Makes timed-words.flac and timed-words.json: synthetic speech whose word times are known.

libespeak-ng says when each word begins; a little noise stands for a room. The same version of the
library gives the same words. Needs libespeak-ng and sox.
"""
import ctypes, json, os, random, subprocess, tempfile

SENTENCES = [
    ("en-us+m3", 150, "Please call me back on Monday morning, because the meeting with the client "
     "was moved to the other building."),
    ("en-gb+f2", 165, "She had waited by the old harbour wall until the last boat came home, and "
     "nobody asked her what she was looking for."),
    ("en-us+m7", 140, "Bring two litres of milk, a loaf of bread and some apples if the market is open."),
]
RATE = 16_000
PAUSE = 0.6  # seconds before, between and after the sentences
NOISE = 12  # standard deviation, of 32768: 69 dB below full scale

# The library's names: AUDIO_OUTPUT_SYNCHRONOUS, espeakRATE, POS_CHARACTER, espeakCHARS_UTF8,
# espeakEVENT_LIST_TERMINATED, espeakEVENT_WORD.
SYNCHRONOUS, SPEED, BY_CHARACTER, UTF8, END, WORD = 2, 1, 1, 1, 0, 1


class Event(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int), ("unique_identifier", ctypes.c_uint),
        ("text_position", ctypes.c_int), ("length", ctypes.c_int), ("audio_position", ctypes.c_int), ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p), ("id", ctypes.c_char * 8),
    ]


CALLBACK = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(Event))


def speak(library, rate, voice, speed, text):
    """The samples of a text, and each written word with the second at which it begins."""
    samples, starts = [], {}

    def take(sound, count, events):
        if sound and count > 0:
            samples.extend(sound[:count])
        index = 0
        while events[index].type != END:
            event = events[index]
            if event.type == WORD and event.length > 0:
                starts.setdefault(event.text_position - 1, event.audio_position / 1000)
            index += 1
        return 0

    callback = CALLBACK(take)
    library.espeak_SetSynthCallback(callback)
    library.espeak_SetVoiceByName(voice.encode())
    library.espeak_SetParameter(SPEED, speed, 0)
    data = text.encode() + b"\0"
    library.espeak_Synth(data, ctypes.c_size_t(len(data)), 0, BY_CHARACTER, 0, UTF8, None, None)
    words, place = [], 0
    for word in text.split():
        place = text.index(word, place)
        # Words that the library says together have one event: the second one has no time.
        words.append({"text": word, "start": starts.get(place)})
        place += len(word)
    return samples, words


def main():
    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    library = ctypes.CDLL("libespeak-ng.so.1")
    rate = library.espeak_Initialize(SYNCHRONOUS, 0, None, 0)
    noise = random.Random(1)
    pause = [0] * int(PAUSE * rate)
    sound, words = list(pause), []
    for voice, speed, text in SENTENCES:
        samples, spoken = speak(library, rate, voice, speed, text)
        begin = len(sound) / rate
        for word in spoken:
            start = None if word["start"] is None else round(begin + word["start"], 3)
            words.append({"text": word["text"], "start": start})
        sound += samples + pause
    noisy = [max(-32768, min(32767, round(value / 2 + noise.gauss(0, NOISE)))) for value in sound]
    with tempfile.NamedTemporaryFile(suffix=".raw") as raw:
        raw.write((ctypes.c_short * len(noisy))(*noisy))
        raw.flush()
        subprocess.run(
            ["sox", "-D", "-t", "raw", "-r", str(rate), "-c", "1", "-e", "signed", "-b", "16",
             raw.name, "-C", "8", "timed-words.flac", "rate", "-v", str(RATE)], check=True)
    with open("timed-words.json", "w", encoding="utf-8") as file:
        file.write("{\"words\": [\n  ")
        file.write(",\n  ".join(json.dumps(word) for word in words))
        file.write("\n]}\n")


main()
