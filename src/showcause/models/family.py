"""Which provider's family a model belongs to, by its id.

Labels of the user's own choosing say nothing about independence, so they are not looked at. An id that
names two families (a distillation of one into the other's weights) is neither's: `unknown`. Ids are
self-declared: a server may call its model what it likes.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

__all__ = ["PROVIDER_HOSTS", "UNKNOWN_FAMILY", "family_of"]

UNKNOWN_FAMILY = "unknown"

# One word of a model id (split at everything but letters and digits) -> family.
_WORDS = (
    ("openai", r"openai|gpt|gpt\d\w?|chatgpt|o[1-9]|codex|davinci|babbage"),
    ("anthropic", r"anthropic|claude|opus|sonnet|haiku"),
    ("google", r"google|gemini|gemma\d?\w?|codegemma|palm\d?|medgemma"),
    ("meta", r"meta|llama\d?|codellama"),
    ("alibaba", r"qwen\d?|codeqwen|qwq|qvq|tongyi|alibaba"),
    ("deepseek", r"deepseek"),
    ("mistral", r"mistral|mistralai|mixtral|codestral|devstral|magistral|ministral|pixtral"),
    ("moonshot", r"moonshot|moonshotai|kimi"),
    ("zhipu", r"glm\d?|chatglm\d?|codegeex\d?|zhipu|zai"),
    ("xai", r"xai|grok"),
    ("microsoft", r"phi|phi\d|wizardlm\d?|wizardcoder"),
    ("cohere", r"cohere|command|aya"),
    ("ibm", r"ibm|granite"),
    ("nvidia", r"nvidia|nemotron"),
    ("amazon", r"nova|titan"),
    ("minimax", r"minimax|abab\d?"),
    ("bytedance", r"doubao|bytedance"),
    ("bigcode", r"starcoder\d?|bigcode"),
    ("allenai", r"olmo\d?|tulu\d?|allenai"),
    ("ai21", r"ai21|jamba"),
    ("eleuther", r"eleutherai|pythia"),
    ("01ai", r"yi"),
    ("baidu", r"ernie"),
    ("tencent", r"hunyuan"),
)
_PATTERNS = tuple((family, re.compile(words)) for family, words in _WORDS)

# Hosts that serve only their own models.
PROVIDER_HOSTS = {
    "api.openai.com": "openai",
    "api.anthropic.com": "anthropic",
    "generativelanguage.googleapis.com": "google",
    "api.deepseek.com": "deepseek",
    "api.mistral.ai": "mistral",
    "codestral.mistral.ai": "mistral",
    "api.moonshot.ai": "moonshot",
    "api.moonshot.cn": "moonshot",
    "open.bigmodel.cn": "zhipu",
    "api.z.ai": "zhipu",
    "api.x.ai": "xai",
    "api.cohere.com": "cohere",
    "api.ai21.com": "ai21",
}
_NOT_OPENAI = re.compile(r"gpt[-_](neo|neox|j)\b", re.IGNORECASE)


def family_of(model_id: str, base_url: str = "") -> str:
    """The family of a model id, or `unknown`: no known name in it, or names of two families.

    A host that serves only its own models speaks where the id does not; where they disagree: `unknown`.
    """
    named = {"eleuther"} if _NOT_OPENAI.search(model_id) else _named(model_id)
    host = (urlsplit(base_url).hostname or "").lower() if base_url else ""
    if host in PROVIDER_HOSTS:
        named.add(PROVIDER_HOSTS[host])
    return named.pop() if len(named) == 1 else UNKNOWN_FAMILY


def _named(model_id: str) -> set[str]:
    words = re.findall(r"[a-z0-9]+", model_id.lower())
    return {family for family, pattern in _PATTERNS if any(pattern.fullmatch(word) for word in words)}
