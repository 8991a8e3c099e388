#!/bin/sh
# Speaks streamproof's process protocol in shell, with curl and jq: a program to begin with. It asks for a Chat stream and puts
# the text, the finish reason and the counts together; it knows nothing of tool calls.
while IFS= read -r line; do
  case $(printf '%s' "$line" | jq -r .op) in
    describe)
      printf '%s\n' '{"name": "shell", "version": "1", "language": "sh", "dialects": ["openai-chat"]}'
      ;;
    run)
      id=$(printf '%s' "$line" | jq -r .id)
      url=$(printf '%s' "$line" | jq -r .base_url)/v1/chat/completions
      wait=$(printf '%s' "$line" | jq -r .timeout_s)
      body=$(mktemp)
      if printf '%s' "$line" | jq -c '.request + {stream: true}' |
        curl --silent --show-error --fail --no-buffer --max-time "$wait" -H 'content-type: application/json' -d @- "$url" \
          >"$body" 2>"$body.error" && grep -q '^data: \[DONE\]' "$body"; then
        sed -n 's/^data: //p' "$body" | grep -v '^\[DONE\]' | jq -s -c --arg id "$id" '
          (map(.error // empty) | first) as $failed
          | [.[] | .choices[0]? // empty] as $choices
          | (map(.usage // empty) | last) as $usage
          | if $failed then {id: $id, error: {type: "api", message: ($failed.message // "failed")}}
            else {id: $id, error: null, response: {
              text: ([$choices[].delta.content // ""] | add),
              finish_reason: ([$choices[].finish_reason // empty] | last),
              usage: (if $usage then {input_tokens: $usage.prompt_tokens, output_tokens: $usage.completion_tokens} else null end)}}
            end'
      else
        jq -n -c --arg id "$id" --rawfile said "$body.error" '{id: $id, error: {type: "curl", message: ("no whole answer: " + $said)}}'
      fi
      rm -f "$body" "$body.error"
      ;;
    stop)
      exit 0
      ;;
  esac
done
