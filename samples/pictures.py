#!/usr/bin/env python3
"""Draws the pictures of the documentation.

    python3 samples/pictures.py [PROGRAM]

terminal.svg shows a real run of PROGRAM (.build/release/spool) on a sample, in a terminal of its
own. modules.svg shows the layers that the dependency rule in README.md names. Both follow the
reader's light or dark appearance. Needs Python's standard library only.
"""

import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESOURCES = ROOT / "Sources/spool/Spool.docc/Resources"
PIPELINE, SAMPLE = "voice-note.yaml", "note-1.m4a"

# What is typed; the first word is replaced by the program's path.
COMMANDS = [
    ["spool", "run", PIPELINE, SAMPLE],
    ["spool", "run", PIPELINE, SAMPLE, "--set", "loudness=-18 LUFS", "--quiet"],
    ["spool", "why", "last"],
]

STYLE = """
  text { font: 13px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; fill: #24292f; }
  .panel { fill: #fbfbfa; stroke: #d5d8dc; }
  .strong { font-weight: 600; }
  .faint { fill: #6b737c; }
  .prompt { fill: #0a6b5d; font-weight: 600; }
  .good { fill: #0a6b5d; }
  .kept { fill: #2f5fa8; }
  .changed { fill: #9a5b00; }
  .name { font-family: ui-sans-serif, 'DejaVu Sans', Helvetica, Arial, sans-serif;
          font-weight: 600; text-anchor: middle; }
  .role { font: 11px ui-sans-serif, 'DejaVu Sans', Helvetica, Arial, sans-serif;
          fill: #57606a; text-anchor: middle; }
  .legend { text-anchor: start; }
  .layer { fill: none; stroke: #d5d8dc; }
  .pipeline { fill: #e3edfb; stroke: #8fb1e0; }
  .sound { fill: #e1f3ec; stroke: #83c3ab; }
  .both { fill: #fbeeda; stroke: #dcb26c; }
  .neither { fill: #f1f2f4; stroke: #bfc4ca; }
  @media (prefers-color-scheme: dark) {
    text { fill: #d7dbe0; }
    .panel { fill: #1c1f24; stroke: #3a3f47; }
    .faint, .role { fill: #98a1ab; }
    .prompt, .good { fill: #6fcdb5; }
    .kept { fill: #8db8f5; }
    .changed { fill: #e3b261; }
    .layer { stroke: #3a3f47; }
    .pipeline { fill: #1f2d42; stroke: #4a6a99; }
    .sound { fill: #1b332b; stroke: #3f7c66; }
    .both { fill: #3a2e19; stroke: #8a6c35; }
    .neither { fill: #2a2e34; stroke: #565d66; }
  }
"""


def svg(width, height, label, body):
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-label="{escape(label)}">\n'
        f"<style>{STYLE}</style>\n" + "\n".join(body) + "\n</svg>\n"
    )


# The terminal


def output(arguments, folder):
    """What the command writes to a terminal of 100 columns."""
    parent, child = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "60"}
    process = subprocess.Popen(
        arguments, cwd=folder, env=environment, stdin=child, stdout=child, stderr=child
    )
    os.close(child)
    read = b""
    while True:
        try:
            part = os.read(parent, 65536)
        except OSError:  # Linux ends a terminal without writers with an error.
            break
        if not part:
            break
        read += part
    os.close(parent)
    if process.wait() != 0:
        sys.exit(f"{' '.join(arguments)}: exit code {process.returncode}\n{read.decode()}")
    return read.decode()


def screen(text):
    """The lines that stay on the screen, each a list of (character, is bold)."""
    lines, row, column, bold = [[]], 0, 0, False
    for token in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|.|\n|\r", text):
        if token == "\n":
            row += 1
            if row == len(lines):
                lines.append([])
        elif token == "\r":
            column = 0
        elif token.startswith("\x1b"):
            number, order = token[2:-1], token[-1]
            if order == "A":
                row -= int(number or 1)
            elif order == "K":
                lines[row] = []
            elif order == "m":
                bold = number in ("1", "01")
        else:
            line = lines[row]
            line.extend([(" ", False)] * (column + 1 - len(line)))
            line[column] = (token, bold)
            column += 1
    while lines and not lines[-1]:
        lines.pop()
    return lines


COLOURS = {"done": "good", "made": "changed", "reused": "kept"}


def pieces(line):
    """Splits a line where two spaces or the weight change: (column, text, class)."""
    text = "".join(character for character, _ in line)
    for found in re.finditer(r"\S+(?: \S+)*", text):
        kind = "strong" if line[found.start()][1] else ""
        words = found.group()
        if words.split()[0] in COLOURS and found.start() > 0:
            kind = COLOURS[words.split()[0]]
        elif re.match(r"(levels|files in)\b", words) and found.start() == 0:
            kind = "strong"
        elif re.match(r"(run \d|from run|compared with)", words) or words == "unchanged":
            kind = "faint"
        yield found.start(), words, kind


def typed(command):
    return " ".join(f'{w.split("=")[0]}="{w.split("=")[1]}"' if " " in w else w for w in command)


def draw_terminal(program):
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch).resolve()
        shutil.copy(ROOT / "Pipelines" / PIPELINE, folder)
        for sample in (ROOT / "samples").glob("note-1.*"):
            shutil.copy(sample, folder)
        os.environ["SPOOL_STORE"] = str(folder / "store")
        os.environ["SPOOL_KEYS"] = str(folder / "keys")
        lines = []
        for command in COMMANDS:
            lines.append([(0, "$", "prompt"), (2, typed(command), "strong")])
            text = output([program, *command[1:]], folder).replace(str(folder), "~")
            lines.extend(list(pieces(line)) for line in screen(text))
            lines.append([])
        lines.pop()

    advance, leading, left, top = 7.83, 18, 22, 30
    columns = max(column + len(text) for line in lines for column, text, _ in line)
    width = round(2 * left + columns * advance)
    height = 2 * top + (len(lines) - 1) * leading
    body = [f'<rect class="panel" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"/>']
    for number, line in enumerate(lines):
        for column, text, kind in line:
            x, y = left + column * advance, top + 4 + number * leading
            body.append(
                f'<text x="{x:.1f}" y="{y}" class="{kind}" '
                f'textLength="{len(text) * advance:.1f}">{escape(text)}</text>'
            )
    return svg(width, height, "spool run and spool why in a terminal", body)


# The modules

MODULES = {
    "Platform": ("neither", "files, threads, errors"),
    "PipelineModel": ("pipeline", "pipelines as values"),
    "Audio": ("sound", "buffers and DSP"),
    "Transcripts": ("neither", "timed text"),
    "Proof": ("neither", "signed statements"),
    "PipelineEngine": ("pipeline", "plans and runs"),
    "Store": ("pipeline", "durable results"),
    "Search": ("neither", "words to find"),
    "Media": ("sound", "files and codecs"),
    "Speech": ("sound", "words in sound"),
    "Plugins": ("neither", "your programs"),
    "SoundEngine": ("both", "streams sound through stages"),
    "Receipts": ("pipeline", "what a run signs"),
    "Intake": ("pipeline", "inbox, watch, batch"),
    "Delivery": ("pipeline", "second places"),
    "Stages": ("both", "one file per stage kind"),
    "spool": ("neither", "the command line"),
}

LEGEND = [
    ("pipeline", "knows pipelines"),
    ("sound", "knows sound"),
    ("both", "knows both"),
    ("neither", "knows neither, or only connects"),
]


def draw_modules():
    rule = re.search(r"`(Platform ← [^`]+)`", (ROOT / "README.md").read_text())
    if not rule:
        sys.exit("README.md has no line `Platform ← …`")
    layers = [re.findall(r"\w+", layer) for layer in rule.group(1).split("←")]
    named = [module for layer in layers for module in layer]
    if sorted(named) != sorted(MODULES):
        sys.exit(f"the rule in README.md names {named}, and this script {list(MODULES)}")

    box, height, gap, edge, step = 136, 48, 10, 16, 84
    widest = max(len(layer) for layer in layers)
    width = 2 * edge + widest * box + (widest - 1) * gap + 24
    total = 2 * edge + len(layers) * step + 12
    body = [f'<rect class="panel" x="0.5" y="0.5" width="{width - 1}" height="{total - 1}" rx="8"/>']
    for number, layer in enumerate(reversed(layers)):
        y = edge + number * step
        body.append(
            f'<rect class="layer" x="{edge}" y="{y}" width="{width - 2 * edge}" '
            f'height="{height + 20}" rx="6"/>'
        )
        if number > 0:
            body.append(
                f'<text class="role" x="{width / 2}" y="{y - 4}">↓ imports</text>'
            )
        span = (width - 2 * edge - 24 - (len(layer) - 1) * gap) / len(layer)
        span = min(span, 250)
        start = (width - len(layer) * span - (len(layer) - 1) * gap) / 2
        for place, module in enumerate(layer):
            side, role = MODULES[module]
            x = start + place * (span + gap)
            body += [
                f'<rect class="{side}" x="{x:.1f}" y="{y + 10}" width="{span:.1f}" '
                f'height="{height}" rx="5"/>',
                f'<text class="name" x="{x + span / 2:.1f}" y="{y + 31}">{module}</text>',
                f'<text class="role" x="{x + span / 2:.1f}" y="{y + 48}">{role}</text>',
            ]
    x = edge
    y = total - 22
    for side, meaning in LEGEND:
        body.append(f'<rect class="{side}" x="{x}" y="{y - 9}" width="12" height="12" rx="2"/>')
        body.append(f'<text class="role legend" x="{x + 18}" y="{y + 1}">{meaning}</text>')
        x += 36 + 7 * len(meaning)
    return svg(width, total, "The 17 modules of Spool in six layers", body)


def main():
    program = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else ROOT / ".build/release/spool")
    RESOURCES.mkdir(exist_ok=True)
    (RESOURCES / "modules.svg").write_text(draw_modules())
    (RESOURCES / "terminal.svg").write_text(draw_terminal(program))
    print(f"wrote modules.svg and terminal.svg in {RESOURCES.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
