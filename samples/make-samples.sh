#!/usr/bin/env bash
# Makes the sample recordings beside this script: synthetic speech in believable rooms, as a watch
# and an interviewer's recorder would deliver it. The same program versions give the same bytes.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "${BASH_SOURCE[0]}")"

missing=()
for program in espeak-ng sox ffmpeg ffprobe; do
  command -v "$program" > /dev/null || missing+=("$program")
done
if ((${#missing[@]})); then
  echo "make-samples.sh: missing: ${missing[*]}" >&2
  echo "On Debian: sudo apt-get install espeak-ng sox ffmpeg" >&2
  exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Repeatable noise, no dither between steps, no chatter. Everything in between is float.
sox() { command sox -R -D -V1 "$@"; }
ffmpeg() { command ffmpeg -nostdin -hide_banner -loglevel error -y "$@"; }
float=(-e floating-point -b 32)

# speak OUT RATE VOICE WORDS_PER_MINUTE PITCH GAIN_DB TEXT
# One sentence with its peak at -8 dBFS plus the gain, without silence at its ends.
speak() {
  espeak-ng -v "$3" -s "$4" -p "$5" -w "$work/said.wav" "$7"
  sox "$work/said.wav" "${float[@]}" "$work/trimmed.wav" \
    silence 1 0.01 0.1% reverse silence 1 0.01 0.1% reverse
  sox "$work/trimmed.wav" "${float[@]}" "$1" rate -v "$2" gain -n -8 gain "$6" fade 0.005 0 0.02
}

# pause OUT RATE SECONDS
pause() { sox -n -r "$2" -c 1 "${float[@]}" "$1" trim 0 "$3"; }

# click OUT RATE LENGTH AT_SECONDS...
# A finger on the case or a knock against the table: a few milliseconds of bright noise, each click
# a little weaker than the one before it.
click() {
  local out=$1 rate=$2 length=$3 parts=() index=0 at
  shift 3
  for at in "$@"; do
    index=$((index + 1))
    sox -n -r "$rate" -c 1 "${float[@]}" "$work/click$index.wav" \
      synth 0.004 whitenoise highpass 900 fade l 0.0002 0.004 0.0035 \
      gain -n $((-3 - 2 * index)) pad "$at"
    parts+=(-v 1 "$work/click$index.wav")
  done
  pause "$work/silence.wav" "$rate" "$length"
  sox -m -v 1 "$work/silence.wav" "${parts[@]}" "${float[@]}" "$out"
}

# level FILE: its RMS in dBFS
level() { command sox "$1" -n stats 2>&1 | awk '/^RMS lev dB/ { print $4 }'; }

# noise OUT RATE LENGTH COLOUR LOWPASS_HZ LEVEL_DBFS
# Room noise with the given RMS level; it breathes a little, as rooms do.
noise() {
  sox -n -r "$2" -c 1 "${float[@]}" "$work/raw.wav" \
    synth "$3" "$4" highpass 60 lowpass "$5" tremolo 0.15 25 gain -n -12
  sox "$work/raw.wav" "${float[@]}" "$1" \
    gain "$(awk -v want="$6" -v have="$(level "$work/raw.wav")" 'BEGIN { print want - have }')"
}

length_of() { command sox --i -D "$1"; }

# note NAME RATE BITRATE VOICE WORDS_PER_MINUTE PITCH COLOUR LOWPASS NOISE_DBFS UUID CREATED TITLE
#      WATCH_MODEL WATCH_OS CLICKS  -- then, from the array `lines`: "PAUSE_S|GAIN_DB|TEXT"
note() {
  local name=$1 rate=$2 bitrate=$3 voice=$4 speed=$5 pitch=$6 colour=$7 lowpass=$8 loudness=$9
  local id=${10} created=${11} title=${12} model=${13} system=${14} clicks=${15}
  local parts=() index=0 line gap gain text length milliseconds
  : > "$name.txt"
  for line in "${lines[@]}"; do
    IFS='|' read -r gap gain text <<< "$line"
    index=$((index + 1))
    pause "$work/pause$index.wav" "$rate" "$gap"
    speak "$work/line$index.wav" "$rate" "$voice" "$speed" "$pitch" "$gain" "$text"
    parts+=("$work/pause$index.wav" "$work/line$index.wav")
    echo "$text" >> "$name.txt"
  done
  pause "$work/tail.wav" "$rate" 1.1
  # What a small microphone in a room hears: no depth, and a little of the walls.
  sox "${parts[@]}" "$work/tail.wav" "${float[@]}" "$work/voice.wav" \
    highpass 110 reverb 18 60 12 0 6 -9 gain -1
  # A whole number of AAC frames: then what decoders give is as long as what the file says.
  length=$(awk -v s="$(command sox --i -s "$work/voice.wav")" -v r="$rate" \
    'BEGIN { printf "%.9f", int(s / 1024) * 1024 / r }')
  noise "$work/room.wav" "$rate" "$length" "$colour" "$lowpass" "$loudness"
  # shellcheck disable=SC2086 # the clicks' times are words
  click "$work/clicks.wav" "$rate" "$length" $clicks
  sox -m -v 1 "$work/voice.wav" -v 1 "$work/room.wav" -v 1 "$work/clicks.wav" \
    -b 16 "$work/note.wav" trim 0 "$length"
  ffmpeg -i "$work/note.wav" -map_metadata -1 -bitexact -threads 1 \
    -c:a aac -b:a "$bitrate" -movflags +faststart \
    -metadata title="$title" -metadata creation_time="$created" "$name.m4a"
  milliseconds=$(ffprobe -v error -select_streams a:0 -show_entries stream=duration -of csv=p=0 \
    "$name.m4a" | awk '{ printf "%d", $1 * 1000 + 0.5 }')
  cat > "$name.json" <<JSON
{
  "noteId": "$id",
  "createdAt": "$created",
  "durationMs": $milliseconds,
  "title": "$title",
  "watchModel": "$model",
  "watchOSVersion": "$system"
}
JSON
}

lines=(
  "0.8|0|Hi, it's me. Remind me to call the garage before nine tomorrow."
  "0.9|-11|The left rear tyre is losing air again, and the spare is in the shed."
  "1.0|6|Oh, and bring the blue folder! It has the invoice in it."
  "1.2|-1|Thirty two pounds, I think. That's all. Thanks."
)
note note-1 22050 32k en-gb-x-rp+f2 158 52 brownnoise 4000 -54 \
  7C1E4B0A-52D3-4E8F-9A16-3B0D2F6C8E41 2026-03-14T07:42:10Z "Call the garage" \
  Watch6,2 11.4 "0.35 7.1 18.6"

lines=(
  "0.6|0|An idea for the harbour walk. What if every bench told one short story, in the voice of somebody who used to sit there?"
  "1.0|-12|People could leave their own, and the oldest ones would slowly fade, the way the paint does."
  "0.9|5|Twelve benches, twelve minutes. That's a whole evening!"
  "1.3|-2|Ask Marta about the old recordings from the ferry."
)
note note-2 44100 128k en-us+m3 150 42 pinknoise 9000 -60 \
  E2A90D57-8F34-4C6B-B1D8-60F7A3C59E12 2026-03-17T18:05:33Z "Talking benches" \
  Watch7,3 11.4 "0.2 12.4 12.6"

# The take: an interview on a table, one voice left of the middle and one right of it. Each voice
# is heard in the other channel as well, later and weaker; the rooms' noise differs left and right.
rate=44100
turns=(
  "0.5|left|0|So, how long did you keep the lighthouse?"
  "0.5|right|0|Thirty one years. My father kept it before me, and I learned to read up there."
  "0.6|left|-2|And what do you miss the most?"
  "0.8|right|-9|The quiet after a storm. You could hear the lamp turning."
  "0.5|right|3|And nobody ever asked me for a password!"
)
left=() right=() index=0
: > take.txt
for turn in "${turns[@]}"; do
  IFS='|' read -r gap side gain text <<< "$turn"
  index=$((index + 1))
  voice=(en-gb+f3 160 58)
  [[ $side == right ]] && voice=(en-gb-scotland+m1 142 32)
  speak "$work/turn$index.wav" $rate "${voice[@]}" "$gain" "$text"
  pause "$work/gap$index.wav" $rate "$gap"
  pause "$work/quiet$index.wav" $rate "$(length_of "$work/turn$index.wav")"
  said="$work/turn$index.wav" quiet="$work/quiet$index.wav"
  if [[ $side == left ]]; then
    left+=("$work/gap$index.wav" "$said") right+=("$work/gap$index.wav" "$quiet")
  else
    left+=("$work/gap$index.wav" "$quiet") right+=("$work/gap$index.wav" "$said")
  fi
  echo "$text" >> take.txt
done
pause "$work/tail.wav" $rate 1.0
sox "${left[@]}" "$work/tail.wav" "${float[@]}" "$work/left.wav" highpass 80
sox "${right[@]}" "$work/tail.wav" "${float[@]}" "$work/right.wav" highpass 80
length=$(length_of "$work/left.wav")
# 0.4 ms is what sound needs from one side of a head to the other.
sox "$work/left.wav" "${float[@]}" "$work/left-far.wav" pad 0.0004 gain -8 lowpass 5000 trim 0 "$length"
sox "$work/right.wav" "${float[@]}" "$work/right-far.wav" pad 0.0004 gain -8 lowpass 5000 trim 0 "$length"
sox -m -v 1 "$work/left.wav" -v 1 "$work/right-far.wav" "${float[@]}" "$work/l.wav"
sox -m -v 1 "$work/right.wav" -v 1 "$work/left-far.wav" "${float[@]}" "$work/r.wav"
sox -M "$work/l.wav" "$work/r.wav" "${float[@]}" "$work/dry.wav"
sox "$work/dry.wav" "${float[@]}" "$work/wet.wav" reverb 22 55 30 100 8 -10 gain -2 trim 0 "$length"
noise "$work/room-l.wav" $rate "$length" pinknoise 6000 -64
# The same seed would give the same noise: the right channel takes a later piece of it.
noise "$work/longer.wav" $rate "$(awk -v l="$length" 'BEGIN { print l + 2 }')" pinknoise 6000 -64
sox "$work/longer.wav" "${float[@]}" "$work/room-r.wav" trim 2 "$length"
sox -M "$work/room-l.wav" "$work/room-r.wav" "${float[@]}" "$work/room.wav"
sox -m -v 1 "$work/wet.wav" -v 1 "$work/room.wav" -b 16 "$work/take.wav" trim 0 "$length"
# A cover: a beam of light over a dark sea.
ffmpeg -f lavfi -i "color=c=0x10243c:s=480x480:d=1:r=1" -frames:v 1 -bitexact -vf \
  "geq=r='16+210*exp(-pow((Y-150-(X-90)*0.22)/(10+X*0.1),2))*exp(-X/420)*gt(X,111)':g='36+180*exp(-pow((Y-150-(X-90)*0.22)/(10+X*0.1),2))*exp(-X/420)*gt(X,111)':b='60+70*gt(Y,360)*(0.4+0.2*sin(Y/5+X/37))+90*exp(-pow((Y-150-(X-90)*0.22)/(10+X*0.1),2))*exp(-X/420)*gt(X,111)',drawbox=x=70:y=150:w=34:h=215:color=0xe8e2d4:t=fill,drawbox=x=62:y=132:w=50:h=20:color=0xb33a2e:t=fill" \
  -q:v 4 -update 1 "$work/cover.jpg"
ffmpeg -i "$work/take.wav" -i "$work/cover.jpg" -map 0:a -map 1:v -map_metadata -1 -bitexact \
  -c:a flac -compression_level 8 -c:v copy -disposition:v attached_pic \
  -metadata title="The lighthouse keeper" -metadata artist="Spool" -metadata album="Samples" \
  -metadata date=2026-03-20 -metadata:s:v title="Cover" -metadata:s:v comment="Cover (front)" \
  take.flac

# The session: a base of plucked chords, three layers over it and a metronome, 100 beats a minute in
# four, as somebody would record them one after the other: each track with its own rate, channels,
# format and length. Bars last 2.4 s; C, A minor, F, G, and C again.
mkdir -p session
beat=0.6

# pluck OUT RATE LENGTH FREQUENCY: one string
pluck() { sox -n -r "$2" -c 1 "${float[@]}" "$1" synth "$3" pluck "$4" fade h 0.002 "$3" 0.3; }

# after OUT RATE SECONDS IN...: the pieces one upon the other, each so much later than the one before
after() {
  local out=$1 rate=$2 step=$3 parts=() index=0 piece
  shift 3
  for piece in "$@"; do
    sox "$piece" "${float[@]}" "$work/placed$index.wav" \
      pad "$(awk -v n="$index" -v s="$step" 'BEGIN { print n * s }')"
    parts+=(-v 1 "$work/placed$index.wav")
    index=$((index + 1))
  done
  sox -m "${parts[@]}" "${float[@]}" "$out"
}

bars=("C3 E3 G3 C4" "A2 E3 A3 C4" "F2 C3 F3 A3" "G2 D3 G3 B3" "C3 E3 G3 C4")
pieces=() deep=() wide=()
for bar in "${!bars[@]}"; do
  read -r -a notes <<< "${bars[$bar]}"
  strings=()
  for note in "${notes[@]}" "${notes[2]}" "${notes[1]}" "${notes[2]}" "${notes[3]}"; do
    strings+=("$work/string${#strings[@]}.wav")
    pluck "${strings[-1]}" 44100 1.2 "$note"
  done
  after "$work/bar$bar.wav" 44100 0.3 "${strings[@]}"
  pieces+=("$work/bar$bar.wav")
  # The bass: the chord's lowest note, an octave down, on the first and the third beat.
  root=${notes[0]%[0-9]}$((${notes[0]: -1} - 1))
  pluck "$work/low.wav" 22050 1.15 "$root"
  after "$work/deep$bar.wav" 22050 1.2 "$work/low.wav" "$work/low.wav"
  deep+=("$work/deep$bar.wav")
  # The pad: the chord held, a little out of tune between left and right.
  sox -n -r 48000 -c 2 "${float[@]}" "$work/wide$bar.wav" synth 2.8 \
    sine "${notes[1]}" sine "${notes[2]}" synth 2.8 sine amod 0.8 0 tremolo 3 20 fade t 0.5 2.8 0.5
  wide+=("$work/wide$bar.wav")
done
after "$work/base.wav" 44100 2.4 "${pieces[@]}"
sox "$work/base.wav" -b 16 session/base.flac lowpass 5000 gain -n -6 trim 0 12
after "$work/bass.wav" 22050 2.4 "${deep[@]}"
sox "$work/bass.wav" -b 16 session/bass.flac lowpass 900 gain -n -6 trim 0 12
after "$work/pad.wav" 48000 2.4 "${wide[@]}"
sox "$work/pad.wav" -b 16 "$work/pad16.wav" gain -n -9 trim 0 11
ffmpeg -i "$work/pad16.wav" -map_metadata -1 -bitexact -threads 1 -c:a aac -b:a 64k session/pad.m4a
# The voice begins with the second bar; its file begins with itself.
speak "$work/sung1.wav" 44100 en-gb+f3 118 60 0 "Layer on layer, we build it up slowly."
speak "$work/sung2.wav" 44100 en-gb+f3 118 66 -3 "One take at a time."
after "$work/voice.wav" 44100 4.8 "$work/sung1.wav" "$work/sung2.wav"
sox "$work/voice.wav" -b 16 "$work/voice16.wav" highpass 100 gain -n -8
ffmpeg -i "$work/voice16.wav" -map_metadata -1 -bitexact -threads 1 -c:a aac -b:a 48k \
  session/voice.m4a
# The metronome: sines that die away, a higher one for the first beat of a bar.
clicks=()
for index in {0..19}; do
  frequency=800
  ((index % 4)) || frequency=1000
  sox -n -r 16000 -c 1 "${float[@]}" "$work/tick$index.wav" \
    synth 0.015 sine "$frequency" fade l 0 0.015 0.014 gain -6
  clicks+=("$work/tick$index.wav")
done
after "$work/click.wav" 16000 "$beat" "${clicks[@]}"
sox "$work/click.wav" -b 16 session/click.flac

wc -c note-1.* note-2.* take.* session/*
