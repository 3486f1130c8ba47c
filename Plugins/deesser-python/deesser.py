import array, json, math, sys
def say(data=b"", **message):
    sys.stdout.buffer.write(json.dumps(message | {"bytes": len(data)}).encode() + b"\n" + data)
    sys.stdout.flush()
hello = json.loads(sys.stdin.buffer.readline()); say(type="ready", protocol=1, snapshots=True)
p, form = hello["parameters"], hello["format"]
low, top = 1 - math.exp(-2 * math.pi * p["frequency"] / form["rate"]), 10 ** (p["threshold"] / 20)
fall = math.exp(-1000 / (form["rate"] * p["release"])); state = [0.0] * (2 * form["channels"])
for line in sys.stdin.buffer:
    message = json.loads(line); data = sys.stdin.buffer.read(message.get("bytes", 0))
    if message["type"] == "sound":
        for n, x in enumerate(samples := array.array("f", data)):
            c = 2 * (n % form["channels"]); state[c] += low * (x - state[c]); high = x - state[c]
            state[c + 1] = level = max(abs(high), state[c + 1] * fall)
            if level > top: samples[n] = state[c] + high * top / level
        say(samples.tobytes(), type="sound", frames=message["frames"])
    elif message["type"] == "snapshot": say(json.dumps(state).encode(), type="snapshot")
    elif message["type"] == "restore": state = json.loads(data); say(type="restored")
    elif message["type"] == "end": say(type="done")
