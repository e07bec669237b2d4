"""An agent that speaks the Agent Client Protocol, and asks for more than it is given."""

import json
import sys

sys.path.insert(0, sys.argv[1])
from standin import critique_of  # the folder of showcause's own stand-in

MODE = sys.argv[2]


def say(**told):
    print(json.dumps({"jsonrpc": "2.0", **told}), flush=True)


def hear():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def update(**told):
    say(method="session/update", params={"sessionId": "s-1", "update": told})


asked = hear()
assert asked["method"] == "initialize"
assert asked["params"]["clientCapabilities"]["terminal"] is False
if MODE == "auth":
    say(id=asked["id"], error={"code": -32000, "message": "Authentication required"})
    hear()
say(id=asked["id"], result={"protocolVersion": 1})
asked = hear()
assert asked["params"]["mcpServers"] == []
say(id=asked["id"], result={"sessionId": "s-1"})
asked = hear()
text = asked["params"]["prompt"][0]["text"]
update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": "Let me look. "})
update(sessionUpdate="tool_call", toolCallId="t-1", title="write file", status="pending")
options = [{"optionId": "yes", "kind": "allow_once"}, {"optionId": "no", "kind": "reject_once"}]
say(
    id=70, method="session/request_permission", params={"toolCall": {"toolCallId": "t-1"}, "options": options}
)
assert hear()["result"]["outcome"] == {"outcome": "selected", "optionId": "no"}
update(sessionUpdate="tool_call_update", toolCallId="t-1", status="failed")
say(id=71, method="fs/read_text_file", params={"path": "/etc/passwd"})
assert hear()["error"]["code"] == -32601
answer = json.dumps(critique_of(text))
if MODE == "silent":
    sys.exit(0)
for at in range(0, len(answer), 20):
    update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": answer[at : at + 20]})
if MODE != "gone":
    say(id=asked["id"], result={"stopReason": MODE if MODE in ("max_tokens", "refusal") else "end_turn"})
    assert sys.stdin.readline() == ""
sys.exit(3 if MODE == "status" else 0)
