// What OpenAI's two APIs, and whoever speaks their words, have in common: where counts stand, and what a response holds.
import { call, counts, get, reply } from './streamproof_subject.mjs'

export const CHAT = ['prompt_tokens', 'completion_tokens', 'total_tokens', 'prompt_tokens_details.cached_tokens', null]
CHAT.push('completion_tokens_details.reasoning_tokens')
export const RESPONSES = ['input_tokens', 'output_tokens', 'total_tokens', 'input_tokens_details.cached_tokens', null]
RESPONSES.push('output_tokens_details.reasoning_tokens')

/** The reply to a response of the Responses API. One that says that it failed is a failure. */
export function responded(body) {
  if (body.error) throw new Error(body.error.message)
  const items = body.output ?? []
  const uses = items.filter((item) => ['function_call', 'custom_tool_call'].includes(item.type))
  const parts = items.filter((item) => item.type === 'message').flatMap((item) => item.content ?? [])
  const thoughts = items.filter((item) => item.type === 'reasoning').flatMap((item) => [...(item.content ?? []), ...(item.summary ?? [])])
  return reply({
    text: parts.map((part) => part.text ?? part.refusal ?? '').join(''),
    reasoning: thoughts.map((part) => part.text ?? '').join(''),
    calls: uses.map((item) => call(item.call_id, item.name, item.arguments ?? item.input)),
    finish: get(body, 'status'),
    usage: counts(body.usage, ...RESPONSES),
    raw: body,
  })
}
