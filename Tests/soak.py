#!/usr/bin/env python3
"""Works on one store with many processes at once: soak.py SPOOL MINUTES.

A watch takes in recordings, some with a text, some damaged, while batches, corrections of words, inbox commands,
searches, status and store gc run beside it. It fails if any of them says "database is locked", if the watch's memory or descriptors grow, or if a result differs
from that of an undisturbed run.
"""

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import wave
from pathlib import Path

PIPELINE = """pipeline: soak
inputs: { note: sound, words: transcript? }
stages:
  - decode
  - eq: { bands: [{ type: highpass, frequency: 80 Hz }] }
  - normalize: { peak: -3 dB }
  - export: [wav, flac]
  - transcript: { from: $words, formats: [srt] }
    when: $words
"""
# Exit codes that concurrent work may have: a command may meet a recording that another one forgot.
EXPECTED = {0, 1, 3}


def record(path, number):
    """A short recording, different for every number."""
    chance = random.Random(number)
    level = 4000 + chance.randrange(8000)
    with wave.open(str(path), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        frames = 8000 + 160 * (number % 50)
        period = 20 + number % 60
        samples = (int(level * ((i % period) / period - 0.5)) + chance.randrange(64) for i in range(frames))
        sound.writeframes(b"".join(s.to_bytes(2, "little", signed=True) for s in samples))


def digest(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


class Soak:
    def __init__(self, spool, minutes):
        self.spool = spool
        self.end = time.monotonic() + 60 * minutes
        self.seconds = 60 * minutes
        self.place = Path(tempfile.mkdtemp(prefix="spool-soak-"))
        self.problems = []
        self.counts = {}
        self.lock = threading.Lock()
        self.samples = []
        for name in ["inbox", "outbox", "out", "batch", "batch-out", "made"]:
            (self.place / name).mkdir()
        self.environment = {
            **os.environ,
            "SPOOL_STORE": str(self.place / "store"),
            "SPOOL_KEYS": str(self.place / "keys"),
        }

    def report(self, problem):
        with self.lock:
            if len(self.problems) < 50:
                self.problems.append(problem)

    def run(self, *words, name=None, environment=None, allowed=EXPECTED):
        """Runs a command, and looks at what it says."""
        done = subprocess.run(
            [self.spool, *words],
            cwd=self.place,
            env=environment or self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
        )
        with self.lock:
            key = name or words[0]
            self.counts[key] = self.counts.get(key, 0) + 1
        said = done.stdout + done.stderr
        if "locked" in said or "Fatal" in said:
            self.report(f"{' '.join(words)}: {said[-400:]}")
        if done.returncode not in allowed:
            self.report(f"{' '.join(words)} ended with {done.returncode}: {said[-400:]}")
        return done

    def until_end(self, pause, work):
        """Repeats some work on a thread of its own."""

        def loop():
            number = 0
            while time.monotonic() < self.end:
                number += 1
                try:
                    work(number)
                except Exception as error:  # A thread that ends quietly would test nothing.
                    self.report(f"{work.__name__}: {error!r}")
                    return
                time.sleep(pause)

        thread = threading.Thread(target=loop)
        thread.start()
        return thread

    # What works on the store.

    def arrive(self, number):
        made = self.place / "made" / f"{number}.wav"
        record(made, number)
        shutil.copy(made, self.place / f"x{number}.wav")
        if number % 3 == 0:
            cues = f"1\n00:00:00,000 --> 00:00:00,500\nword{number} quick brown fox\n"
            for folder in ["made", "inbox"]:
                (self.place / folder / f"{number}.srt").write_text(cues)
        os.rename(self.place / f"x{number}.wav", self.place / "inbox" / f"{number}.wav")
        if number % 10 == 0:
            (self.place / "inbox" / f"damaged{number}.wav").write_text(f"no sound {number}\n")

    def batch(self, number):
        for index in range(3):
            made = self.place / "batch" / f"b{number}-{index}.wav"
            record(made, 1_000_000 + 10 * number + index)
        self.run("batch", "pipeline.yaml", "batch", "--out", "batch-out", "--quiet", allowed={0})

    def runs(self):
        lines = self.run("runs").stdout.splitlines()
        return [line.split()[0] for line in lines if line[:2] == "20"]

    def edit(self, number):
        runs = self.runs()
        if not runs:
            return
        words = self.place / "words.txt"
        words.write_text(f"edited{number} quick brown fox\n")
        self.run("words", "edit", random.choice(runs), "--from", str(words), name="words edit")
        if number % 5 == 0:
            self.run("runs", "forget", "--failed", name="runs forget")

    def command(self, number):
        recordings = self.recordings()
        if recordings:
            self.run("inbox", "show", random.choice(recordings), name="inbox show")
            self.run("inbox", "retry", random.choice(recordings), name="inbox retry")
        # What is released is quarantined again, until it is forgotten; so is what is done, now and then.
        quarantined = self.recordings("quarantined")
        if quarantined:
            action = "forget" if number % 4 == 0 else "release"
            self.run("inbox", action, random.choice(quarantined), name=f"inbox {action}")
        uploaded = self.recordings("uploaded")
        if uploaded and number % 5 == 0:
            self.run("inbox", "forget", random.choice(uploaded), name="inbox forget")

    def recordings(self, state=None):
        """The keys of the recordings that changed last."""
        filter = ["--state", state] if state else []
        lines = self.run("inbox", "list", "--json", *filter, name="inbox list", allowed={0}).stdout.splitlines()
        return [json.loads(line)["key"] for line in lines]

    def search(self, number):
        self.run("search", "quick brown")

    def status(self, number):
        self.run("status", "--json", allowed={0})

    def collect(self, number):
        self.run("store", "gc", "--older-than", "1h", name="store gc", allowed={0})

    # The watch itself.

    def sample(self, number):
        folder = f"/proc/{self.watch.pid}"
        try:
            descriptors = len(os.listdir(folder + "/fd"))
            status = Path(folder + "/status").read_text()
        except OSError:
            return self.report("the watch has ended")
        memory = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("RssAnon"))
        self.samples.append((time.monotonic(), memory, descriptors))

    @staticmethod
    def middle(values):
        return sorted(values)[len(values) // 2]

    def look_for_growth(self):
        """Compares the second quarter, after the warm-up, with the last."""
        quarter = len(self.samples) // 4
        if quarter < 5:
            return self.report("too few samples of the watch")
        early, late = self.samples[quarter : 2 * quarter], self.samples[-quarter:]
        figures = []
        for index, what, least in [(1, "kB of memory", 16_000), (2, "descriptors", 8)]:
            before, after = (self.middle([row[index] for row in part]) for part in (early, late))
            figures.append(f"{before} → {after} {what}")
            if after > before * 1.25 and after - before > least:
                self.report(f"the watch grows: {before} → {after} {what}")
        print("  the watch:", ", ".join(figures))

    def compare(self):
        """Makes everything again in an undisturbed store, and compares the bytes."""
        reference = self.place / "reference"
        reference.mkdir()
        environment = {**self.environment, "SPOOL_STORE": str(self.place / "reference-store")}
        compared = 0
        for sources, exports in [("made", "out"), ("batch", "batch-out")]:
            out = reference / exports
            self.run(
                "batch", "pipeline.yaml", sources, "--out", str(out), "--quiet", environment=environment,
                name="reference", allowed={0})
            for path in sorted(out.iterdir()):
                if path.suffix not in {".wav", ".flac", ".srt"}:
                    continue
                made = self.place / exports / path.name
                compared += 1
                if not made.exists():
                    self.report(f"{exports}/{path.name} is missing")
                elif digest(made) != digest(path):
                    self.report(f"{exports}/{path.name} differs from an undisturbed run's")
        return compared

    def wait_for_store(self):
        patience = time.monotonic() + 60
        while self.run_quietly("status") != 0:
            if self.watch.poll() is not None or time.monotonic() > patience:
                raise SystemExit(f"the watch made no store: see {self.place / 'watch.log'}")
            time.sleep(0.1)

    def run_quietly(self, *arguments):
        return subprocess.run(
            [self.spool, *arguments], cwd=self.place, env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode

    def work(self):
        (self.place / "pipeline.yaml").write_text(PIPELINE)
        log = open(self.place / "watch.log", "w")
        self.watch = subprocess.Popen(
            [self.spool, "watch", "pipeline.yaml", "inbox", "--out", "out", "--outbox", "outbox", "--settle", "300ms"],
            cwd=self.place, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        # Commands that look at a store want one to be there.
        self.wait_for_store()
        # Long series have the same load, not more of it.
        pace = max(1.0, self.seconds / 600)
        threads = [
            self.until_end(pace, self.arrive), self.until_end(5 * pace, self.batch),
            self.until_end(2, self.edit), self.until_end(2, self.command), self.until_end(1.5, self.search),
            self.until_end(1, self.status), self.until_end(7, self.collect),
            self.until_end(max(0.5, self.seconds / 600), self.sample),
        ]
        for thread in threads:
            thread.join()
        made = {path.name for path in (self.place / "made").iterdir()}
        patience = time.monotonic() + 300
        while time.monotonic() < patience and not made <= set(os.listdir(self.place / "out")):
            time.sleep(0.5)
        self.watch.send_signal(signal.SIGTERM)
        if self.watch.wait(timeout=120) != 0:
            self.report(f"the watch ended with {self.watch.returncode}")
        said = (self.place / "watch.log").read_text(errors="replace")
        for line in said.splitlines():
            if "locked" in line or "trouble" in line or "Fatal" in line:
                self.report("watch: " + line)
        self.look_for_growth()
        self.run("store", "check", name="store check", allowed={0})
        compared = self.compare()
        arrived = sum(name.endswith(".wav") for name in made)
        print(f"  {arrived} recordings arrived, {compared} exports compared with an undisturbed run's")
        print("  commands:", ", ".join(f"{count} {name}" for name, count in sorted(self.counts.items())))


def main():
    soak = Soak(os.path.abspath(sys.argv[1]), float(sys.argv[2]))
    print(f"soak: {sys.argv[2]} minutes in {soak.place}", flush=True)
    soak.work()
    if soak.problems:
        print(f"FAILED: {len(soak.problems)} problems, all is kept in {soak.place}")
        for problem in soak.problems:
            print("  " + problem.strip().replace("\n", "\n    "))
        return 1
    shutil.rmtree(soak.place)
    print("passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
