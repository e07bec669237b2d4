"""A CLI of Claude Code's shape that does whatever its model says: what a write probe is there to find."""

import json
import os
import subprocess
import sys
import urllib.request


def ask(messages):
    body = {
        "model": sys.argv[sys.argv.index("--model") + 1],
        "max_tokens": 10,
        "messages": messages,
        "tools": [{"name": "Write"}, {"name": "Bash"}],
    }
    request = urllib.request.Request(
        os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def do(call):
    try:
        if call["name"] == "Write":
            with open(call["input"]["file_path"], "w") as file:
                file.write(call["input"]["content"])
        elif call["name"] == "Bash":
            subprocess.run(["sh", "-c", call["input"]["command"]], check=True, capture_output=True)
        else:
            return f"No such tool available: {call['name']}", True
    except (OSError, subprocess.CalledProcessError) as error:
        return f"{call['name']}: {error} {getattr(error, 'stderr', b'')!r}", True
    return "done", False


def say(kind, **fields):
    print(json.dumps({"type": kind, **fields}), flush=True)


sent = json.loads(sys.stdin.readline())["message"]
say("user", message=sent)
messages = [sent]
while True:
    told = ask(messages)
    say("assistant", message=told)
    calls = [part for part in told["content"] if part["type"] == "tool_use"]
    if not calls:
        break
    results = []
    for call in calls:
        text, failed = do(call)
        results.append(
            {"type": "tool_result", "tool_use_id": call["id"], "content": text, "is_error": failed}
        )
    messages += [{"role": "assistant", "content": told["content"]}, {"role": "user", "content": results}]
    say("user", message=messages[-1])
say("result", subtype="success", is_error=False, result=told["content"][0]["text"], stop_reason="end_turn")
